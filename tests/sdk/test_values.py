"""What vendors write, as a fact holds it."""

import pytest

from agentlake.adapters.sdk.values import without_login


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("https://ada:word@example.org/shop.git", "https://example.org/shop.git"),
        ("https://ghp_x@example.org/shop", "https://example.org/shop"),
        ("https://example.org/@ada/shop", "https://example.org/@ada/shop"),
        ("git@example.org:ada/shop.git", "git@example.org:ada/shop.git"),
        ("ssh://git@example.org/shop", "ssh://git@example.org/shop"),
        ("ada/shop", "ada/shop"),
        ("", ""),
        (None, None),
    ],
)
def test_an_address_keeps_no_login(url, kept):
    assert without_login(url) == kept
