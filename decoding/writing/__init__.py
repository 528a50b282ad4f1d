"""From prompts and constraints to texts.

generate      whole texts, by the loop of `transformers` or by speculation
streaming     one text, piece by piece
partial_json  the value of an incomplete JSON text
"""
