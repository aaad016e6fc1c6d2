"""Which requests a server on this machine answers, by what a browser says of them."""

import pytest

from agentlake.pipelines.loopback import refused

OWN = {"host": "127.0.0.1:3000"}
PAGE = OWN | {
    "sec-fetch-site": "cross-site",
    "sec-fetch-mode": "navigate",
    "sec-fetch-dest": "document",
}

# What is asked, by whom -> whether it is refused
CASES = [
    ("a script without a browser", "POST", "/graphql", OWN, False),
    ("localhost", "GET", "/", {"host": "localhost:3000"}, False),
    ("IPv6", "GET", "/", {"host": "[::1]:3000"}, False),
    ("no name at all", "GET", "/", {}, True),
    ("a foreign name (DNS rebinding)", "GET", "/", {"host": "evil.example:3000"}, True),
    (
        "a name that begins like ours",
        "GET",
        "/",
        {"host": "127.0.0.1.evil.example"},
        True,
    ),
    (
        "a name with a user before it",
        "GET",
        "/",
        {"host": "localhost@evil.example"},
        True,
    ),
    ("a broken name", "GET", "/", {"host": "[::1"}, True),
    (
        "its own page",
        "POST",
        "/graphql",
        OWN | {"origin": "http://127.0.0.1:3000"},
        False,
    ),
    (
        "another port",
        "POST",
        "/graphql",
        OWN | {"origin": "http://127.0.0.1:8000"},
        True,
    ),
    (
        "another site",
        "POST",
        "/graphql",
        OWN | {"origin": "https://evil.example"},
        True,
    ),
    ("a sandboxed frame", "POST", "/graphql", OWN | {"origin": "null"}, True),
    (
        "a picture of another site",
        "GET",
        "/",
        OWN | {"sec-fetch-site": "cross-site"},
        True,
    ),
    ("another port's picture", "GET", "/", OWN | {"sec-fetch-site": "same-site"}, True),
    (
        "its own picture",
        "GET",
        "/x.png",
        OWN | {"sec-fetch-site": "same-origin"},
        False,
    ),
    ("a typed address", "GET", "/", OWN | {"sec-fetch-site": "none"}, False),
    ("a link that opens a page", "GET", "/runs", PAGE, False),
    (
        "a link that opens a frame",
        "GET",
        "/",
        PAGE | {"sec-fetch-dest": "iframe"},
        True,
    ),
    ("a form of another site", "POST", "/graphql", PAGE, True),
    ("a query by GET", "GET", "/graphql?query=mutation{x}", OWN, True),
    ("a query by GET, with a slash", "GET", "/graphql/?query=mutation{x}", OWN, True),
    ("the page to type queries in", "GET", "/graphql", OWN, False),
]


@pytest.mark.parametrize(
    ("method", "path", "headers", "is_refused"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_only_its_own_pages_are_answered(method, path, headers, is_refused):
    path, _, query = path.partition("?")
    asked = scope("http", headers, method=method, path=path, query=query)
    assert (refused(asked) is not None) is is_refused


def scope(kind, headers, method="GET", path="/", query=""):
    return {
        "type": kind,
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.encode(), text.encode()) for name, text in headers.items()],
    }


@pytest.mark.parametrize(
    ("origin", "is_refused"),
    [("http://127.0.0.1:3000", False), ("http://localhost:8000", True), ("null", True)],
)
def test_a_web_socket_is_opened_by_its_own_page_alone(origin, is_refused):
    asked = scope("websocket", OWN | {"origin": origin}, path="/graphql")
    assert (refused(asked) is not None) is is_refused
