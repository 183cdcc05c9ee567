"""Which interpreter and which copy of the code the services run.

Usually the checkout itself. When the services' OS users cannot read it or execute the interpreter (a checkout or a Python under a 0700 home), a readable
copy is made under DIR/runtime and used instead. Whether they can is found out by trying, as one of them.
"""

import compileall
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from infra.local.layout import Layout
from infra.nats.locate import server as nats_server
from infra.postgres.locate import bin_folder
from shared.errors import Refused

PACKAGES = ("services", "shared", "schemas", "infra")
DEVELOPMENT_ONLY = {
    "playwright",
    "mypy",
    "mypyc",
    "hypothesis",
    "_hypothesis_ftz_detector",
    "pip",
    "setuptools",
    "_pytest",
    "pytest",
    "ruff",
    "grimp",
}
NOT_COPIED = (
    "__pycache__",
    "test",
    "tests",
    "idlelib",
    "site-packages",
    "dist-packages",
    "ensurepip",
    "lib2to3",
    "turtledemo",
)
COPY_FORM = "2"
"""Raised when copies must be made anew although the originals did not change."""
PROBE = "import os,sys; sys.exit(0 if all(os.access(p, os.X_OK if x == 'x' else os.R_OK) for x, p in (a.split(':', 1) for a in sys.argv[1:])) else 3)"


@dataclass(frozen=True)
class Runtime:
    """`python` runs the services with `path` as PYTHONPATH, in the folder `code`; `nats` is the NATS server."""

    python: Path
    code: Path
    path: str
    nats: Path
    copied: bool


def here(*, servers: bool = True) -> Runtime:
    """The interpreter and code that are running now. `servers`: whether it must be able to run them, too. Refused when it cannot."""
    code = Path(__file__).resolve().parents[2]
    return Runtime(Path(sys.executable), code, str(code), nats_server() if servers else Path(), copied=False)


def choose(layout: Layout, uid: int, gid: int) -> Runtime:
    """The running code if the OS user `uid` can run it, else a copy that it can."""
    original = here()
    compile_code(original.code)
    if uid == os.getuid() or _usable(original, uid, gid):
        return original
    return _copy(layout, original, uid, gid)


def compile_code(code: Path) -> None:
    """Compile what changed, because the services cannot write beside the code and would compile everything at each start."""
    if os.access(code, os.W_OK):
        for package in PACKAGES:
            compileall.compile_dir(code / package, quiet=2)


def _usable(runtime: Runtime, uid: int, gid: int) -> bool:
    readable = [f"r:{runtime.code / package / '__init__.py'}" for package in PACKAGES]
    readable += [f"r:{_site_packages() / name / '__init__.py'}" for name in ("asyncpg", "nats", "pydantic")]
    executable = [f"x:{runtime.nats}", f"x:{bin_folder() / 'postgres'}"]
    return _runs(uid, gid, runtime.python, [*readable, *executable])


def _runs(uid: int, gid: int, python: Path, arguments: list[str]) -> bool:
    """Whether that OS user can run this interpreter, and the interpreter finds what it is asked about."""
    setpriv = shutil.which("setpriv") or "/usr/bin/setpriv"
    command = [
        setpriv,
        f"--reuid={uid}",
        f"--regid={gid}",
        "--clear-groups",
        "--",
        str(python),
        "-c",
        PROBE,
        *arguments,
    ]
    clean = {"PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, capture_output=True, check=False, cwd="/", env=clean, timeout=30)  # noqa: S603 - the interpreter under test
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _site_packages() -> Path:
    return Path(sysconfig.get_path("purelib"))


def _copy(layout: Layout, original: Runtime, uid: int, gid: int) -> Runtime:
    layout.runtime.mkdir(mode=0o755, exist_ok=True)
    code, site, tools = layout.runtime / "code", layout.runtime / "site-packages", layout.runtime / "bin"
    _refresh(code, original.code, PACKAGES, _files_of(original.code))
    _refresh(site, _site_packages(), _run_time_packages(), _site_packages().glob("*.dist-info/RECORD"))
    _refresh(tools, original.nats.parent, (original.nats.name,), (original.nats,))
    python = _interpreter(layout, uid, gid)
    return Runtime(python, code, f"{code}:{site}", tools / original.nats.name, copied=True)


def _run_time_packages() -> list[str]:
    return sorted(
        entry.name for entry in _site_packages().iterdir() if entry.name not in (*DEVELOPMENT_ONLY, "__pycache__")
    )


def _files_of(code: Path) -> Iterator[Path]:
    for package in PACKAGES:
        yield from (path for path in (code / package).rglob("*") if path.suffix != ".pyc" and path.is_file())


def _refresh(target: Path, source: Path, names: Iterable[str], telling: Iterable[Path]) -> None:
    """Copy when one of the telling files changed since the last copy; the old copy stays until the new one is complete."""
    stamp = _fingerprint(telling)
    mark = target.with_name(f"{target.name}.stamp")
    if target.exists() and mark.exists() and mark.read_text() == stamp:
        return
    new, old = target.with_name(f".new-{target.name}"), target.with_name(f".old-{target.name}")
    for leftover in (new, old):
        shutil.rmtree(leftover, ignore_errors=True)
    new.mkdir(mode=0o755)
    for name in names:
        _copy_readable(source / name, new / name)
    if target.exists():
        target.rename(old)
    new.rename(target)
    shutil.rmtree(old, ignore_errors=True)
    mark.write_text(stamp)


def _fingerprint(files: Iterable[Path]) -> str:
    found = hashlib.sha256(COPY_FORM.encode())
    for path in sorted(files):
        status = path.stat()
        found.update(f"{path}\0{status.st_mtime_ns}\0{status.st_size}\n".encode())
    return found.hexdigest()


def _copy_readable(source: Path, target: Path, ignored: tuple[str, ...] = ()) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns(*ignored), copy_function=_copy_file)
        for folder in [target, *(path for path in target.rglob("*") if path.is_dir())]:
            folder.chmod(0o755)
    else:
        _copy_file(source, target)


def _copy_file(source: str | Path, target: str | Path) -> str:
    """With its time, which compiled files name to say what they were made from."""
    shutil.copyfile(source, target)
    made = Path(source).stat()
    os.utime(target, ns=(made.st_atime_ns, made.st_mtime_ns))
    Path(target).chmod(0o755 if os.access(source, os.X_OK) else 0o644)
    return str(target)


def _interpreter(layout: Layout, uid: int, gid: int) -> Path:
    """One of the same version (compiled packages need it) that the services' users can execute: the system's, or a copy of ours."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    base = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    for candidate in (base, Path("/usr/bin") / name, Path("/usr/local/bin") / name):
        if candidate.exists() and _runs(uid, gid, candidate, []):
            return candidate
    target = layout.runtime / "python"
    if not (target / "bin" / name).exists():
        _copy_interpreter(target, base, name)
    if not _runs(uid, gid, target / "bin" / name, []):
        raise Refused(
            f"the services' OS users can run neither {base} nor a copy of it; use the distribution's Python for `make setup`",
            code="interpreter",
        )
    return target / "bin" / name


def _copy_interpreter(target: Path, base: Path, name: str) -> None:
    new = target.with_name(".new-python")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(mode=0o755)
    (new / "bin").mkdir(mode=0o755)
    (new / "lib").mkdir(mode=0o755)
    _copy_file(base, new / "bin" / name)
    library = Path(sys.base_prefix) / "lib"
    for shared in library.glob("libpython*.so*"):
        _copy_file(shared, new / "lib" / shared.name)
    _copy_readable(library / name, new / "lib" / name, NOT_COPIED)
    new.rename(target)
