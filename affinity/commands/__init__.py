"""The commands behind the command line; each answers a JSON object and a text."""
