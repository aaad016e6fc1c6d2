"""How big the next file shall be: a heavy-tailed plan that meets its total."""

from __future__ import annotations

import math
from random import Random


class Sizes:
    """Budgets for `count` files that together come to about `total` bytes.

    Log-normal, cut at `most`. What was written beyond or below a budget is made up
    for by the later ones, so the largest come among the first.
    """

    def __init__(
        self, rng: Random, count: int, total: int, sigma: float, most: int
    ) -> None:
        draws = [math.exp(rng.gauss(0, sigma)) for _ in range(count)]
        unit = total / sum(draws)
        for _ in range(4):  # a cut file leaves its rest to the others
            unit *= total / sum(min(draw * unit, most) for draw in draws)
        planned = sorted(min(int(draw * unit) + 1, most) for draw in draws)
        tail = planned[-(count // 10 + 1) :]
        rest = planned[: -(count // 10 + 1)]
        rng.shuffle(tail)
        rng.shuffle(rest)
        self._planned = rest + tail  # taken from the end
        self._bytes_planned = sum(self._planned)
        self._bytes_left = total
        self.most = most

    @property
    def left(self) -> int:
        """How many files are still to come."""
        return len(self._planned)

    def take(self) -> int | None:
        """The budget of the next file, in bytes; None when all are written."""
        if not self._planned:
            return None
        size = self._planned.pop()
        scale = min(max(self._bytes_left / self._bytes_planned, 0.3), 3.0)
        self._bytes_planned -= size
        return min(int(size * scale) + 1, self.most)

    def wrote(self, size: int) -> None:
        """Tell what a file came to in the end."""
        self._bytes_left -= size
