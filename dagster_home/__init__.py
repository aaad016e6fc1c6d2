"""Dagster's settings for this project: `dagster.yaml`, and no code.

A module only so that the wheel takes the file along; `agentlake ui` copies it into
the DAGSTER_HOME that it makes.
"""
