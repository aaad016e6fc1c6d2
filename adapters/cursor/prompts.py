"""What a user typed, taken out of what Cursor puts around it."""

import re
from collections.abc import Iterator, Sequence

import msgspec

from agentlake.models.block import Block

_QUERY = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)
_CONTEXT = re.compile(r"\s*<(?!user_query\b)[a-z_]+>")


def prompt_kind(texts: Sequence[str]) -> str:
    """Whether somebody typed something, or Cursor only told where it is."""
    if any(_QUERY.search(text) for text in texts):
        return "prompt"
    is_context = bool(texts) and all(_CONTEXT.match(text) for text in texts)
    return "meta" if is_context else "prompt"


def prompt_blocks(where: Block, texts: Sequence[str]) -> Iterator[Block]:
    """A block per text: what was typed, else (where nothing is marked) all of it.

    Where one text marks what was typed, texts that mark nothing are context.
    """
    is_marked = any(_QUERY.search(text) for text in texts)
    for index, text in enumerate(texts):
        typed = _QUERY.findall(text)
        yield msgspec.structs.replace(
            where,
            block_index=index,
            type="text" if typed or not is_marked else "other",
            text="\n\n".join(typed) if typed else text,
        )
