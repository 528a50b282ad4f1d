"""Symbols of ranges: the bytes, and labels from FIRST_LABEL up."""

FIRST_LABEL = 256
