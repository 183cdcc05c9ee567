"""Small pictures and files, made up: clean ones, and such with more in them than a picture."""

import io
import zlib
from base64 import b64encode
from typing import Any

from PIL import Image, PngImagePlugin

HIDDEN = "hidden-words-in-a-picture"


def picture(kind: str = "PNG", size: tuple[int, int] = (64, 40), colour: tuple[int, int, int] = (20, 120, 90)) -> bytes:
    return _saved(Image.new("RGB", size, colour), kind)


def telling(kind: str, size: tuple[int, int] = (64, 40)) -> bytes:
    """A picture with words in its metadata."""
    image, exif = Image.new("RGB", size, (1, 2, 3)), Image.Exif()
    exif[0x010E] = HIDDEN
    match kind:
        case "PNG":
            info = PngImagePlugin.PngInfo()
            info.add_text("Comment", HIDDEN)
            return _saved(image, kind, pnginfo=info)
        case "GIF":
            return _saved(image, kind, comment=HIDDEN.encode())
        case _:
            return _saved(image, kind, exif=exif)


def moving(kind: str = "GIF") -> bytes:
    frames = [Image.new("RGBA", (20, 20), (30 * n, 0, 0, 255)) for n in range(4)]
    return _saved(frames[0], kind, save_all=True, append_images=frames[1:], duration=80, loop=0)


def pdf(text: str, extra: bytes = b"") -> bytes:
    """One page that says this, in a packed stream."""
    packed = zlib.compress(f"BT ({text}) Tj ET".encode("latin-1"))
    return b"%PDF-1.4\n1 0 obj <<" + extra + b"/Length 1>> stream\n" + packed + b"\nendstream endobj\n%%EOF\n"


def given(name: str, raw: bytes) -> dict[str, str]:
    """As the operator's command takes it."""
    return {"name": name, "data": b64encode(raw).decode()}


def _saved(image: Image.Image, kind: str, **how: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **how)
    return out.getvalue()
