"""Steps below an owner's folder, each by open descriptors (`memory.beneath`). All of it blocks: it runs in threads, what changes something while the
workspace's lock is held."""

import os
import shutil
import stat
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime

from services.agent.files.domain import FOLDERS, How, Row, check_room
from services.agent.files.incoming import Incoming
from services.agent.files.opened import Opened
from services.agent.memory import beneath
from services.agent.memory.domain import DEEPEST, LONGEST_NAME, numbered
from services.agent.memory.names import alike, check_file, check_new, is_mixed
from shared.errors import Conflict, NotFound, Refused

MOST_NUMBERED = 1000
Parts = tuple[str, ...]


def open_plain(home: int | None, parts: Parts) -> Opened:
    """A plain file below `home`, to be closed. NotFound, Refused."""
    with beneath.folder(_there(home), parts[:-1]) as at:
        descriptor = beneath.open_file(at, beneath.resolve(at, parts[-1]), os.O_RDONLY)
    facts = os.fstat(descriptor)
    return Opened("/".join(parts), descriptor, facts.st_size, facts.st_mtime)


def used(home: int | None) -> tuple[int, int]:
    """Files, and their bytes."""
    sizes = [] if home is None else [each.size for each in beneath.walk(home)]
    return len(sizes), sum(sizes)


def look(home: int | None, parts: Parts) -> list[tuple[str, os.stat_result]]:
    """What lies in a folder: files and folders, and nothing that begins with a dot. NotFound; the top, and a folder that every workspace has, may
    be missing."""
    if home is None or (len(parts) == 1 and parts[0] in FOLDERS and not beneath.exists(home, parts[0])):
        if parts and parts[0] not in FOLDERS:
            raise NotFound("There is no such folder.", code="folder")
        return []
    with beneath.folder(home, parts) as at:
        found = [(each.name, each.stat(follow_symlinks=False)) for each in os.scandir(at) if each.name[0] != "."]
    return [each for each in found if stat.S_ISDIR(each[1].st_mode) or stat.S_ISREG(each[1].st_mode)]


