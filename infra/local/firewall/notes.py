"""Which rules were put in by whom, written down where it lives as long as the rules do: until the machine starts anew.

A supervisor that was killed, and whose state directory is then removed, leaves rules behind that no later start of it would take away.
"""

import json
import os
from contextlib import suppress
from pathlib import Path

from infra.local import folders, place
from infra.local.config import Config
from infra.local.firewall.choice import backend
from infra.local.firewall.rules import Rules
from infra.local.layout import Layout
from shared.errors import Refused

NOTES = Path("/run/schleuse-firewall")


def note(rules: Rules, layout: Layout, tool: str) -> None:
    """Before the rules are put in. Refused when the folder is not ours alone."""
    try:
        folders.folder(NOTES, 0o700, (os.getuid(), os.getgid()))
        folders.write(NOTES / rules.name, json.dumps({"state": str(layout.state), "tool": tool}), 0o600)
    except OSError as error:
        raise Refused(f"{NOTES} cannot be written: {error.strerror}", code="firewall") from None


def forget(name: str) -> None:
    with suppress(OSError):
        (NOTES / name).unlink()


def sweep(config: Config) -> list[str]:
    """Take away the rules of installations that do not run any more; the names of those."""
    if not NOTES.is_dir():
        return []
    names = [
        each.name
        for each in NOTES.iterdir()
        if not each.name.startswith(".") and config.install_id[:12] not in each.name
    ]
    return [name for name in names if _took_away(name)]


def _took_away(name: str) -> bool:
    with suppress(OSError, ValueError, KeyError, Refused):
        said = json.loads((NOTES / name).read_text())
        tool = backend(said["tool"])
        if tool is None or place.held(Layout(Path(said["state"]))):
            return False
        tool.take_away(Rules(name, {}))
        forget(name)
        return True
    return False
