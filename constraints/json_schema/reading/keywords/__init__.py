"""Keywords: the handlers, each of which gives the formula of one keyword.

    any_kind, numbers, strings, arrays, objects     by the values that a keyword is about; `values` and `counts` help
    applicators, references                         schemas about the same value
    tables                                          values with several schemas in them
    unevaluated                                     from what is `evaluated` by the schema and those in it

A handler takes the site and the keyword's value. Where the value has schemas in it, the handler is a generator that
yields the reading of each (`recursion.Task`).
"""
