"""Code of apps is shut in: whatever it tries, the kernel says no, and the answer is the app's own failure (S4)."""

import os
import platform
from collections.abc import Iterator
from typing import Any

import pytest

from infra.apps import landlock
from tests.factories.apps import app_of, asked, load, page, process

pytestmark = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "aarch64"), reason="code of apps runs on x86-64 and aarch64 only"
)

PAGES = """
import os, sys, json, socket, subprocess, threading, signal
from schleuse_app import page, file, template

TRIES = {
    "open a key": lambda: open(os.environ.get("KEY", "/etc/shadow")).read(),
    "list the state": lambda: os.listdir("/tmp"),
    "read another process": lambda: os.listdir("/proc"),
    "write a file": lambda: open("/tmp/apps-was-here", "w"),
    "fill the disk": lambda: os.open("/tmp/apps-was-here", os.O_CREAT | os.O_WRONLY),
    "delete a file": lambda: os.unlink("/tmp/apps-was-here"),
    "make a folder": lambda: os.mkdir("/tmp/apps-was-here"),
    "link": lambda: os.symlink("/etc", "/tmp/apps-was-here"),
    "reach the network": lambda: socket.create_connection(("127.0.0.1", 1)),
    "answer another app's socket": lambda: socket.socket(socket.AF_UNIX),
    "fork": os.fork,
    "start a program": lambda: subprocess.run(["true"]),
    "kill its neighbours": lambda: os.kill(-1, signal.SIGTERM),
    "look at its parent": lambda: os.kill(os.getppid(), 0),
    "give itself more": lambda: __import__("resource").prlimit(0, __import__("resource").RLIMIT_NOFILE, (9999, 9999)),
    "take memory": lambda: bytearray(2 * 1024**3),
    "leave its namespace": lambda: __import__("ctypes").CDLL(None, use_errno=True).unshare(0x10000000) and (_ for _ in ()).throw(OSError(1, "refused")),
}


@page("tries")
async def tries(request, db):
    found = {}
    for name, act in TRIES.items():
        try:
            act()
        except BaseException as error:
            found[name] = type(error).__name__
        else:
            found[name] = "DONE"
    return json.dumps(found)


@page("thread")
async def thread(request, db):
    said = []
    each = threading.Thread(target=said.append, args=(1,))
    each.start()
    each.join()
    return str(said)


@page("huge")
async def huge(request, db):
    return "x" * 3_000_000


@page("raises")
async def raises(request, db):
    raise ValueError("the page's own \\ud800 fault")


@page("exits")
async def exits(request, db):
    sys.exit(3)


@page("prints")
async def prints(request, db):
    for _ in range(200_000):
        print("x" * 50)
    raise RuntimeError("after much")
"""


@pytest.fixture(scope="module")
def hostile() -> Iterator[Any]:
    with process() as found:
        assert load(found, app_of(pages=PAGES))["pages"] == ["exits", "huge", "prints", "raises", "thread", "tries"]
        yield found


def test_nothing_of_the_machine_is_reached(hostile: Any) -> None:
    import json  # noqa: PLC0415

    answer = page(hostile, "tries")
    found = json.loads(answer["html"])
    allowed = {name for name, how in found.items() if how == "DONE"}
    if not landlock.version():  # the kernel limits no reading here, and `status` says so
        allowed -= {"list the state", "read another process"}
    assert allowed == set()
    assert not os.path.lexists("/tmp/apps-was-here")


def test_threads_and_the_next_page_go_on(hostile: Any) -> None:
    for path in ("raises", "exits", "huge"):
        assert page(hostile, path)["op"] == "failed"
    assert page(hostile, "thread")["html"] == "[1]"


def test_what_it_prints_is_kept_in_part(hostile: Any) -> None:
    answer = page(hostile, "prints")
    assert "after much" in answer["reason"] and 1000 < len(answer["output"]) <= 64 * 1024


def test_a_fault_names_its_place_and_no_path_of_the_machine(hostile: Any) -> None:
    reason = page(hostile, "raises")["reason"]
    assert "app/pages.py:" in reason and "/work" not in reason


def test_another_folder_than_the_approved_one_is_not_run() -> None:
    files = app_of(pages="raise SystemExit('ran')")
    with process() as found:
        answer = load(found, files, approved="0" * 64)
        assert answer == {"op": "failed", "reason": "the folder is not the one that was approved"}
        assert asked(found, {"op": "page", "path": "", "query": {}, "lang": "en"})["op"] == "failed"


def test_code_that_cannot_be_loaded_says_why() -> None:
    with process() as found:
        answer = load(found, app_of(models="import nothing_of_that_name"))
        assert "nothing_of_that_name" in answer["reason"] and "app/models.py:1" in answer["reason"]
