"""Bytes in the row of a database, which JSON can only hold as base64."""

import binascii

import msgspec

from agentlake.adapters.sdk.decode import Unreadable


class Blob(msgspec.Struct, frozen=True, gc=False):
    """A value of type BLOB, as the `sqlite` reader writes it into a record."""

    base64: str = msgspec.field(name="$blob")

    def bytes(self) -> bytes:
        """The bytes. Raises Unreadable for what is no base64."""
        try:
            return binascii.a2b_base64(self.base64)
        except binascii.Error as error:
            msg = f"no base64: {error}"
            raise Unreadable(msg) from error
