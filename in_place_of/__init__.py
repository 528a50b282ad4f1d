"""Stand-ins for other packages: change one import, and a program that uses, for example, XGrammar runs on tokenfst.

    xgrammar            GrammarCompiler, TokenizerInfo, CompiledGrammar, GrammarMatcher, bit masks
    llguidance          LLTokenizer, LLMatcher, and the masks of its modules `numpy` and `torch`
    lmformatenforcer    JsonSchemaParser, RegexParser, ..., and the prefix function for transformers
    outlines            from_transformers, Generator, and the types that it takes

    import xgrammar as xgr     ->     from in_place_of import xgrammar as xgr

They are meant for trying tokenfst out. In the long run, use `tokenfst`, `constraints` and `decoding` directly, as the
pages `from-...` in `docs/` describe. Each stand-in is a thin layer over this project, with the names, arguments and
results of the other package. Features without a counterpart raise `automata.errors.NotOffered`, which says what to use
instead. Where the other package only approximates a language, the stand-in is exact; mistakes raise this project's
errors.

Helpers that several of them use:

    absent          names that are not offered
    vocabularies    a vocabulary with padding, or with other end tokens
    spelling        tokens that write a text
    schemas         JSON Schemas and whitespace as other packages read them

The other packages are not imported, and need not be installed.

Rejected: patching the other package in place (one import would be enough for a whole program, but the code would not
show what runs).
"""
