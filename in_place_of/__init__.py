"""Stand-ins for other packages: change one import, and a program that constrains with XGrammar runs on tokenfst.

    xgrammar            GrammarCompiler, TokenizerInfo, CompiledGrammar, GrammarMatcher, bit masks
    llguidance          LLTokenizer, LLMatcher, and the masks of its modules `numpy` and `torch`
    lmformatenforcer    JsonSchemaParser, RegexParser, ..., and the prefix function for transformers
    outlines            from_transformers, Generator, and the types that it takes

    import xgrammar as xgr     ->     from in_place_of import xgrammar as xgr

They are for a trial: whoever stays writes to `tokenfst`, `constraints` and `decoding` directly, as the pages `from-...`
in `docs/` say. Each is a thin layer over what is there, with the names, arguments and results of the other package.
What is not there raises `automata.errors.NotOffered`, which says what to use instead. The language is this project's
wherever the other package only approximates it; mistakes raise this project's errors.

Helpers of several of them:

    absent          names that are not offered
    vocabularies    a vocabulary with padding, or with other end tokens
    spelling        tokens that write a text
    schemas         JSON Schemas and white space as other packages read them

The other packages are not imported, and need not be installed.

Rejected: patching the other package in place (one import would do for a whole program, but nobody could see from a file
what runs).
"""
