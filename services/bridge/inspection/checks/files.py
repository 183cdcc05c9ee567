"""What an attachment is, and what its text says: bytes must be what their name tells, and hold nothing that a reader's program would run."""

import html
import io
import re
import zipfile
import zlib
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from schemas.bridge.v1 import Finding
from shared.attachments import OFFICE, PICTURES, variant_of
from shared.pictures import NoPicture, check_picture

PLACE = "attachment"
MOST_TEXT = 2 * 1024 * 1024
"""Bytes of an attachment's text that are looked at; what has more is stopped, for nobody could tell what the rest says."""
_STREAM = re.compile(rb"stream\r?\n(.*?)\r?\n?endstream", re.DOTALL)
_STRING = re.compile(rb"\(((?:[^()\\]|\\.)*)\)|<([0-9A-Fa-f\s]+)>", re.DOTALL)
_RUNS = re.compile(rb"/(?:JavaScript|JS|Launch|EmbeddedFiles?|OpenAction|AA|RichMedia|SubmitForm|ImportData|XFA)\b")
_PART = re.compile(r"^(?:word|xl|ppt|docProps|customXml)/.*\.xml$")
_ACTIVE_PART = re.compile(r"vbaProject|activeX|embeddings|\.bin$|externalLink", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
_BREAK = re.compile(r"</(?:w:p|a:p|si|row|c)>")


@dataclass(frozen=True)
class Opened:
    """`place`: what findings call it. `text`: all that could be read; empty for pictures."""

    place: str
    text: str
    findings: tuple[Finding, ...]


class _Stopped(Exception):
    """Why it cannot pass."""


def open_file(said: dict[str, Any]) -> Opened:
    """`said`: a content's attachment, with `data` in base64."""
    place, raw = f"{PLACE} {said['name']}", b64decode(said["data"])
    found = list[Finding]()
    try:
        text = _read(said, raw)
    except _Stopped as fault:
        return Opened(place, "", (_finding("block", place, str(fault)),))
    if said["media_type"] == "application/pdf":
        found.append(_finding("check", place, "The text of a PDF is read as well as that can be done; look at it"))
    elif said["media_type"] in PICTURES.values() and not variant_of(said["name"]):
        found.append(_finding("note", place, "What a picture shows is not read; look at it"))
    return Opened(place, text, tuple(found))


def _finding(level: Literal["block", "check", "note"], place: str, message: str) -> Finding:
    return Finding(level=level, rule="attachment", message=f"In the {place}: {message}"[:500])


def _read(said: dict[str, Any], raw: bytes) -> str:
    kind = said["media_type"]
    if len(raw) != said["size"]:
        raise _Stopped(f"it has {len(raw)} bytes, and the content says {said['size']}")
    if kind in PICTURES.values():
        return _of_picture(said, raw)
    if kind == "application/pdf":
        text = "\n".join(_of_pdf(raw))
    elif kind in OFFICE.values():
        text = "\n".join(_of_office(raw))
    else:
        text = _of_text(raw)
    if len(text) > MOST_TEXT:
        raise _Stopped(f"its text has more than {MOST_TEXT >> 20} MiB, and cannot be looked at whole")
    return text


def _of_picture(said: dict[str, Any], raw: bytes) -> str:
    try:
        size = check_picture(said["media_type"], raw)
    except NoPicture as error:
        raise _Stopped(f"it is no plain picture: {error}") from None
    if (said.get("width"), said.get("height")) != (size.width, size.height):
        raise _Stopped(f"it is {size.width} x {size.height} pixels, and the content says otherwise")
    return ""


def _of_text(raw: bytes) -> str:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _Stopped("it is no text in UTF-8") from None
    if "\x00" in text:
        raise _Stopped("it is no text: it has NUL characters")
    start = text[:2000].lstrip().lower()
    if start.startswith(("<!doctype html", "<html", "<script", "<svg", "<?xml")):
        raise _Stopped("it is a page or a drawing under the name of a text")
    return text


def _of_pdf(raw: bytes) -> Iterator[str]:
    if not raw.startswith(b"%PDF-") or b"%%EOF" not in raw[-1024:]:
        raise _Stopped("it does not begin and end like a PDF")
    left, parts = MOST_TEXT * 4, [_STREAM.sub(b"", raw)]
    for stream in _STREAM.finditer(raw):
        inflater = zlib.decompressobj()
        try:
            part = inflater.decompress(stream[1], left)
        except zlib.error:
            continue
        left -= len(part)
        if left <= 0:
            raise _Stopped("it unfolds to more than can be looked at")
        parts.append(part)
    for part in parts:
        if _RUNS.search(part):
            raise _Stopped("it has a part that runs, opens or sends something")
        yield "".join(_strings(part))


def _strings(part: bytes) -> Iterator[str]:
    """What it writes, in its order. An offset in a TJ array separates no words here: a value is found all the same."""
    for plain, coded in _STRING.findall(part):
        raw = bytes.fromhex(_even(coded)) if coded else re.sub(rb"\\([()\\])", rb"\1", plain)
        yield raw.decode("utf-16-be", "replace") if raw[:2] == b"\xfe\xff" else raw.decode("latin-1")
        yield "\n" if len(raw) > 40 else ""


def _even(coded: bytes) -> str:
    digits = b"".join(coded.split()).decode()
    return digits + "0" * (len(digits) % 2)


def _of_office(raw: bytes) -> Iterator[str]:
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            if "[Content_Types].xml" not in archive.namelist() or not raw.startswith(b"PK\x03\x04"):
                raise _Stopped("it is no document of this kind")
            left = MOST_TEXT * 4
            for part in archive.infolist():
                if _ACTIVE_PART.search(part.filename):
                    raise _Stopped("it holds a program, a link to other files, or another file")
                left -= part.file_size
                if left <= 0:
                    raise _Stopped("it unfolds to more than can be looked at")
                if _PART.match(part.filename):
                    yield _unmarked(archive.read(part).decode("utf-8", "replace"))
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError):
        raise _Stopped("it is no document of this kind") from None


def _unmarked(xml: str) -> str:
    return html.unescape(_TAG.sub("", _BREAK.sub("\n", xml)))
