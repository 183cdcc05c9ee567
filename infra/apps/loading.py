"""An app's modules, imported from the bytes that were approved. Nothing of an app lies in a file."""

import sys
from collections.abc import Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class FromBytes(MetaPathFinder, Loader):
    """Finds `models`, `pages.parts` and so on among the files; an app's own modules come before everybody else's but those already loaded."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        base = fullname.replace(".", "/")
        for file, is_package in ((f"{base}/__init__.py", True), (f"{base}.py", False)):
            if file in self._files:
                return self._spec(fullname, file, is_package=is_package)
        if any(each.startswith(f"{base}/") and each.endswith(".py") for each in self._files):
            return self._spec(fullname, "", is_package=True)
        return None

    def _spec(self, fullname: str, file: str, *, is_package: bool) -> ModuleSpec:
        spec = ModuleSpec(fullname, self, origin=file or None, is_package=is_package)
        spec.loader_state = file
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        file = str(module.__spec__.loader_state)
        if file:
            exec(compile(self._files[file], f"app/{file}", "exec"), module.__dict__)  # noqa: S102 - this process is for that


def offer(files: Mapping[str, bytes]) -> None:
    """From now on this process can import them."""
    sys.meta_path.insert(0, FromBytes(files))
