"""Dagster's daemon, whose sensor is asked every second or two, not every five.

`python -m agentlake.pipelines.orchestration.daemon` takes the options of
`dagster-daemon`.
"""

from dagster._daemon import sensor
from dagster._daemon.cli import main

from agentlake.pipelines import timing

if __name__ == "__main__":
    # Dagster has no setting for it: a sensor's own interval only makes it rarer.
    sensor.MIN_INTERVAL_LOOP_TIME = timing.DAEMON_EVERY_S  # type: ignore[assignment]
    main()
