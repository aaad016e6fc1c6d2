"""Amp: one JSON document per thread, with a ledger of what its requests cost.

Where:   <data>/threads/T-<uuid>.json; <data> is $XDG_DATA_HOME/amp, by default
         ~/.local/share/amp, on macOS too; AMP_DATA_DIR overrides it.
Seen:    real threads of October 2025; other fields from programs that read them
Trap:    a request stands twice, in the ledger and at its message: where a thread has
         a ledger, that counts, and takes from the message only the cache tokens. For
         OpenAI models uncached tokens are written as cache writes. The whole file is
         written anew, and messages may be taken out: what was loaded still counts.
Missing: since April 2026 threads stay on the server and nothing is written here. Cache
         tokens of calls without a message (titles, subagents). `credits` are only kept
         in raw. How subthreads name their parent is uncertain.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

from agentlake.adapters.amp import facts
from agentlake.adapters.amp.format import BOOKED, SAID, THREAD
from agentlake.adapters.sdk.contract import (
    Health,
    Keyed,
    Options,
    Record,
    Reject,
    Stream,
)
from agentlake.adapters.sdk.decode import Unreadable, encode, untyped
from agentlake.adapters.sdk.roots import Root
from agentlake.adapters.sdk.scan import folders_in, matching
from agentlake.adapters.sdk.values import one_step, unstepped
from agentlake.models.fact import Fact

SOURCE = "amp"
NAME = "Amp"
ICON = "⚡"
STORES = ("documents",)
ROOTS = (
    Root(
        env="AMP_DATA_DIR",
        default=("${XDG_DATA_HOME:-~/.local/share}/amp", "~/.local/share/amp"),
        strip="threads",
    ),
)
PARSER_VERSION = 3


def discover(root: str, options: Options) -> Iterator[Stream]:
    """Threads by their id; the list of prompts beside them is Amp's own business."""
    del options
    for file in matching(root, "threads/T-*.json"):
        yield Stream(path=file, key=Path(file).stem, reader="json_document")


def explode(stream: Stream, data: bytes) -> Iterable[Keyed]:
    """The thread, its messages, and each paid request: `<thread>/<what>/<id>`.

    A request is booked apart from its message, since messages are taken out.
    """
    document = untyped(data)
    if not isinstance(document, dict):
        msg = "a thread is no JSON object"
        raise Unreadable(msg)
    thread = document.get("id")
    thread = one_step(thread if isinstance(thread, str) and thread else stream.key)
    apart = ("messages", "usageLedger")
    head = {
        name: value
        for name, value in document.items()
        if name not in apart and not name.startswith("~")  # the last prompt, again
    }
    messages = _dicts(document.get("messages"))
    ledger = document.get("usageLedger")
    events = _dicts(ledger.get("events")) if isinstance(ledger, dict) else []
    again: Counter[str] = Counter()
    for key, record in chain(
        [("thread", head)],
        ((f"messages/{_name(one, 'messageId')}", one) for one in messages),
        _bookings(messages, events),
    ):
        copy = f"#{again[key]}" if again[key] else ""
        again[key] += 1
        yield Keyed(f"{thread}/{key}{copy}", encode(record))


def _bookings(
    messages: list[dict[str, Any]], events: list[dict[str, Any]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each paid request once: by the ledger, or without one by the messages.

    A booking that knows its message has another key than one that does not, so that
    it stays when the message is taken out.
    """
    paid: dict[str, dict[str, Any]] = {
        (name := _name(message, "messageId")): {
            "messageId": name,
            "usage": message["usage"],
        }
        for message in messages
        if isinstance(message.get("usage"), dict)
    }
    # events of old have but a total: then the messages know more
    if not any(_is_split(event) for event in events) and (paid or not events):
        for name, message in paid.items():
            yield f"usage/{name}", {"message": message}
        return
    own = _own_events(paid, events)
    for event in events:
        name, to = _name(event, "id"), str(event.get("toMessageId"))
        if own.get(to) is event and to in paid:
            yield f"ledger/{name}/{to}", {"event": event, "message": paid[to]}
        else:
            yield f"ledger/{name}", {"event": event}


def _own_events(
    paid: dict[str, dict[str, Any]], events: list[dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """The event of each message's own request; a subagent's may name it as well."""
    own: dict[str, tuple[int, dict[str, Any]]] = {}
    for event in events:
        to, tokens = str(event.get("toMessageId")), event.get("tokens")
        usage = paid[to]["usage"] if to in paid else {}
        wrote = tokens.get("output") if isinstance(tokens, dict) else None
        same_model = event.get("model") in (None, usage.get("model"))
        likeness = 2 * same_model + (wrote == usage.get("outputTokens"))
        if same_model and likeness > own.get(to, (0, {}))[0]:
            own[to] = likeness, event
    return {to: event for to, (_, event) in own.items()}


def _is_split(event: dict[str, Any]) -> bool:
    tokens = event.get("tokens")
    return isinstance(tokens, dict) and bool(tokens.keys() & {"input", "output"})


def _dicts(value: Any) -> list[dict[str, Any]]:
    found = value if isinstance(value, list) else []
    return [one for one in found if isinstance(one, dict)]


def _name(of: dict[str, Any], field: str) -> str:
    """Its id; what has none is named by what it says."""
    name = of.get(field)
    return sha256(encode(of)).hexdigest()[:12] if name is None else str(name)


def parse(record: Record) -> Iterable[Fact | Reject]:
    """One part of a thread; which one, and of which thread, is in its key."""
    step, _, rest = record.key.partition("/")
    thread = unstepped(step)
    what, _, name = rest.partition("/")
    if what == "thread":
        head, rejects = THREAD.decode(record.data)
        return chain(facts.session(thread, head), rejects)
    if what == "messages":
        said, rejects = SAID.decode(record.data)
        return chain(facts.message(thread, f"{thread}/{name}", said), rejects)
    booked, rejects = BOOKED.decode(record.data)
    return chain(facts.usage(thread, name, booked), rejects)


def health(root: str) -> Health:
    """What this folder no longer gets."""
    if not folders_in(root, "threads"):
        return Health()
    return Health(
        notes=("since the end of March 2026 Amp keeps threads on its server only",)
    )
