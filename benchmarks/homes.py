"""What `agentlake load --home` would read of one source."""

from pathlib import Path

from agentlake.adapters.registry import adapters
from agentlake.pipelines.ingest.listing import SourcePlan
from agentlake.pipelines.settings.places import resolve_roots
from agentlake.pipelines.settings.settings import load_settings


def plan_of(source: str, home: Path) -> SourcePlan:
    """The adapter and its folders in this home."""
    environ = {"HOME": str(home)}
    settings = load_settings(
        config=None,
        home=home,
        warehouse=None,
        environ=environ,
        known_sources=adapters(),
    )
    adapter = adapters()[source]
    roots = resolve_roots(adapter.ROOTS, settings, source, environ)
    return SourcePlan(adapter=adapter, roots=roots)
