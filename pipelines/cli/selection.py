"""What a report is about: some sources, some models, one project."""

from argparse import Namespace
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

import msgspec

from agentlake.errors import UserError, did_you_mean
from agentlake.pipelines.literal import literal
from agentlake.pipelines.settings.project import as_folder, only_of
from agentlake.pipelines.warehouse.connect import Connection


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """The calls that are asked for; nothing said means all."""

    sources: Sequence[str] = ()
    models: Sequence[str] = ()
    project: str | None = None

    def __str__(self) -> str:
        parts = [*self.sources, *self.models, *filter(None, [self.project])]
        return ", ".join(parts)


def selected(connection: Connection, args: Namespace) -> Selection:
    """What the options ask for, and let this connection's marts count only that.

    Raises UserError, with the nearest name, for a source or a model that there is not.
    """
    selection = Selection(
        sources=[_known_source(connection, name) for name in args.source or ()],
        models=list(
            dict.fromkeys(
                model
                for pattern in args.model or ()
                for model in _known_models(connection, pattern)
            )
        ),
        project=as_folder(args.project) if args.project else None,
    )
    for name, values in (("sources", selection.sources), ("models", selection.models)):
        if values:
            listed = ", ".join(map(literal, values))
            connection.execute(f"set variable {name} = [{listed}]")
    if selection.project:
        connection.execute(only_of(selection.project))
    return selection


def _known_source(connection: Connection, name: str) -> str:
    from agentlake.adapters.registry import names

    found = connection.execute("select distinct source from meta.streams").fetchall()
    known = sorted({*names(), *(source for (source,) in found)})
    if name not in known:
        guess = did_you_mean(name, known)
        msg = f"unknown source {name}.{guess} Known: {', '.join(known)}."
        raise UserError(msg)
    return name


def _known_models(connection: Connection, pattern: str) -> Iterable[str]:
    """The models of a name, or of a pattern with `*`, whatever their capitals."""
    rows = connection.execute(
        "select distinct model from core.usage where model is not null order by model"
    ).fetchall()
    known = [model for (model,) in rows]
    like = [one for one in known if fnmatchcase(one.lower(), pattern.lower())]
    if not like:
        guess = did_you_mean(pattern, known)
        msg = (
            f"no call was made to a model {pattern}.{guess} A part of a name is"
            f" written with stars: --model '*{pattern.strip('*')}*'."
        )
        raise UserError(msg)
    return like
