"""Texts in SQL that we write ourselves, where nothing can be bound."""


def literal(text: str) -> str:
    """A text as SQL writes it, in quotes: a path, a name, a folder that was typed."""
    return "'" + text.replace("'", "''") + "'"
