"""Whole Rust programs: what the bundled grammar writes can be parsed.

`python tests/rust_programs.py` does the same for 1,000 programs, and for files of source code in a folder.
"""

from __future__ import annotations

from itertools import islice
from random import Random

import pytest
from grammar_oracles.sampler import Sampler, changes
from program_walks import by_models
from rust_programs import WALKS, compiler_error, has_compiler, parses

from automata import compile_grammar
from automata.pushdown import assembly
from constraints.grammars.bundled import WHOLE_LANGUAGES, bundled

ACCEPTED = [
    "",
    "// nothing\n/* at all */\n",
    "//! A crate.\n#![allow(dead_code)]\n\n/// A function.\npub fn f() {}\n",
    "use std::{self, collections::{HashMap as Map, *}, str};\npub(crate) mod a;\nextern crate x as y;\n",
    'const A: usize = 1 << 4;\nstatic mut B: &\'static [u8] = b"x\\x00";\n'
    "type C<T> = Result<T, Box<dyn Error + 'static>>;\n",
    "#[derive(Debug, Clone)]\npub struct A<'a, T: Copy = u8, const N: usize = 3> where T: B<C = D> + ?Sized {\n"
    "    /// A field.\n    pub(in a::b) x: &'a mut [T; N],\n}\nstruct B(pub u8, *const u8);\nstruct C;\n",
    "enum E { A = 1, B { x: u8 }, C(u8, u8), }\nunion U { a: u8, b: [u8; 1] }\n",
    "impl<T> !A for B<T> {}\nunsafe impl A<'_> for &[u8] {}\nimpl dyn A {}\n",
    "pub trait A<T>: B + for<'a> C<&'a T> {\n    type D: E;\n    const F: u8;\n"
    "    async fn f(&self, x: T) -> Self::D;\n    fn g(mut self: Box<Self>) where Self: Sized {}\n}\n",
    "impl A for B {\n    type D = u8;\n    pub const F: u8 = 1;\n"
    "    fn f(&'a mut self, (x, _): (u8, u8)) -> impl Iterator<Item = u8> + '_ { x }\n}\n",
    'pub const unsafe extern "C" fn f(x: fn(a: u8, *mut u8) -> u8, y: &dyn Fn(u8) -> u8) -> ! { loop {} }\n'
    'unsafe extern "C" {\n    fn g(x: u8);\n    static X: u8;\n}\n',
    "fn f() -> u8 {\n    let x: u8;\n    let Some(y) = z else { return 1 };\n"
    "    let A { a, b: ref mut c, .. } = d;\n    x += 1;\n    _ = y;\n    x\n}\n",
    "fn f() { if a < b && let Some(x) = c { 1 } else if d { 2 } else { 3 }; while let [x, .., y] = z {} }\n",
    "fn f() { 'a: for (i, x) in y.iter().enumerate() { continue 'a; } 'b: loop { break 'b 1; } for i in 0..n {} }\n",
    "fn f(x: u8) -> u8 { match x { 0 | 1 => 2, 2..=9 if x > 3 => { 4 } "
    "-1 => 5, n @ A::B(..) => n, _ => unreachable!() } }\n",
    "fn f() { let g = move |x: &u8, (y, z)| -> u8 { x + y }; g(1, (2, 3)); h(|| 1, |x| x.y); }\n",
    "fn f() { A { x, y: 1, ..Default::default() }.g::<Vec<_>>()?.await.0[1..][..=2]; <T as U>::V::new(); "
    "Vec::<u8>::new() }\n",
    "fn f() { -x as u8 as f64 * 1.5e-3 / !y & 0xff_u8 | z ^ 0b1 << 2 >> 3; a = b; c <<= 1; &mut *d; }\n",
    "fn f() { ('a', '\\'', '\\u{1F600}', b'x', \"\\\"\\\n  b\", r#\"\"c\"\"#, 1.0f32, 2., [0; "
    "3], [1, 2,], (1,), ()) }\n",
    'fn f() { println!("{x:?}", x = 1); let v = vec![1, 2]; m! { a => b, $c; #[d] } }\n',
    "fn f() { async { a } + 1; for j in i + 1..n.len() {} for k in 0..=9 {} if x < 1. {} 0.. }\n",
    "fn f() { let (a | b) = 1.; let y = x[1..] + 2.5f32.sqrt() + 1u8.pow(2) as f32 + t.0.1; }\n",
    "macro_rules! m {\n    ($x:expr, $($y:ident),* $(,)?) => { [$x, $($y),*] };\n    () => {};\n}\nm!();\nm! {}\n",
    "fn r#match<'a>(r#type: &'a str) -> &'a str { unsafe { async move { r#type }; } return; }\n",
]
REFUSED = [
    "fn",
    "fn f()",
    "fn f() {",
    "fn f() {}}",
    "fn f( {}",
    "fn 1() {}",
    "fnf() {}",
    "struct A { x u8 }",
    "struct A { x: u8; y: u8 }",
    "struct A(u8)",
    "enum A { B; C }",
    "const A = 1;",
    "use a::;",
    "use a b;",
    "impl A for {}",
    "mod a",
    "pub pub fn f() {}",
    "fn f() { let = 1; }",
    "fn f() { let x = ; }",
    "fn f() { x y }",
    "fn f() { f(a b) }",
    "fn f() { a +; }",
    "fn f() { a ? b : c; }",
    "fn f() { if { 1 } }",
    "fn f() { if x 1 }",
    "fn f() { match x { 1 -> 2 } }",
    "fn f() { match x { 1 => } }",
    "fn f() { for x y {} }",
    "fn f() { for in x {} }",
    "fn f() { while {} }",
    "fn f() { x.; }",
    "fn f() { |x }",
    "fn f() { 'ab' }",
    'fn f() { "a }',
    'fn f() { r#"a" }',
    "fn f() { /* a }",
    "fn f() { 1x }",
    "fn f() { a => b }",
    "fn f() { m!(] }",
    "fn f() { m!( }",
    "#[a fn f() {}",
    "fn f<T() {}",
    "fn f() -> {}",
    "fn f() { x as }",
    "macro_rules! m { a => b }",
]
# tree-sitter reads these, and the compiler does not.
REFUSED_BY_THE_COMPILER = [
    "fn match() {}",
    "fn f(x) {}",
    "let x = 1;",
    "fn f() { else {} }",
    "fn f() { '\\q' }",
    'fn f() { "\\q" }',
    "fn f() { async { a } b }",
    "fn f() { async move { a } { a } }",
    "fn f() { a..1..2 }",
    "fn f() { g(a..=1..2); }",
    "fn f() { for x in a..1..2 {} }",
    "fn f() { 0... }",
    "fn f() { match x { -1 => 6..., _ => 3 } }",
    "fn f() { match a + 1... {} }",
    "fn f() { 1..1.\n2 }",
    "fn f() { &{} [0]; a }",
    "fn f() { !match a {} (1) }",
    "fn f() { 1..= { a } + 1 }",
    "fn f() { let a|b = 1; }",
    "fn f() { let |x = 1; }",
    "fn f() { '_: loop {} }",
    "fn f() { 'static: loop {} }",
]
# What Rust reads, and the grammar leaves out, as its text says.
LEFT_OUT = [
    "fn é() {}",
    "fn f() {}\r\n",
    "/* a /* b */ c */",
    "fn f() {} // last",
    'const A: &str = r##"a"##;',
    'fn f() { c"\\u{1}" }',
    "fn f() { if(a) {} }",
    "type A = ::a::B;",
    "fn f() { ::a::b(); }",
    "fn f() { crate::m!(); }",
    "fn f(union: u8) {}",
    "trait A { type B = u8; }",
    'extern "C" { type A; }',
    'extern "C" { fn f(x: u8, ...); }',
    "fn f(#[a] #[b] x: u8) {}",
    "fn f() where {}",
    "impl<> A {}",
    "struct A where T: B;",
    "macro_rules! m [ () => {} ];",
    "type A = for<'a> fn(&'a u8);",
    "type A = dyn 'a + B;",
    "fn f() -> impl A + use<'a> {}",
    "fn f() { a as u8 <= b }",
    "fn f() { g(#[a] x); }",
    "fn f() { let A { #[a] b } = c; }",
    "fn f() { x = 'a: loop {}; }",
    "fn f() { const { 1 } }",
    "fn f() { async || 1 }",
    "fn f() { &raw const x; }",
    "fn f() { if a && { b } {} }",
    "fn f() { <A>::B {} }",
    "fn f() { ..&mut a }",
    "fn f() { break &mut a }",
    "type A = B<-1>;",
    "fn f() { 1? }",
    "fn f() { ..1 }",
    "fn f() { let [a..] = b; }",
    "fn f(self) {}",
    "fn f() { if 1..2 {} }",
    "fn f() { let x = 0..{ n } + 1; }",
    "fn f() { &m! {} [0]; }",
]


