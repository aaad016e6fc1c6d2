"""Make sound what an adapter says of a record: a text as key, a number as place."""

import msgspec

from agentlake.adapters.sdk.contract import Keyed
from agentlake.adapters.sdk.decode import encode

_MOST = (1 << 40) - 1
"""The highest place: beside the generation, in one number."""


def sound(one: Keyed) -> Keyed:
    """The record with a key and a place that can be stored, whatever they are made of.

    An odd value in a document ends up in its key (`true`, a list, half a surrogate
    pair): what its record says is for `parse` to judge.
    """
    key, seq = one.key, one.seq
    if not isinstance(key, str):
        key = encode(key).decode()
    if not key.isascii():
        key = key.encode("utf-8", "replace").decode()
    if seq is not None and (type(seq) is not int or not 0 <= seq <= _MOST):
        seq = None
    if key is one.key and seq is one.seq:
        return one
    return msgspec.structs.replace(one, key=key, seq=seq)
