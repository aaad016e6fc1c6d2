"""`agentlake service`: what makes the machine start us by itself, printed."""

import sys
from argparse import Namespace
from collections.abc import Mapping
from xml.sax.saxutils import escape

from agentlake.pipelines.settings.settings import Settings

_SYSTEMD = """\
# Save as ~/.config/systemd/user/{name}.service, then:
#   systemctl --user daemon-reload
#   systemctl --user enable --now {name}
#   journalctl --user -u {name} -f      # what it says
#   loginctl enable-linger              # if it shall run while you are logged out
[Unit]
Description=agentlake: {about}

[Service]
ExecStart={command}
Restart=on-failure
RestartSec=10
Nice=10
UMask=0077
KillSignal=SIGINT
TimeoutStopSec=60

[Install]
WantedBy=default.target
"""
_LAUNCHD = """\
<?xml version="1.0" encoding="UTF-8"?>
<!-- Save as ~/Library/LaunchAgents/{name}.plist, then:
     launchctl bootstrap gui/$UID ~/Library/LaunchAgents/{name}.plist
     launchctl bootout gui/$UID/{name} stops it; what it says is in {log} -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN"
    "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
    <key>Label</key><string>{name}</string>
    <key>ProgramArguments</key>
    <array>
{arguments}
    </array>
    <key>RunAtLoad</key><true/>
    <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
    <key>ProcessType</key><string>Background</string>
    <key>Umask</key><integer>63</integer>
    <key>StandardErrorPath</key><string>{log}</string>
</dict>
</plist>
"""
_ABOUT = {
    "watch": "load what agents write, as they write it",
    "ui": "Dagster, which loads what agents write",
}


def run(args: Namespace, settings: Settings, environ: Mapping[str, str]) -> int:
    """Print it; nothing is installed."""
    del environ
    command = [sys.executable, "-m", "agentlake", args.what]
    if settings.config.exists():
        command += ["--config", str(settings.config)]
    if settings.is_other_home:
        command += ["--home", str(settings.home)]
    command += ["--warehouse", str(settings.warehouse)]
    manager = args.manager or ("launchd" if sys.platform == "darwin" else "systemd")
    make = launchd if manager == "launchd" else systemd
    print(make(args.what, command, settings), end="")
    return 0


def systemd(what: str, command: list[str], settings: Settings) -> str:
    """A unit for the user's own systemd."""
    del settings
    line = " ".join(map(_quoted, command))
    return _SYSTEMD.format(name=f"agentlake-{what}", about=_ABOUT[what], command=line)


def launchd(what: str, command: list[str], settings: Settings) -> str:
    """A property list for macOS."""
    arguments = "\n".join(
        f"        <string>{escape(word)}</string>" for word in command
    )
    return _LAUNCHD.format(
        name=f"agentlake.{what}",
        arguments=arguments,
        log=escape(str(settings.warehouse.with_name(f"{what}.log"))),
    )


def _quoted(word: str) -> str:
    """As systemd wants it: % and $ would be taken for its own."""
    for letter, meant in (("\\", "\\\\"), ('"', '\\"'), ("%", "%%"), ("$", "$$")):
        word = word.replace(letter, meant)
    return f'"{word}"' if " " in word else word
