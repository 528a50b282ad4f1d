"""FSTs from users: acceptors as expressions, and transducers as operators on them.

    from_fst(fst)                   the language of an acceptor
    image(constraint, fst)          the texts that a transducer can write when it reads a text of the constraint
    preimage(fst, constraint)       the texts that it can read when it writes a text of the constraint
    transducer_of(fst)              a transducer that is read once and used for many constraints

Regular languages are closed under finite transduction, so an image is an expression like any other. The FST is read
when the expression is made; the composition happens when it is compiled (`automata.compile.composition`).

    files       whether a file of OpenFst is whole
    sources     an FST from an object, a file or a FAR
    symbols     what labels stand for
    arcs        arcs over labels become arcs over runs of bytes
    reading     an FST as `TransducerTables`
    images      the functions above

Rejected: `pynini.compose` with the string's acceptor, which works on text only, has an arc for each byte and no limits;
a transducer as an object with an operator of its own (`A @ T`), which would not say which side is projected.
"""

from automata.transducers.images import from_fst, image, preimage, transducer_of

__all__ = ["from_fst", "image", "preimage", "transducer_of"]
