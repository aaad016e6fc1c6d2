"""What the requests of a task used, whoever counted them."""

from datetime import UTC, datetime

from agentlake.adapters.cline_family import history, tools
from agentlake.adapters.cline_family.format import (
    ENTRY,
    REQUEST,
    REQUESTS,
    Entry,
    ModelInfo,
    Request,
)
from agentlake.adapters.sdk.contract import Facts, Record, Reject
from agentlake.adapters.sdk.decode import Unreadable
from agentlake.adapters.sdk.moments import moment
from agentlake.models.session import Session
from agentlake.models.usage import Usage

PRODUCTS = {
    "saoudrizwan.claude-dev": "cline",
    "rooveterinaryinc.roo-cline": "roo",
    "kilocode.kilo-code": "kilo",
    "zoocodeorganization.zoo-code": "zoo",
}
"""The extensions, by the names of their folders."""

_WHOLE_PROMPT_SINCE = {
    "roo": datetime(2025, 11, 1, tzinfo=UTC),
    "kilo": datetime(2025, 11, 12, tzinfo=UTC),
}
"""From these releases on tokensIn is the whole prompt, whatever the protocol."""
_WHOLE_PROMPT_PROVIDERS = frozenset(
    [
        "openai",
        "litellm",
        "doubao",
        "fireworks",
        "hicap",
        "lmstudio",
        "qwen",
        "xai",
        "zai",
    ]
)
"""Providers for which Cline writes the prompt as their API counts it."""


def facts(record: Record, task: str) -> Facts:
    """The requests of a task; one of which nothing was counted was none."""
    product = _product(record.stream.path)
    told, rejects = REQUESTS.decode(record.data)
    yield from rejects
    for place, entry in enumerate(told.entries):
        if not (entry.text or "{").lstrip().startswith("{"):
            continue  # what was sent, in words
        try:
            request, odd = REQUEST.decode((entry.text or "{}").encode())
        except Unreadable as error:
            yield Reject(f"entries[{place}].text: {error}")
            continue
        yield from odd
        if request.tokens_in is None and request.tokens_out is None:
            continue  # it has not ended yet
        if not any(
            (
                request.tokens_in,
                request.tokens_out,
                request.cache_reads,
                request.cache_writes,
                request.cost,
            )
        ):
            continue
        at, info = moment(entry.ts), entry.model_info or ModelInfo()
        deleted = entry.say == "deleted_api_reqs"
        yield Usage(
            session_id=task,
            usage_key=f"{task}/{entry.ts}",
            scope=task,
            precedence=told.newest,
            model=info.model_id or _model(request),
            called_at=at,
            input_tokens=_uncached(product, entry, request, at),
            cache_read_tokens=request.cache_reads,
            cache_write_tokens=request.cache_writes,
            output_tokens=request.tokens_out,
            reported_cost_usd=request.cost or None,
            granularity="session" if deleted else "call",
        )


def _product(path: str) -> str | None:
    parts = path.replace("\\", "/").lower().split("/")
    return next((PRODUCTS[part] for part in parts if part in PRODUCTS), None)


def _uncached(
    product: str | None, entry: Entry, request: Request, at: datetime | None
) -> int | None:
    """The prompt without what the cache read and wrote.

    In a folder of the user's own choice the product is told by the protocol, which
    Cline does not write. A prompt smaller than the cached part cannot include it.
    """
    told = request.tokens_in
    cached = (request.cache_reads or 0) + (request.cache_writes or 0)
    if told is None or told < cached:
        return told
    protocol = request.api_protocol or entry.api_protocol
    if product == "cline" or (product is None and protocol is None):
        provider = entry.model_info.provider_id if entry.model_info else None
        includes = (provider or "") in _WHOLE_PROMPT_PROVIDERS
    else:
        since = _WHOLE_PROMPT_SINCE.get(product or "roo")
        is_old = bool(since and at and at < since)
        includes = not (protocol == "anthropic" and is_old)
    return told - cached if includes else told


def sent(entry: Entry) -> str | None:
    """What a request sent, as its entry shows it."""
    text = entry.text or ""
    if not text.lstrip().startswith("{"):
        return text or None
    try:
        request, _ = REQUEST.decode(text.encode())
    except Unreadable:
        return None
    return request.request if isinstance(request.request, str) else None


def _model(request: Request) -> str | None:
    """The model that the program put into what was sent, behind the user's words."""
    text = request.request if isinstance(request.request, str) else ""
    return history.model_in(text.rpartition(tools.CONTEXT)[2]) if text else None


def folder(record: Record, task: str) -> Facts:
    """The folder that the first request which tells it was sent from."""
    entry, rejects = ENTRY.decode(record.data)
    if found := folder_of(entry):
        yield Session(session_id=task, cwd=found)
    yield from rejects


def folder_of(entry: Entry) -> str | None:
    """The folder in what a request sent, behind the user's words."""
    text = sent(entry) or ""
    return history.folder_in(text.rpartition(tools.CONTEXT)[2])
