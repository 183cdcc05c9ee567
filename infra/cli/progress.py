"""What a terminal shows while everything starts and runs."""

import sys
from typing import Any

from rich.console import Console
from rich.markup import escape

from infra.local.config import Config


class Progress:
    """Takes the supervisor's events. Each step shows its time when the next one begins; without a terminal, plain lines."""

    def __init__(self, *, quiet: bool) -> None:
        self._out = Console(file=sys.stderr, highlight=False, soft_wrap=True)
        self._quiet = quiet
        self._failed = False
        self._step: tuple[str, float] | None = None
        self._status = None if quiet or not self._out.is_terminal else self._out.status("")

    def __call__(self, event: dict[str, Any]) -> None:
        if self._quiet:
            return
        self._failed = self._failed or event["kind"] == "failed"
        self._finish(event["at"], failed=event["kind"] == "failed")
        if event["kind"] == "step":
            self._begin(event)
        elif event["kind"] == "notice":
            self._out.print(f"[yellow]·[/] {escape(event['text'])}")
        elif event["kind"] == "ready" or (event["kind"] == "stopped" and not self._failed):
            self.close()
            took = f" [dim]({event['at']:.1f} s)[/]" if event["kind"] == "ready" else ""
            self._out.print(f"[green]✓[/] {escape(event['text'])}{took}")

    def close(self) -> None:
        if self._status is not None:
            self._status.stop()

    def _begin(self, event: dict[str, Any]) -> None:
        self._step = (event["text"], event["at"])
        if self._status is not None:
            self._status.update(escape(event["text"]))
            self._status.start()

    def _finish(self, at: float, *, failed: bool) -> None:
        if self._step is not None:
            name, began = self._step
            sign = "[red]✗[/]" if failed else "[green]✓[/]"
            self._out.print(f"{sign} {escape(name)} [dim]{at - began:.1f} s[/]")
            self._step = None


def announce(config: Config | None, link: str | None, *, foreground: bool) -> None:
    """The addresses, the one-time link and what separates the parts."""
    if config is None:
        return
    out = Console(highlight=False, soft_wrap=True)
    for name, about in (("console", "Console"), ("site", "Site"), ("workspace", "Workspace")):
        out.print(f"  {about:<10} [bold]{escape(config.urls[name])}[/]")
    if link:
        out.print(f"  {'Sign in':<10} [bold]{escape(link)}[/]  [dim](open this link once to become the owner)[/]")
    out.print(f"  {'OS users':<10} {_separation(config)}")
    out.print(
        f"  {'Egress':<10} {'only connectors may leave this machine' if config.egress_separation else 'not separated: any part may leave this machine'}"
    )
    if foreground:
        out.print("  [dim]Ctrl-C stops everything.[/]")


def _separation(config: Config) -> str:
    if config.os_separation:
        return "[green]on[/]: every part runs as an OS user of its own"
    return "[yellow]off[/]: everything runs as one OS user; start it as root to separate the parts"
