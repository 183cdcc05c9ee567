"""Rule 30a by the letter, independent of the product's own reading of it."""

from pathlib import Path


def page_views(path: Path) -> int:
    """GET, 200 or 304, last path segment without extension or ending in .html or .xhtml."""
    return sum(_is_view(line) for line in path.read_bytes().splitlines())


def _is_view(line: bytes) -> bool:
    parts = line.split(b'"')
    if len(parts) < 3:
        return False
    request, after = parts[1].split(b" "), parts[2].split()
    if len(request) != 3 or request[0] != b"GET" or not after or after[0] not in (b"200", b"304"):
        return False
    last = request[1].split(b"?")[0].split(b"#")[0].rsplit(b"/", 1)[-1]
    return b"." not in last or last.endswith((b".html", b".xhtml"))
