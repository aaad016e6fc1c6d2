"""The event log of GitHub Copilot's agent, which the CLI and VS Code write.

A stream is one session, a line is one event: `{type, id, timestamp, agentId?, data}`.
What is said and done is the same in both; runs and what they used are the CLI's alone.

Start:  `talk.py`, what the events say; `format.py` has the fields.
"""
