"""The generations of Codex whose rollouts a heavy user still has on disk."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Generation:
    """Versions that write alike. Days count from 1970."""

    versions: tuple[str, ...]
    models: tuple[str, ...]
    days: tuple[int, int]
    repeats: tuple[float, float] = (0.0, 0.0)  # share of token counts written again
    turn_ids: bool = True
    null_info: bool = True  # the first token count says nothing
    instructions: int = 19_000  # bytes of the base instructions in the first line
    command_events: bool = False
    cache_writes: bool = False
    metas_again: bool = False  # another session_meta at each resume
    resets: bool = False  # a resume may start the running total anew
    ordinals: bool = False
    records: bool = False  # token_usage_record is the truth, token_count a mirror


GENERATIONS: dict[Generation, float] = {
    Generation(
        versions=("0.36.0",),
        models=("gpt-5-codex",),
        days=(20_340, 20_370),
        turn_ids=False,
        null_info=False,
        instructions=3000,
    ): 6,
    Generation(
        versions=("0.53.0", "0.57.0", "0.58.0"),
        models=("gpt-5-codex", "gpt-5.1-codex-mini"),
        days=(20_390, 20_420),
        repeats=(0.6, 1.0),
        turn_ids=False,
        instructions=5000,
        resets=True,
    ): 14,
    Generation(
        versions=("0.104.0-alpha.1",),
        models=("gpt-5.3-codex",),
        days=(20_490, 20_515),
        repeats=(0.6, 1.0),
    ): 10,
    Generation(
        versions=("0.117.0", "0.118.0-alpha.2", "0.126.0-alpha.8"),
        models=("gpt-5.4", "gpt-5.4-mini", "gpt-5.5"),
        days=(20_530, 20_585),
        repeats=(0.05, 0.8),
        command_events=True,
    ): 40,
    Generation(
        versions=("0.145.0", "0.146.0"),
        models=("gpt-5.5", "gpt-5.6-sol"),
        days=(20_610, 20_660),
        repeats=(0.01, 0.01),
        null_info=False,
        instructions=26_000,
        command_events=True,
        cache_writes=True,
        metas_again=True,
    ): 18,
    Generation(
        versions=("0.160.0", "0.171.0"),
        models=("gpt-5.6-sol", "gpt-5.6"),
        days=(20_700, 20_780),
        repeats=(0.01, 0.01),
        null_info=False,
        instructions=26_000,
        cache_writes=True,
        ordinals=True,
        records=True,
    ): 12,
}