def test_it_is_bundled() -> None:
    assert "rust" in WHOLE_LANGUAGES
    assert bundled("rust").ambiguity == "error"


def test_no_state_needs_the_search_of_all_exits(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would take minutes: each state of the automaton has a simple reason to be coaccessible."""

    def refused(*_: object) -> None:
        raise AssertionError("some states are possibly dead")

    monkeypatch.setattr(assembly, "pruned", refused)
    assert compile_grammar(bundled("rust")).num_states > 5_000


@pytest.mark.parametrize("text", ACCEPTED)
def test_programs_that_are_accepted(text: str) -> None:
    assert parses(text.encode())
    assert WALKS.automaton.accepts(text.encode())


@pytest.mark.parametrize("text", REFUSED)
def test_texts_that_are_no_programs(text: str) -> None:
    assert not parses(text.encode())
    assert not WALKS.automaton.accepts(text.encode())


@pytest.mark.parametrize("text", REFUSED_BY_THE_COMPILER)
def test_what_only_the_compiler_refuses(text: str) -> None:
    assert not WALKS.automaton.accepts(text.encode())


@pytest.mark.parametrize("text", LEFT_OUT)
def test_what_is_left_out(text: str) -> None:
    assert not WALKS.automaton.accepts(text.encode())


def test_random_walks_write_programs() -> None:
    written = list(WALKS.programs(Random(11), 60, 60))
    assert [text for text in written if not parses(text)] == []
    assert len(set(written)) > 50


def test_models_write_programs_within_a_budget() -> None:
    written = list(by_models(WALKS, 12, seed=0))
    assert len(set(written)) > 9
    assert [text for text in written if not parses(text)] == []


def test_samples_and_changed_samples_are_programs() -> None:
    sampler, random = Sampler(bundled("rust"), depth=18), Random(7)
    samples = [text for text in (sampler.sample(random) for _ in range(250)) if WALKS.automaton.accepts(text)]
    texts = [*samples, *(text.encode() for text in ACCEPTED)]
    changed = [text for text in islice(changes(texts, random), 1000) if WALKS.automaton.accepts(text)]
    assert min(len(samples), len(changed)) > 50
    assert [text for text in samples + changed if not parses(text)] == []


@pytest.mark.skipif(not has_compiler(), reason="there is no compiler of the edition 2024")
def test_the_compiler_reads_them() -> None:
    texts = [*(text.encode() for text in [*ACCEPTED, *LEFT_OUT]), *WALKS.programs(Random(5), 20, 60)]
    assert [error for text in texts if (error := compiler_error(text)) is not None] == []
    assert [text for text in REFUSED_BY_THE_COMPILER if compiler_error(text.encode()) is None] == []
