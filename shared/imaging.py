"""Pictures made anew before they are hashed: only the pixels stay, and a large one gets smaller editions beside it (S13).

Decodes with Pillow, and only these formats. What comes out passes `shared.pictures.check_picture`.
"""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from PIL import Image, ImageCms, ImageOps, ImageSequence, UnidentifiedImageError

from schemas.model import MAX_ATTACHMENT
from shared.errors import Refused, TooLarge
from shared.pictures import MAX_PIXELS, NoPicture, check_picture

WIDTHS = (640, 1280)
"""Pixels of the smaller editions: a phone, and a page on a screen of twice the density."""
MAX_SOURCE = 20 * 1024 * 1024
MAX_FRAMES = 300
_FORMATS = {"image/png": "PNG", "image/jpeg": "JPEG", "image/webp": "WEBP", "image/gif": "GIF"}
_HOW: dict[str, dict[str, Any]] = {
    "image/png": {"optimize": True},
    "image/jpeg": {"quality": 86, "optimize": True, "progressive": True},
    "image/webp": {"quality": 82, "method": 4},
    "image/gif": {"optimize": True},
}
_SMALLEST = 320
Image.MAX_IMAGE_PIXELS = MAX_PIXELS


@dataclass(frozen=True)
class Made:
    """One picture, ready to be hashed."""

    media_type: str
    raw: bytes
    width: int
    height: int


def made_anew(media_type: str, raw: bytes) -> Made:
    """The picture without anything but its pixels, upright, in sRGB, at most 640 KiB (made smaller until it is). Refused when it is no picture of that type."""
    picture = _open(media_type, raw)
    if getattr(picture, "n_frames", 1) > 1:
        return _moving(picture, media_type)
    still = _plain(picture)
    for width in _shrinking(still.width):
        made = _saved(_scaled(still, width), media_type)
        if len(made.raw) <= MAX_ATTACHMENT:
            return made
    raise _too_large()


def smaller_editions(media_type: str, raw: bytes) -> list[Made]:
    """WebP in the widths that are clearly below its own, each smaller in bytes than it; none of what moves."""
    picture = _open(media_type, raw)
    if getattr(picture, "n_frames", 1) > 1:
        return []
    still = _plain(picture)
    found = [_saved(_scaled(still, width), "image/webp") for width in WIDTHS if width * 5 < still.width * 4]
    return [each for each in found if len(each.raw) < min(len(raw), MAX_ATTACHMENT)]


def _open(media_type: str, raw: bytes) -> Image.Image:
    if len(raw) > MAX_SOURCE:
        raise TooLarge(f"a picture has at most {MAX_SOURCE >> 20} MiB before it is made smaller; this one has more")
    try:
        picture = Image.open(io.BytesIO(raw), formats=[_FORMATS[media_type]])
        if picture.width * picture.height > MAX_PIXELS:
            raise Refused(f"a picture has at most {MAX_PIXELS // 1_000_000} million pixels", code="picture")
        if getattr(picture, "n_frames", 1) > MAX_FRAMES:
            raise Refused(f"a moving picture has at most {MAX_FRAMES} frames", code="picture")
        picture.load()
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, KeyError, EOFError, Image.DecompressionBombError) as error:  # fmt: skip
        raise Refused(f"it is no {_FORMATS.get(media_type, 'picture')} that can be read", code="picture") from error
    return picture


def _plain(picture: Image.Image) -> Image.Image:
    """Upright, in sRGB, in one of four modes, and without whatever came with it."""
    upright = _in_srgb(ImageOps.exif_transpose(picture))
    has_alpha = "A" in upright.getbands() or "transparency" in upright.info
    grey = upright.mode in ("1", "L", "LA", "I", "I;16", "F")
    plain = upright.convert(("LA" if has_alpha else "L") if grey else ("RGBA" if has_alpha else "RGB"))
    plain.info = {}
    return plain


def _in_srgb(picture: Image.Image) -> Image.Image:
    profile = picture.info.get("icc_profile")
    if not profile or picture.mode not in ("RGB", "CMYK", "L"):
        return picture
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        found = ImageCms.profileToProfile(picture, source, ImageCms.createProfile("sRGB"), outputMode="RGB")
    except (ImageCms.PyCMSError, OSError):
        return picture
    return found or picture


def _shrinking(width: int) -> Iterator[int]:
    yield width
    while width > _SMALLEST:
        width = max(width * 4 // 5, _SMALLEST)
        yield width


def _scaled(picture: Image.Image, width: int) -> Image.Image:
    if width == picture.width:
        return picture
    return picture.resize((width, max(1, round(picture.height * width / picture.width))), Image.Resampling.LANCZOS)


def _saved(picture: Image.Image, media_type: str) -> Made:
    if media_type == "image/jpeg" and picture.mode not in ("L", "RGB"):
        picture = picture.convert("RGB")
    if media_type == "image/webp" and picture.mode in ("L", "LA"):
        picture = picture.convert("RGBA" if picture.mode == "LA" else "RGB")
    out = io.BytesIO()
    picture.save(out, _FORMATS[media_type], **_HOW[media_type])
    return _checked(media_type, out.getvalue())


def _moving(picture: Image.Image, media_type: str) -> Made:
    """Frame by frame; too large stays too large."""
    frames, waits = list[Image.Image](), list[int]()
    for frame in ImageSequence.Iterator(picture):
        waits.append(int(frame.info.get("duration", 100) or 100))
        plain = frame.convert("RGBA")
        plain.info = {}
        frames.append(plain)
    out, first = io.BytesIO(), frames[0]
    first.save(out, _FORMATS[media_type], save_all=True, append_images=frames[1:], duration=waits, loop=0)
    if len(out.getvalue()) > MAX_ATTACHMENT:
        raise _too_large()
    return _checked(media_type, out.getvalue())


def _checked(media_type: str, raw: bytes) -> Made:
    try:
        size = check_picture(media_type, raw)
    except NoPicture as error:
        raise Refused(f"the picture could not be made anew: {error}", code="picture") from None
    return Made(media_type, raw, size.width, size.height)


def _too_large() -> TooLarge:
    return TooLarge(
        f"a picture has at most {MAX_ATTACHMENT // 1024} KiB, and this one cannot be made so small; make it smaller"
    )
