"""Dagster's web server, deaf to the pages of other sites.

Dagster itself lets any page that the user has open start runs and stop the sensor: by a
GET, by a WebSocket, under any name of this machine.
"""

from typing import Any

from dagster_webserver.cli import main
from dagster_webserver.webserver import DagsterWebserver
from starlette.middleware import Middleware

from agentlake.pipelines.loopback import OwnPagesOnly

_theirs = DagsterWebserver.build_middleware


def _middleware(self: "DagsterWebserver[Any, Any]") -> list[Middleware]:
    return [Middleware(OwnPagesOnly), *_theirs(self)]


if __name__ == "__main__":
    DagsterWebserver.build_middleware = _middleware  # type: ignore[method-assign]
    main()  # type: ignore[no-untyped-call]
