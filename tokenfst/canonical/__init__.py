"""Canonical tokenization (in progress)."""
