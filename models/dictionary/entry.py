"""What the dictionary says of one column."""

from collections.abc import Mapping

import msgspec

_UNITS = {
    "_tokens": "tokens",
    "_usd": "US dollars",
    "_ms": "milliseconds",
    "_ns": "nanoseconds",
    "_bytes": "bytes",
}
"""Units by the end of a column's name."""


class Entry(msgspec.Struct, frozen=True):
    """One column: what it means, and what its values may be."""

    description: str
    unit: str | None = None
    zone: str | None = None
    """The time zone of a moment or a day."""
    values: Mapping[str, str] = {}
    """The closed set of its values, each with its meaning ("" where the word itself
    says it); empty where any value may occur. A check holds it true."""

    @property
    def meaning(self) -> str:
        """What it is, and which values there are."""
        if not self.values:
            return self.description
        values = ", ".join(map(self._value, self.values))
        return f"{self.description} One of: {values}."

    @property
    def text(self) -> str:
        """The whole entry in words, as the warehouse and Dagster show it."""
        parts = [self.meaning]
        if self.unit:
            parts.append(f"Unit: {self.unit}.")
        if self.zone:
            parts.append(f"Zone: {self.zone}.")
        return " ".join(parts)

    def _value(self, value: str) -> str:
        meaning = self.values[value]
        return f"{value} ({meaning})" if meaning else value


def of_values(description: str, *values: str, **meanings: str) -> Entry:
    """An entry with a closed set of values; by keyword, each with its meaning."""
    return Entry(description, values=dict.fromkeys(values, "") | meanings)


def completed(name: str, entry: Entry) -> Entry:
    """The entry with the unit and zone that the end of the column's name tells."""
    unit = entry.unit or next(
        (unit for end, unit in _UNITS.items() if name.endswith(end)), None
    )
    zone = entry.zone or ("UTC" if name.endswith("_at") else None)
    return msgspec.structs.replace(entry, unit=unit, zone=zone)
