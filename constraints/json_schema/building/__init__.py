"""Building: from the formulas of a schema to its visibly pushdown grammar.

schema_grammar  schema_grammar: builds the grammar, or explains why there is none
builder         SchemaGrammarBuilder: one rule for the whole text, and one for each kind of array, object or long string
plans           the languages of a formula's scalars, and what it says of strings, arrays and objects
marks           brackets, commas and colons, with the `whitespace` around them
"""
