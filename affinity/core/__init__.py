"""The vocabulary both halves share: types, entries, settings, errors. NumPy and the standard library only."""
