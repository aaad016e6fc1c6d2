"""`main`: from words to a command, and from what it raises to an exit code."""

import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module

from agentlake.errors import UserError
from agentlake.pipelines.cli.parser import make_parser
from agentlake.pipelines.cli.standard_streams import (
    give_up_stdout,
    is_of_stdout,
    make_ready,
)
from agentlake.pipelines.cli.width import clean

OK, PROBLEMS, WRONG_USAGE, BROKEN_PIPE, INTERRUPTED = 0, 1, 2, 141, 130


def main(
    argv: Sequence[str] | None = None, environ: Mapping[str, str] | None = None
) -> int:
    """Run one command; the exit code. Both arguments default to the process's own."""
    make_ready()
    parser = make_parser()
    args, unknown = parser.parse_known_args(argv)
    if unknown:
        args.refuse(f"unrecognized arguments: {' '.join(unknown)}")
    if args.command is None:
        parser.print_help()
        return OK
    warehouse = None
    try:
        from agentlake.pipelines.settings.open import open_settings

        environ = os.environ if environ is None else environ
        settings = open_settings(
            environ, config=args.config, home=args.home, warehouse=args.warehouse
        )
        warehouse = settings.warehouse
        command = import_module(
            f"agentlake.pipelines.cli.{args.command.replace('-', '_')}"
        )
        code: int = command.run(args, settings, environ)
        sys.stdout.flush()
    except UserError as error:
        print(f"agentlake: {_cleaned(error)}", file=sys.stderr)
        return WRONG_USAGE
    except BrokenPipeError:  # `| head` has seen enough
        give_up_stdout()
        return BROKEN_PIPE
    except KeyboardInterrupt:
        print(f"\nagentlake: stopped. {_after_stop(args.command)}", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        if isinstance(error, OSError) and is_of_stdout(error):
            give_up_stdout()
            print(f"agentlake: {_not_printed(error)}", file=sys.stderr)
            return WRONG_USAGE
        from agentlake.pipelines.cli.trouble import explained

        if (text := explained(error, warehouse)) is None:
            raise
        print(f"agentlake: {clean(text)}", file=sys.stderr)
        return WRONG_USAGE
    return code


def _cleaned(error: Exception) -> str:
    """Its lines without what could steer the terminal: errors quote what was read."""
    return "\n".join(map(clean, str(error).splitlines()))


def _not_printed(error: OSError) -> str:
    return (
        f"the output could not be written: {error.strerror}. It goes where the shell"
        " sends it (`> file`); what the command did in the warehouse stays."
    )


def _after_stop(command: str) -> str:
    if command in {"load", "replay"}:
        return "What was loaded until now stays; the next load goes on from there."
    return "Nothing was changed."
