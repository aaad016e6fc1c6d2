"""Every interval, wait and span of time that agentlake chose, each with its reason.

A name ends with its unit. What a vendor chose (when an agent deletes its history) is
the adapter's; limits of size are where the bytes are.
"""

# -- how soon a change is noticed

POLL_S = 1.0
"""How often `watch` scans a disk of which no event tells that it changed."""
SCAN_EVERY_S = 10.0
"""And one of which events do tell, in case that one was missed."""
BURST_MS = 200
"""Events this close together are one: an agent writes a line in several steps."""
QUIET_MS = 50
"""How long a burst pauses before it is over."""
WAKE_MS = 1000
"""How soon a thread that waits for events hears that it shall stop."""
PLACES_EVERY_S = 2.0
"""How often it is asked whether a folder of an agent came or went."""
DAEMON_EVERY_S = 1.5
"""A turn of Dagster's daemon; its own take 5 s, half of a line's way to the marts."""
SENSOR_EVERY_S = 1
"""Every turn of the daemon: with its own interval it would miss each second."""
LIST_EVERY_S = 60.0
"""How often folders are listed whose time of change says that nothing is new there."""
FROZEN_AFTER_S = 86_400.0
"""A file that nobody has written to for a day is asked for its time in turns."""
UNTOLD_S = 600.0
"""How often a stream is loaded of which only its adapter can tell what is new."""

# -- when something is taken, or tried again

SETTLED_AFTER_S = 3600
"""A last line without newline is taken once nobody has written for this long."""
FULL_EVERY_S = 5.0
"""A full load, which lists every stream, follows the one before no sooner."""
RETRY_S = 600.0
"""A load or a run that fails again and again on the same disk is tried this often."""
AFTER_CHANGE_S = 60.0
"""It is tried no later than this after the disk changed."""
UNREAD_S = 3600.0
"""Streams that could not be read, and have not changed, are tried this often."""
REFRESH_EVERY_S = 30.0
"""A long load refreshes the models and publishes so often, so that it can be read."""
PROGRESS_EVERY_S = 0.1
"""A line that shows progress is written no oftener: a terminal shows no more."""

# -- how long one waits for another program

LOAD_WAIT_S = 10.0
"""A load of `watch`, for who writes to the warehouse; the next one makes it good."""
RUN_WAIT_S = 600.0
"""A run of Dagster; then it fails, and the sensor asks for another one."""
WAIT_SAID_AFTER_S = 5.0
"""A run says for whom it waits once that takes longer than a moment."""
READ_WAIT_S = 1.0
"""Who only asks how things are, and can say that the warehouse is in use."""
PUBLISH_WAIT_S = 10.0
"""Who brings the copy up to date, for another who does."""
WAIT_STEP_S = 0.05
"""Between two tries to open a file that another program holds."""
LATECOMER_S = 0.2
"""Who opened the old file just before it was replaced has written by then."""
QUERY_GRACE_S = 2.0
"""A query of `sql` that was interrupted after its time may take so long to end."""
NEVER_QUEUED_S = 300.0
"""A run that was made so long ago and never queued, was left by a killed process."""
CLOCK_SLACK_S = 5.0
"""Two processes' ideas of when a process began differ by less."""

# -- what is late, and how long things are kept

SOON_LOST_DAYS = 7
"""What an agent deletes within so many days, and is not loaded, is about to be lost."""
LATE_DAYS = 1
"""What is on disk for so long and not loaded is late."""
DAILY_AT_MOST_S = 26 * 3600.0
"""Two daily runs of Dagster lie no further apart, unless one did not take place."""
MADE_LATELY_S, MADE_LONG_AGO_S = 28 * 3600.0, 50 * 3600.0
"""A source or a mart that no run asked for or made since then is late, and failing."""
KEEP_FAILED_RUNS_S = 14 * 86_400.0
"""Dagster's failed runs are kept so long; of the others the last hundred are."""
