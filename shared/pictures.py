"""Whether bytes are exactly a picture of their kind, and nothing besides: no text, no EXIF, no second file behind the end (S13).

Without a decoder, so that whoever looks at hostile bytes runs none. `shared.imaging` makes pictures that pass.
"""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

MAX_PIXELS = 50_000_000
_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_CHUNKS = frozenset({b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"bKGD", b"pHYs", b"sBIT", b"acTL", b"fcTL", b"fdAT"})  # fmt: skip
_PNG_SIZES = {b"gAMA": 4, b"cHRM": 32, b"sRGB": 1, b"pHYs": 9, b"acTL": 8, b"fcTL": 26, b"IEND": 0, b"IHDR": 13}
_WEBP_CHUNKS = frozenset({b"VP8 ", b"VP8L", b"VP8X", b"ALPH", b"ANIM", b"ANMF"})
_JPEG_FRAMES = frozenset({0xC0, 0xC1, 0xC2})
_JPEG_SEGMENTS = _JPEG_FRAMES | frozenset({0xC4, 0xDB, 0xDD, 0xDA, 0xE0, 0xEE})
_GIF_LONGEST_CONTROL = 8


class NoPicture(Exception):
    """The message says what is wrong with the bytes."""


@dataclass(frozen=True)
class Size:
    """In pixels."""

    width: int
    height: int


def check_picture(media_type: str, raw: bytes) -> Size:
    """Its size; NoPicture when it is anything but a plain picture of that type."""
    read = {"image/png": _png, "image/jpeg": _jpeg, "image/webp": _webp, "image/gif": _gif}.get(media_type)
    if read is None:
        raise NoPicture(f"{media_type} is no kind of picture that is taken")
    try:
        size = read(raw)
    except (struct.error, IndexError):
        raise NoPicture("it ends before it should") from None
    if not (0 < size.width <= 20_000 and 0 < size.height <= 20_000) or size.width * size.height > MAX_PIXELS:
        raise NoPicture(f"it has {size.width} x {size.height} pixels; at most {MAX_PIXELS} are taken")
    return size


def _png(raw: bytes) -> Size:
    if not raw.startswith(_PNG):
        raise NoPicture("it does not begin like a PNG")
    names, size = list[bytes](), Size(0, 0)
    for name, body in _png_chunks(raw):
        names.append(name)
        if name not in _PNG_CHUNKS:
            raise NoPicture(f"it has a part {name.decode('latin-1')!r}, which may hold text")
        if name in _PNG_SIZES and len(body) != _PNG_SIZES[name]:
            raise NoPicture(f"its part {name.decode('latin-1')} has a wrong length")
        if name == b"IHDR":
            size = Size(*struct.unpack(">II", body[:8]))
    if names[:1] != [b"IHDR"] or b"IDAT" not in names or names.count(b"IHDR") != 1:
        raise NoPicture("it is no whole PNG")
    return size


