"""Keep the pages of other sites out of the servers that we start on this machine.

A server on 127.0.0.1 is reachable for every page in the user's browser: a page may send
it requests, open a WebSocket to it, or give its own name this address (DNS rebinding).
So only what the server's own pages ask is answered, and what no browser asks (curl,
scripts), which other sites cannot forge: the browser writes these headers itself.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_NAMES = frozenset({"127.0.0.1", "localhost", "::1"})
_POLICY_VIOLATION = 1008
_NO_FRAME = (b"x-frame-options", b"DENY")


class OwnPagesOnly:
    """An ASGI middleware that refuses what a page of another site asks."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 403 (a WebSocket is closed unopened)."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
        elif reason := refused(scope):
            await _refuse(scope, send, reason)
        else:
            await self._app(scope, receive, _unframed(send))


def refused(scope: Scope) -> str | None:
    """Why a request is refused; None if it may pass.

    A link on another site may open one of our pages: it shows nothing to that site, and
    no page of ours does anything by being opened.
    """
    headers = {
        name.decode("latin-1"): text.decode("latin-1")
        for name, text in scope["headers"]
    }
    host = headers.get("host", "")
    if _name_of(f"//{host}") not in _NAMES:
        return "this server answers to 127.0.0.1 and localhost only"
    origin = headers.get("origin")
    if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
        return "asked by a page of another site"
    is_get = scope["type"] == "http" and scope["method"] in {"GET", "HEAD"}
    if (
        is_get
        and scope["path"].rstrip("/").endswith("/graphql")
        and scope["query_string"]
    ):
        return "a query is sent by POST"
    if headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}:
        opens_a_page = (
            is_get
            and headers.get("sec-fetch-mode") == "navigate"
            and headers.get("sec-fetch-dest") == "document"
        )
        if not opens_a_page:
            return "asked by a page of another site"
    return None


def _name_of(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


async def _refuse(scope: Scope, send: Send, reason: str) -> None:
    if scope["type"] == "websocket":
        await send(
            {"type": "websocket.close", "code": _POLICY_VIOLATION, "reason": reason}
        )
        return
    text = f"Refused: {reason}.\n".encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(text)).encode()),
    ]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": text})


def _unframed(send: Send) -> Send:
    """No other site shows our pages in a frame, where clicks could be stolen."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), _NO_FRAME]
        await send(message)

    return sent