def rows(found: Sequence[tuple[str, os.stat_result]], parts: Parts, marked: set[str]) -> list[Row]:
    """As they are shown: names composed, no two the same."""
    known: dict[str, Row] = {} if parts else {name: Row(name, name, True, about=FOLDERS[name]) for name in FOLDERS}
    for raw, facts in found:
        name = unicodedata.normalize("NFC", raw.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
        path, is_folder = "/".join((*parts, name)), stat.S_ISDIR(facts.st_mode)
        changed = datetime.fromtimestamp(facts.st_mtime, UTC)
        size = 0 if is_folder else facts.st_size
        about = "" if parts else FOLDERS.get(name, "")
        known[name] = Row(path, name, is_folder, size, changed, path in marked, is_mixed(name), about)
    return sorted(known.values(), key=lambda row: (not row.is_folder, row.name.casefold(), row.name))


def make(home: int, parts: Parts) -> None:
    with beneath.folder(home, parts[:-1], make=True) as at:
        if taken(at, parts[-1]):
            raise Conflict(f"There is already something called {parts[-1]!r}; nothing was made.", code="taken")
        os.close(beneath.open_folder(at, parts[-1], make=True))


def choose(home: int, parts: Parts, how: How, size: int) -> Parts:
    """The path that a new file gets; what is in its way goes only with `replace`, and only a plain file does."""
    check_room(*used(home), size)
    with beneath.folder(home, parts[:-1], make=True) as at:
        name = beneath.resolve(at, parts[-1])
        if how == "replace" and beneath.exists(at, name):
            os.close(beneath.open_file(at, name, os.O_RDONLY))
            return (*parts[:-1], name)
        return (*parts[:-1], free(at, parts[-1]) if how != "refuse" else _only(at, parts[-1]))


def give_name(home: int, coming: Incoming, parts: Parts) -> None:
    with beneath.folder(home, parts[:-1], make=True) as at:
        os.rename(coming.name, parts[-1], src_dir_fd=home, dst_dir_fd=at)
        os.fsync(at)
    os.fsync(home)


def plan_move(home: int, parts: Parts, wanted: Parts, how: How) -> Parts:
    """Where it will lie. NotFound, Refused (into itself), Conflict."""
    with beneath.folder(home, parts[:-1]) as at:
        facts = _facts(at, parts[-1])
    if stat.S_ISDIR(facts.st_mode) and wanted[: len(parts)] == parts:
        raise Refused("A folder cannot be moved into itself; nothing was moved.", code="name")
    if _is_folder(home, wanted) or (len(wanted) == 1 and wanted[0] in FOLDERS):
        wanted = check_new("/".join((*wanted, parts[-1])))
    if wanted == parts:
        raise Conflict(f"It is called {'/'.join(parts)} already.", code="taken")
    if stat.S_ISDIR(facts.st_mode) and len(wanted) + _depth(home, parts) > DEEPEST:
        raise Refused(f"Folders are at most {DEEPEST} deep; nothing was moved.", code="name")
    with beneath.folder(home, wanted[:-1], make=True) as at:
        if how == "replace" and stat.S_ISREG(facts.st_mode) and beneath.exists(at, wanted[-1]):
            os.close(beneath.open_file(at, wanted[-1], os.O_RDONLY))
            return wanted
        if stat.S_ISREG(facts.st_mode):
            check_file(wanted)
        return (*wanted[:-1], free(at, wanted[-1]) if how == "number" else _only(at, wanted[-1], parts[-1]))


def move(home: int, parts: Parts, to: Parts) -> None:
    with beneath.folder(home, parts[:-1]) as source, beneath.folder(home, to[:-1], make=True) as target:
        os.rename(beneath.resolve(source, parts[-1]), to[-1], src_dir_fd=source, dst_dir_fd=target)
        os.fsync(target)
        os.fsync(source)


def delete(home: int, parts: Parts, everything: bool) -> int:
    """Links and whatever else somebody put there are not followed; they go as they are."""
    with beneath.folder(home, parts[:-1]) as at:
        name = beneath.resolve(at, parts[-1])
        if not stat.S_ISDIR(_facts(at, name).st_mode):
            os.unlink(name, dir_fd=at)
            os.fsync(at)
            return 1
        with beneath.folder(at, [name]) as below:
            count = sum(1 for _ in beneath.walk(below))
            with os.scandir(below) as found:
                is_empty = next(found, None) is None
        if not everything and not is_empty:
            raise Refused(f"{'/'.join(parts)} holds {count} file{'' if count == 1 else 's'}; say that all of it is to go.", code="not_empty")  # fmt: skip
        shutil.rmtree(name, dir_fd=at)
        os.fsync(at)
    return count


def free(at: int, name: str) -> str:
    """The name, or `name (2).ext` and so on."""
    lying = {alike(each) for each in os.listdir(at)}
    for number in range(1, MOST_NUMBERED):
        chosen = name if number == 1 else _within(name, number)
        if alike(chosen) not in lying:
            return check_new(chosen)[0]
    raise Refused(f"There are {MOST_NUMBERED} files of that name already.", code="name")


def _within(name: str, number: int) -> str:
    """`name (2).ext`, with a shorter name where it would be too long."""
    stem, dot, ending = name.rpartition(".")
    kept, rest = (stem, dot + ending) if stem else (name, "")
    while len(numbered(kept + rest, number).encode()) > LONGEST_NAME and len(kept) > 1:
        kept = kept[:-1]
    return numbered(kept.rstrip() + rest, number)


def taken(at: int, name: str) -> bool:
    """Whether something has that name, or one that looks the same."""
    wanted = alike(name)
    return any(alike(each) == wanted for each in os.listdir(at))


def _only(at: int, name: str, but: str = "") -> str:
    if taken(at, name) and alike(but) != alike(name):
        raise Conflict(f"There is already something called {name!r}; nothing was changed.", code="taken")
    return name


def _there(home: int | None) -> int:
    if home is None:
        raise NotFound("There is no such file.", code="file")
    return home


def _depth(home: int, parts: Parts) -> int:
    """How deep folders and files in a folder lie below it; DEEPEST when it is deeper."""
    deepest, waiting = 0, [parts]
    while waiting and deepest < DEEPEST:
        here = waiting.pop()
        with beneath.folder(home, here) as at:
            found = [(each.name, each.is_dir(follow_symlinks=False)) for each in os.scandir(at)]
        deepest = max(deepest, len(here) - len(parts) + bool(found))
        waiting += [(*here, name) for name, is_folder in found if is_folder]
    return deepest


def _facts(at: int, name: str) -> os.stat_result:
    with suppress(FileNotFoundError):
        return os.stat(beneath.resolve(at, name), dir_fd=at, follow_symlinks=False)
    raise NotFound("There is no such file.", code="file")


def _is_folder(home: int, parts: Parts) -> bool:
    with suppress(FileNotFoundError, NotADirectoryError), beneath.folder(home, parts):
        return True
    return False
