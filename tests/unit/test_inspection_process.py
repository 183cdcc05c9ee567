"""The process around the checks: it can do nothing, it takes two seconds at most, and when it fails nothing passes (S14)."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from schemas.content import ItemContent
from services.bridge.inspection import Inspection, Inspector
from shared.markup import parse_source
from tests.factories.documents import real_input
from tests.factories.fingerprints import VALUE, Fixed, known


@pytest_asyncio.fixture
async def inspector() -> AsyncIterator[Inspector]:
    found = Inspector(Fixed(VALUE))
    await found.start()
    yield found
    await found.stop()


async def inspect(inspector: Inspector, body: str = "words", prior: str | None = None) -> Inspection:
    return await inspector.inspect(ItemContent(title="A title", body=body), "doc", "en", prior)


async def test_an_ordinary_text_passes(inspector: Inspector) -> None:
    found = await inspect(inspector)
    assert found.findings == () and not found.blocked


async def test_a_private_key_is_blocked(inspector: Inspector) -> None:
    found = await inspect(inspector, "-----BEGIN PRIVATE KEY-----")
    assert found.blocked and [each.rule for each in found.findings] == ["private_key"]


async def test_too_much_content_is_blocked(inspector: Inspector) -> None:
    found = await inspect(inspector, "x" * (600 * 1024))
    assert found.blocked and "524288" in found.findings[0].message


def read(pid: int | None, name: str) -> str:
    return Path(f"/proc/{pid}/{name}").read_text()


def limits_of(pid: int | None) -> dict[str, tuple[str, str]]:
    rows = read(pid, "limits").splitlines()[1:]
    return {row[:26].strip(): (row[26:47].strip(), row[47:68].strip()) for row in rows}


async def test_the_child_has_no_rights(inspector: Inspector) -> None:
    limits = limits_of(inspector.pid)
    assert limits["Max address space"] == ("536870912", "536870912")
    assert limits["Max open files"] == ("3", "3")
    assert limits["Max file size"] == ("0", "0")
    assert limits["Max core file size"] == ("0", "0")
    assert limits["Max processes"] == ("0", "0")
    assert "NoNewPrivs:\t1" in read(inspector.pid, "status")


async def test_the_child_inherits_nothing(
    inspector: Inspector, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_BRIDGE", "x")
    with (tmp_path / "gate.key").open("w+") as key:
        os.set_inheritable(key.fileno(), True)
        await inspector.stop()
        await inspector.start()
        found = Path(f"/proc/{inspector.pid}")
        if os.geteuid() == 0:
            assert b"SECRET_OF_THE_BRIDGE" not in (found / "environ").read_bytes()
            assert {each.name for each in (found / "fd").iterdir()} <= {"0", "1", "2"}


async def test_a_stopped_child_blocks_and_the_next_text_passes(inspector: Inspector) -> None:
    assert inspector.pid is not None
    os.kill(inspector.pid, signal.SIGSTOP)
    began = time.monotonic()
    found = await inspect(inspector)
    assert 1.9 < time.monotonic() - began < 8
    assert found.blocked and [each.rule for each in found.findings] == ["inspection_failed"]
    assert "2 s" in found.findings[0].message
    assert not (await inspect(inspector)).blocked


async def test_a_child_killed_at_work_blocks_and_the_next_text_passes(inspector: Inspector) -> None:
    pid = inspector.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    work = asyncio.create_task(inspect(inspector))
    await asyncio.sleep(0)
    os.kill(pid, signal.SIGKILL)
    found = await work
    assert found.blocked and "ended" in found.findings[0].message
    assert not (await inspect(inspector)).blocked
    assert inspector.pid != pid


async def test_a_child_that_died_idle_is_replaced(inspector: Inspector) -> None:
    pid = inspector.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert inspector._child is not None
    await inspector._child.wait()
    assert not (await inspect(inspector)).blocked


async def test_a_text_that_takes_too_long_blocks() -> None:
    hasty = Inspector(Fixed(), seconds=0.2)
    await hasty.start()
    try:
        found = await inspect(hasty, "|a|b|\n|-|-|\n" + "|1|2|\n" * 60_000)
        assert found.blocked and found.ms < 5_000
        assert not (await inspect(hasty)).blocked
    finally:
        await hasty.stop()


async def test_a_cancelled_inspection_leaves_no_answer_for_the_next(inspector: Inspector) -> None:
    assert inspector.pid is not None
    os.kill(inspector.pid, signal.SIGSTOP)
    work = asyncio.create_task(inspect(inspector, "-----BEGIN PRIVATE KEY-----"))
    await asyncio.sleep(0)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert (await inspect(inspector)).findings == ()


async def test_texts_at_the_same_time_get_their_own_answers(inspector: Inspector) -> None:
    bodies = ["words", "-----BEGIN PRIVATE KEY-----"] * 10
    found = await asyncio.gather(*(inspect(inspector, body) for body in bodies))
    assert [each.blocked for each in found] == [False, True] * 10


async def test_the_child_ends_with_its_input(inspector: Inspector) -> None:
    pid = inspector.pid
    await inspector.stop()
    assert inspector.pid is None
    with pytest.raises(FileNotFoundError):
        read(pid, "status")


def cpu_seconds(pid: int | None) -> float:
    user, system = read(pid, "stat").rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


async def test_the_real_pages_pass_quickly(inspector: Inspector) -> None:
    files = sorted((real_input() / "docs").glob("*/**/*.md"))
    began = cpu_seconds(inspector.pid)
    for source in [parse_source(file.read_text(encoding="utf-8")) for file in files]:
        assert not (await inspect(inspector, source.body)).blocked
    assert len(files) == 120 and cpu_seconds(inspector.pid) - began < 6


async def test_a_value_of_our_own_secrets_is_blocked_and_named_nowhere(inspector: Inspector) -> None:
    found = await inspect(inspector, f"words\n\nuse {VALUE} there")
    assert found.blocked and [
        (each.rule, each.line, each.excerpt) for each in found.findings if each.level == "block"
    ] == [("own_secret", 3, "")]
    assert VALUE[:4] not in repr(found)


async def test_what_is_known_changes_while_the_child_runs() -> None:
    source = Fixed()
    inspector = Inspector(source)
    await inspector.start()
    try:
        assert not (await inspect(inspector, VALUE)).blocked, "nobody has put it yet"
        child, source.now = inspector.pid, known(VALUE)
        assert (await inspect(inspector, VALUE)).blocked and inspector.pid == child
        os.kill(child or 0, signal.SIGKILL)
        assert inspector._child is not None
        await inspector._child.wait()
        assert (await inspect(inspector, VALUE)).blocked, "the next child is told, too"
        source.now = "the newest set is old"
        found = await inspect(inspector, "words")
        assert found.blocked and [each.rule for each in found.findings] == ["secrets_unknown"]
        assert "the newest set is old" in found.findings[0].message
    finally:
        await inspector.stop()
