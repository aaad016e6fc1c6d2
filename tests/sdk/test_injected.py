"""What a program puts around a prompt is told from the prompt."""

import pytest

from agentlake.adapters.sdk.injected import Injected

INJECTED = Injected("skill-context", "system_reminder", "date")

TEXTS = {
    "fix it": ("fix it", None),
    "": ("", None),
    "<date>1</date>\n\nyes": ("yes", None),
    "yes\n\n<system_reminder>\n<t>a</t>\n</system_reminder>\n": ("yes", None),
    "<date>1</date>go<date>2</date><date>3</date>": ("go", None),
    '<skill-context name="a">\nb\n</skill_context>': ("", "skill-context"),
    '<skill-context name="a">\ncut': ("", "skill-context"),
    " <system-reminder>a</system-reminder> <date>1</date> ": ("", "system-reminder"),
    "what is <date>?": ("what is <date>?", None),
    "is <date>1</date> right?": ("is <date>1</date> right?", None),
    "<dates>1</dates> these": ("<dates>1</dates> these", None),
    "<system_reminder><date>1</date></system_reminder>go": ("go", None),
}


@pytest.mark.parametrize(("text", "expected"), TEXTS.items())
def test_only_what_was_typed_is_the_prompt(text, expected):
    assert INJECTED.without(text) == expected
