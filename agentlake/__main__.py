"""Run the command line as `python -m agentlake`."""

import sys

from agentlake.pipelines.cli import main

if __name__ == "__main__":
    sys.exit(main())
