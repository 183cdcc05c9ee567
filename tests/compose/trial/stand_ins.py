"""Stand-ins for the images that would come from a registry: one minimal Debian with Python, nginx and curl, under the names that the files use."""

import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

from infra.docker import rules
from tests.compose.trial.machine import ROOT, Failed, Podman

CACHE = ROOT / ".cache" / "compose"
PACKAGES = "python3,python3-venv,ca-certificates,nginx-light,curl"
SUITE = "bookworm"
PIP = """[global]
no-index = true
find-links = /wheels
"""


def base(home: Path) -> tuple[Path, bool]:
    """(tar of the minimal Debian, whether it was there already)."""
    tar = CACHE / f"{SUITE}-{hashlib.sha256(PACKAGES.encode()).hexdigest()[:8]}.tar"
    if tar.exists():
        return tar, True
    CACHE.mkdir(parents=True, exist_ok=True)
    root = home / "base"
    done = subprocess.run(
        ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", SUITE, str(root)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Failed(f"debootstrap: {done.stdout.strip()[-800:]}")
    (root / "usr/local/bin/python").symlink_to("/usr/bin/python3")
    for left in (root / "var/cache/apt/archives", root / "var/lib/apt/lists"):
        shutil.rmtree(left, ignore_errors=True)
    new = tar.with_suffix(".new")
    subprocess.run(["tar", "-C", str(root), "--exclude=./dev/*", "-cf", str(new), "."], check=True)
    new.rename(tar)
    shutil.rmtree(root, ignore_errors=True)
    return tar, False


def names() -> list[str]:
    """What the Dockerfile and the compose file call the images that they take from elsewhere."""
    dockerfile = (ROOT / "infra/docker/Dockerfile").read_text()
    found = re.findall(r"^ARG PYTHON=(\S+)", dockerfile, re.M)
    return [*found, str(rules.load()["services"]["nginx"]["image"])]


def load(podman: Podman, tar: Path) -> None:
    first, *others = names()
    podman.run("import", "-q", str(tar), first)
    for name in others:
        podman.run("tag", first, name)


def wheels() -> tuple[Path, bool]:
    """(folder with every locked package, whether it was there already). Fetched the way this machine's pip is set up."""
    lock = ROOT / "infra/requirements/run.txt"
    folder = CACHE / f"wheels-{hashlib.sha256(lock.read_bytes()).hexdigest()[:12]}"
    if folder.exists():
        return folder, True
    new = folder.with_name(".new-wheels")
    shutil.rmtree(new, ignore_errors=True)
    pip = ["sh", str(ROOT / "infra/local/pip.sh"), str(Path(sys.prefix)), "download", "--quiet", "--dest", str(new)]
    for more in (
        ["--no-deps", "--require-hashes", "-r", str(lock)],
        ["setuptools", "wheel"],
    ):  # one package is built, which needs these two
        done = subprocess.run([*pip, *more], capture_output=True, text=True, check=False)
        if done.returncode:
            raise Failed(f"fetching packages: {done.stderr.strip()[-800:]}")
    new.rename(folder)
    return folder, False


def tool() -> Path:
    """podman-compose of a pinned version. Debian's 1.0.3 passes over fixed addresses, groups, conditions, profiles and times to stop."""
    lock = ROOT / "infra/docker/compose-test.txt"
    folder = CACHE / f"tool-{hashlib.sha256(lock.read_bytes()).hexdigest()[:12]}"
    program = folder / "bin" / "podman-compose"
    if not program.exists():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run(
            ["sh", str(ROOT / "infra/local/make-venv.sh"), str(folder)], check=True, stdout=subprocess.DEVNULL
        )
        pip = [
            "sh",
            str(ROOT / "infra/local/pip.sh"),
            str(folder),
            "install",
            "--quiet",
            "--no-deps",
            "--require-hashes",
            "-r",
            str(lock),
        ]
        subprocess.run(pip, check=True, stderr=subprocess.DEVNULL)
    return program


def build_options(home: Path, packages: Path) -> list[str]:
    """For podman build: packages from the folder, and no network at all."""
    (home / "pip.conf").write_text(PIP)
    return ["--network", "none", "-v", f"{home / 'pip.conf'}:/etc/pip.conf:ro", "-v", f"{packages}:/wheels:ro"]