def _png_chunks(raw: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(_PNG)
    while True:
        (length,) = struct.unpack_from(">I", raw, at)
        name, body = raw[at + 4 : at + 8], raw[at + 8 : at + 8 + length]
        (checksum,) = struct.unpack_from(">I", raw, at + 8 + length)
        if zlib.crc32(name + body) != checksum:
            raise NoPicture("one of its parts has a wrong checksum")
        yield name, body
        at += length + 12
        if name == b"IEND":
            break
    if at != len(raw):
        raise NoPicture(f"{len(raw) - at} bytes follow its end")


def _jpeg(raw: bytes) -> Size:
    if raw[:2] != b"\xff\xd8":
        raise NoPicture("it does not begin like a JPEG")
    at, size = 2, Size(0, 0)
    while True:
        if raw[at] != 0xFF:
            raise NoPicture("it has bytes between its parts")
        marker = raw[at + 1]
        if marker == 0xD9:
            break
        (length,) = struct.unpack_from(">H", raw, at + 2)
        _check_segment(marker, raw[at + 4 : at + 2 + length])
        if marker in _JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", raw, at + 5)
            size = Size(width, height)
        at += 2 + length
        if marker == 0xDA:
            at = _after_scan(raw, at)
    if at + 2 != len(raw):
        raise NoPicture(f"{len(raw) - at - 2} bytes follow its end")
    return size


def _check_segment(marker: int, body: bytes) -> None:
    if marker not in _JPEG_SEGMENTS:
        raise NoPicture(f"it has a part {marker:#x}, which may hold text (EXIF, a comment, a profile)")
    if marker == 0xE0 and (not body.startswith(b"JFIF\0") or len(body) != 14):
        raise NoPicture("its first part is not that of a plain JPEG")
    if marker == 0xEE and (not body.startswith(b"Adobe") or len(body) != 12):
        raise NoPicture("it has a part that may hold text")


def _after_scan(raw: bytes, at: int) -> int:
    """Where the compressed data of a scan end: at a marker that is neither stuffing nor a restart."""
    while True:
        at = raw.index(b"\xff", at) if b"\xff" in raw[at:] else len(raw)
        following = raw[at + 1]
        if following == 0 or 0xD0 <= following <= 0xD7:
            at += 2
        else:
            return at


def _webp(raw: bytes) -> Size:
    if raw[:4] != b"RIFF" or raw[8:12] != b"WEBP":
        raise NoPicture("it does not begin like a WebP")
    (length,) = struct.unpack_from("<I", raw, 4)
    if length + 8 != len(raw):
        raise NoPicture("bytes follow its end, or some are missing")
    at, size = 12, None
    while at < len(raw):
        name = raw[at : at + 4]
        (length,) = struct.unpack_from("<I", raw, at + 4)
        if name not in _WEBP_CHUNKS:
            raise NoPicture(f"it has a part {name.decode('latin-1')!r}, which may hold text")
        size = size or _webp_size(name, raw[at + 8 : at + 8 + length])
        at += 8 + length + length % 2
    if size is None or at != len(raw):
        raise NoPicture("it is no whole WebP")
    return size


def _webp_size(name: bytes, body: bytes) -> Size | None:
    if name == b"VP8X":
        return Size(1 + int.from_bytes(body[4:7], "little"), 1 + int.from_bytes(body[7:10], "little"))
    if name == b"VP8L":
        bits = int.from_bytes(body[1:5], "little")
        return Size(1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF))
    if name == b"VP8 ":
        width, height = struct.unpack_from("<HH", body, 6)
        return Size(width & 0x3FFF, height & 0x3FFF)
    return None


def _gif(raw: bytes) -> Size:
    if raw[:6] not in (b"GIF87a", b"GIF89a"):
        raise NoPicture("it does not begin like a GIF")
    width, height, flags = struct.unpack_from("<HHB", raw, 6)
    at = 13 + (3 << (flags & 7) + 1 if flags & 0x80 else 0)
    while raw[at] != 0x3B:
        at = _gif_block(raw, at)
    if at + 1 != len(raw):
        raise NoPicture(f"{len(raw) - at - 1} bytes follow its end")
    return Size(width, height)


def _gif_block(raw: bytes, at: int) -> int:
    """Where the block that begins here ends."""
    if raw[at] == 0x21:
        kind, end = raw[at + 1], _after_sub_blocks(raw, at + 2)
        looping = kind == 0xFF and raw[at + 3 : at + 14] == b"NETSCAPE2.0" and end - at == 19
        if not looping and not (kind == 0xF9 and end - at == _GIF_LONGEST_CONTROL):
            raise NoPicture("it has a part that may hold text")
        return end
    if raw[at] != 0x2C:
        raise NoPicture("it has bytes between its parts")
    flags = raw[at + 9]
    return _after_sub_blocks(raw, at + 11 + (3 << (flags & 7) + 1 if flags & 0x80 else 0))


def _after_sub_blocks(raw: bytes, at: int) -> int:
    while raw[at]:
        at += raw[at] + 1
    return at + 1
