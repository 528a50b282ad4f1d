"""FSTs of users: acceptors as expressions, and transducers as operators on them.

    from_fst(fst)                   the language of an acceptor
    image(constraint, fst)          what a transducer can write where it reads a text of a constraint
    preimage(fst, constraint)       what it can read where it writes one
    transducer_of(fst)              a transducer that is read once for many constraints

Regular languages are closed under finite transduction, so an image is an expression like any other. The FST is read
when the expression is made; the composition happens when it is compiled (`automata.compile.composition`).

    sources     an FST from an object, a file or a FAR
    symbols     what labels stand for
    arcs        arcs over labels become arcs over runs of bytes
    reading     an FST as `TransducerTables`
    images      the functions above

Rejected: `pynini.compose` with the string's acceptor, which works on text only, has an arc for each byte and no limits;
a transducer as an object with an operator of its own (`A @ T`), since which side is projected would stay unsaid.
"""

from automata.transducers.images import from_fst, image, preimage, transducer_of

__all__ = ["from_fst", "image", "preimage", "transducer_of"]
