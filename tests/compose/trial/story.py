"""One publication through the containers: hand in, approve, fetch through nginx over TLS, withdraw, gone."""

import json
import time
from pathlib import Path

import httpx2

from tests.compose.trial.machine import ROOT, Failed
from tests.compose.trial.system import System
from tests.factories.edge import Through
from tests.factories.people import OWNER, PASSWORD, Person

PATH = "doc/en/guide/gate"
SAMPLES = ROOT / "tests" / "samples" / "docs" / "en"


class Outside:
    """Browsers on this machine: TLS through nginx's published port, trusting the installation's own certificate."""

    def __init__(self, system: System) -> None:
        place = json.loads(system.podman.run("volume", "inspect", f"{system.project}_edge").stdout)[0]["Mountpoint"]
        self._authority, self._port = Path(place) / "fullchain.pem", system.port

    def url(self, front: str) -> str:
        return f"https://{front}.localhost:{self._port}"

    def client(self, front: str) -> httpx2.Client:
        return httpx2.Client(base_url=self.url(front), transport=Through(self._authority, None), timeout=60)


def tell(system: System) -> list[str]:
    """What happened, one line each. Failed on the first difference."""
    outside = Outside(system)
    visitor = outside.client("site")
    before = visitor.get("/").status_code
    said = [_is(before, 403, "a fresh installation beyond loopback is off (rule 27)")]
    owner = _owner(system, outside)
    answer = owner.send("/switches/site_mode", "/me", value="open", reason="the trial publishes")
    said.append(_is(answer.status_code, 303, "the owner opens the site in the console"))
    _until(visitor, "/", 200)
    system.operator("schleuse publish /samples --kind doc --lang en", mount=(str(SAMPLES), "/samples"))
    said.append(_is(visitor.get(f"/{PATH}").status_code, 404, "handed in, it is not public"))
    system.operator(f"schleuse items decide {PATH} --verdict approve")
    seconds = _until(visitor, f"/{PATH}", 200)
    said.append(f"approved, nginx serves it over TLS ({seconds:.1f} s after the command)")
    system.operator(f"schleuse items withdraw {PATH} --reason trial")
    seconds = _until(visitor, f"/{PATH}", 410)
    said.append(f"withdrawn, it answers 410 ({seconds:.1f} s after the command)")
    said.append(
        _is(
            outside.client("workspace").get("/").status_code in (200, 303),
            True,
            "the workspace answers on its own name",
        )
    )
    return said


def still_gone(system: System) -> bool:
    """After a restart the site knows from its database what it must not show."""
    return _until(Outside(system).client("site"), f"/{PATH}", 410) >= 0


def _owner(system: System, outside: Outside) -> Person:
    said = system.operator("schleuse up --json").stdout
    link = str(json.loads(said[said.index("{") :])["owner_link"])
    owner = Person(outside.url("console"), OWNER)
    owner.http = outside.client("console")
    path = link.removeprefix(owner.base)
    answer = owner.send(path, path, name="Ada Owner", handle=OWNER, password=PASSWORD, again=PASSWORD)
    _is(answer.status_code, 303, f"the first owner signs in with the link ({link.partition('/welcome')[0]})")
    return owner


def _is(got: object, wanted: object, says: str) -> str:
    if got != wanted:
        raise Failed(f"not so: {says} (it was {got}, not {wanted})")
    return says


def _until(client: httpx2.Client, path: str, status: int, seconds: float = 60) -> float:
    started = time.monotonic()
    while (got := client.get(path).status_code) != status:
        if time.monotonic() - started > seconds:
            raise Failed(f"{path} answers {got}, not {status}, after {seconds:.0f} s")
        time.sleep(0.1)
    return time.monotonic() - started
