"""Read protobuf without its schema: the wire format, field by number.

Enough to take known fields out of a message whose other fields nobody knows. Nothing
is guessed: whether the bytes of a field are a text or a message within, the one who
asks has to know.
"""

from datetime import datetime, timedelta

from agentlake.adapters.sdk.decode import Unreadable
from agentlake.adapters.sdk.moments import from_epoch

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_LONGEST_VARINT = 10
_MORE = 0x80  # the bit that says that more follows


class Fields:
    """The fields of one message. Raises Unreadable for bytes that are none.

    Asked for one value of a field that came more than once, it gives the last one,
    as protobuf has it; of another wire type than asked for, it gives None.
    """

    def __init__(self, data: bytes) -> None:
        self._values: dict[int, list[int | bytes]] = {}
        self._read(data)

    @classmethod
    def as_far_as(cls, data: bytes) -> tuple["Fields", Unreadable | None]:
        """What can be read of bytes that may be damaged, and what stopped it."""
        fields = cls(b"")
        try:
            fields._read(data)
        except Unreadable as error:
            return fields, error
        return fields, None

    def _read(self, data: bytes) -> None:
        at, end, values = 0, len(data), self._values
        while at < end:
            if (tag := data[at]) < _MORE:  # most are of one byte
                at += 1
            else:
                tag, at = _varint(data, at)
            value, at = _value(data, at, tag & 7)
            if (number := tag >> 3) in values:
                values[number].append(value)
            else:
                values[number] = [value]

    def __contains__(self, number: int) -> bool:
        return number in self._values

    def number(self, number: int) -> int | None:
        """A whole number: a varint, or four or eight bytes, without a sign."""
        value = self._values.get(number, [None])[-1]
        return value if isinstance(value, int) else None

    def content(self, number: int) -> bytes | None:
        """The bytes of a text, a message, or packed numbers."""
        value = self._values.get(number, [None])[-1]
        return None if isinstance(value, int) else value

    def text(self, number: int) -> str | None:
        """A text; what is no UTF-8 in it becomes U+FFFD."""
        value = self.content(number)
        return None if value is None else value.decode("utf-8", "replace")

    def message(self, number: int) -> "Fields | None":
        """The message within."""
        value = self.content(number)
        return None if value is None else Fields(value)

    def moment(self, number: int) -> datetime | None:
        """The time of a `google.protobuf.Timestamp`; None if it is no date of ours."""
        stamp = self.message(number)
        if stamp is None:
            return None
        at = from_epoch(stamp.number(1))
        micro = (stamp.number(2) or 0) // 1000
        return at + timedelta(microseconds=micro) if at and micro < 10**6 else at

    def all(self, number: int) -> list[bytes]:
        """The bytes of each message of a repeated field, in order."""
        return [
            value for value in self._values.get(number, []) if isinstance(value, bytes)
        ]


def _value(data: bytes, at: int, wire_type: int) -> tuple[int | bytes, int]:
    if wire_type == _VARINT:
        return _varint(data, at)
    if wire_type == _BYTES:
        size, at = _varint(data, at)
    elif wire_type in (_FIXED32, _FIXED64):
        size = 4 if wire_type == _FIXED32 else 8
    else:
        msg = f"no protobuf: wire type {wire_type} at byte {at}"
        raise Unreadable(msg)
    end = at + size
    if end > len(data):
        msg = f"protobuf ends at byte {len(data)} within a field"
        raise Unreadable(msg)
    value = data[at:end]
    return value if wire_type == _BYTES else int.from_bytes(value, "little"), end


def _varint(data: bytes, at: int) -> tuple[int, int]:
    if at < len(data) and data[at] < _MORE:  # most are of one byte
        return data[at], at + 1
    number = 0
    for place in range(_LONGEST_VARINT):
        if at + place >= len(data):
            break
        byte = data[at + place]
        number |= (byte & 0x7F) << (7 * place)
        if byte < _MORE:
            return number & 0xFFFF_FFFF_FFFF_FFFF, at + place + 1
    msg = f"no protobuf: a number without end at byte {at}"
    raise Unreadable(msg)
