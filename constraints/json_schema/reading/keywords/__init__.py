"""Keywords: the handlers, each of which returns the formula of one keyword.

    any_kind, numbers, strings, arrays, objects     by the kind of value; `values` and `counts` have helpers
    applicators, references                         schemas about the same value
    tables                                          values of keywords that contain several schemas
    unevaluated                                     from what the schema and the schemas in it evaluate (`evaluated`)

A handler takes the site and the keyword's value. If the value contains schemas, the handler is a generator that yields
the reading of each (`recursion.Task`).
"""
