"""What a program puts around a prompt: blocks in tags, which nobody typed."""

import re


class Injected:
    """The tags of the blocks that one program puts before and after prompts.

    `-` and `_` in a tag are the same: some are closed by the other one. A block in the
    middle of a prompt is the user's, who may speak of such tags.
    """

    def __init__(self, *tags: str) -> None:
        names = [re.sub("[-_]", "[-_]", tag) for tag in tags]
        before = "|".join(
            rf"\s*<{name}\b[^<>]*>.*?(?:</{name}>\s*|\Z)" for name in names
        )
        after = "|".join(
            rf"<{name}\b[^<>]*>(?:(?!</?{name}\b).)*</{name}>\s*\Z" for name in names
        )
        self._before = re.compile(before, re.DOTALL)
        self._after = re.compile(after, re.DOTALL)

    def without(self, text: str) -> tuple[str, str | None]:
        """What was typed; where that is nothing, also the tag of what came instead."""
        typed, tag = text, None
        while found := self._before.match(typed):
            tag = tag or found[0].lstrip().removeprefix("<").split(">")[0].split()[0]
            typed = typed[found.end() :]
        while found := self._after.search(typed):
            typed = typed[: found.start()].rstrip()
        return (typed, None) if typed.strip() or tag is None else ("", tag)
