"""What `schleuse publish` takes from a folder, and what the commands print of what others wrote."""

from pathlib import Path
from typing import Any

import pytest

from infra.cli.options import counted, printable
from infra.cli.publish import gather, portions


def test_links_that_lead_out_of_the_folder_are_left_aside(tmp_path: Path) -> None:
    folder, outside = tmp_path / "docs", tmp_path / "outside.md"
    folder.mkdir()
    outside.write_text("# Not meant")
    (folder / "in.md").write_text("# In")
    (folder / "same.md").symlink_to(folder / "in.md")
    (folder / "out.md").symlink_to(outside)
    (folder / "broken.md").symlink_to(folder / "nothing.md")
    found = gather([folder])
    assert sorted(found.files) == ["in", "same"]
    assert [each["path"] for each in found.skipped] == ["out.md"]


def test_a_file_that_cannot_be_read_is_refused_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.md").write_text("# T")
    read = Path.read_bytes

    def guarded(path: Path) -> bytes:
        if path.name == "b.md":
            raise PermissionError(13, "Permission denied")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", guarded)
    refused: list[dict[str, Any]] = []
    [portion] = portions(gather([tmp_path]), "doc", "en", refused)
    assert [each["path"] for each in portion] == ["a", "c"]
    assert [each["path"] for each in refused] == ["b"] and "Permission denied" in refused[0]["reason"]


@pytest.mark.parametrize("trick", ["\x1b]0;owned\x07", "\x1b[2J", "\r", "\u202e", "\u200b", "\x9b31m"])
def test_what_others_wrote_does_not_steer_the_terminal(trick: str) -> None:
    assert printable(f"a{trick}ä数😀").startswith("a\ufffd") and printable("ä数😀\nb") == "ä数😀\nb"
    assert trick not in printable(trick)


def test_one_is_counted_in_the_singular() -> None:
    assert [counted(number, "item") for number in (0, 1, 2)] == ["0 items", "1 item", "2 items"]
