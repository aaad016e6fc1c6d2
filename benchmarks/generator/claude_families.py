"""The generations of Claude Code that a heavy user of 2026 still has on disk."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Family:
    """Versions that write alike. Days count from 1970."""

    versions: tuple[str, ...]
    models: tuple[str, ...]
    days: tuple[int, int]
    agents: str  # where subagents go: "inline", "flat" or "nested"
    growing: float = 0.0  # share of messages whose earlier rows hold less output
    final_output: bool = True  # False: the real output never reaches the disk
    late_fields: bool = False  # sessionId and its like stand at the end of the row
    hour_cache: bool = False
    progress: bool = False
    cache_split: bool = True
    iterations: bool = False


@dataclass(slots=True)
class Setting:
    """What the rows of one session have in common."""

    session_id: str
    project: Path  # the folder; the working directory may change, this does not
    family: Family
    model: str
    version: str
    cwd: str
    branch: str
    proxy: bool  # a third-party gateway: no requestId, odd input counters


_OPUS, _SONNET = "claude-opus-4-5-20251101", "claude-sonnet-4-5-20250929"
HAIKU = "claude-haiku-4-5-20251001"
PROXY_MODELS = ("deepseek-v4-flash", "deepseek-v4-pro", "glm-4.7", "minimax-m2.7")

FAMILIES: dict[Family, float] = {
    Family(
        versions=("1.0.17", "1.0.44", "1.0.83"),
        models=("claude-sonnet-4-20250514", "claude-opus-4-1-20250805"),
        days=(20_254, 20_360),
        agents="inline",
        growing=0.05,
        cache_split=False,
    ): 15,
    Family(
        versions=("2.0.2", "2.0.60", "2.0.76"),
        models=(_SONNET, _OPUS),
        days=(20_361, 20_458),
        agents="flat",
        growing=0.5,
    ): 22,
    Family(
        versions=("2.1.1", "2.1.5", "2.1.7"),
        models=(_OPUS, _SONNET),
        days=(20_459, 20_470),
        agents="nested",
        growing=0.6,
        progress=True,
    ): 20,
    Family(
        versions=("2.1.9", "2.1.15", "2.1.21"),
        models=(_OPUS, HAIKU),
        days=(20_471, 20_500),
        agents="nested",
        final_output=False,
        progress=True,
    ): 12,
    Family(
        versions=("2.1.81", "2.1.87", "2.1.92"),
        models=("claude-sonnet-4-6", "claude-opus-4-6"),
        days=(20_532, 20_560),
        agents="nested",
        growing=0.98,
        late_fields=True,
        hour_cache=True,
    ): 18,
    Family(
        versions=("2.1.112", "2.1.126", "2.1.170"),
        models=("claude-opus-4-8", "claude-sonnet-4-6", "claude-fable-5"),
        days=(20_561, 20_630),
        agents="nested",
        late_fields=True,
        hour_cache=True,
        iterations=True,
    ): 13,
}
