"""Building: from the formulas of a schema to its visibly pushdown grammar.

schema_grammar  schema_grammar: builds the grammar, or explains why there is none
layout          Layout: the schema as it was read, and how its values are written
builder         SchemaGrammarBuilder: one rule for the whole text, and one for each kind of array, object or long string
container_rule  the rules of arrays and objects, from the states of `constraints.json_schema.containers`
flagged_rule    the rules of objects in any order
side_by_side    SideBySide: variants that have rules of their own
anything        the rules of arrays and objects without constraints
tags, tagged    objects whose members stand between tags, and not as JSON
values          ValueSearch: whether formulas have values
plans           the languages of a formula's scalars, and what it says about strings, arrays and objects
marks           brackets, commas and colons, with the `whitespace` around them
"""
