"""One file becomes one image, or a named refusal: head first, then limits, then what the file says, then the pixels.

Runs in a stage process (`crawler/pool`), which bounds its CPU time. The only decoder that sees a file is the one for
the kind that its first bytes say.
"""

from __future__ import annotations

import hashlib
import io
import json
import warnings
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from crawler.images.kinds import READ, kind_of
from crawler.images.limits import Limits
from crawler.images.pdq import LARGEST, brightness_of, pdq
from crawler.images.statements import Statements, statements_in
from crawler.images.strip import stripped
from crawler.problems import InputError

_AS_THEY_CAME = {"JPEG": "jpg", "PNG": "png", "WEBP": "webp"}
_DIRECT = frozenset({"1", "L", "LA", "P", "RGB", "RGBA", "I;16"})
"""Modes of Pillow that a PNG can have."""
_ORIENTATION, _GPS, _PREVIEWS, _MAKER = 0x0112, 0x8825, (0x0201, 0x0202), 0x927C
_OWNER = frozenset({0xA430, 0xA431, 0xA435, 0x013B, 0x9C9D, 0xC62F})
"""Tags with names of persons and serial numbers: owner, body, lens, artist, author, camera."""
_UNSAID = frozenset({_GPS, _MAKER, _ORIENTATION, *_PREVIEWS}) | _OWNER
JPEG_QUALITY = 95


@dataclass(slots=True)
class Decoded:
    """One image. outcome: empty where it is kept so far, else with `detail`.

    data: what is kept: pixels as they came without metadata (`made` empty), or encoded anew, and `made` says why.
    width, height: of `data`; original_width, original_height: as the head says, before it was turned upright.
    sha256: of `data`, hexadecimal; original_sha256: of the file as it came. pdq: hexadecimal. quality: of it, 0 to 100.
    exif: JSON, with --exif. statements: what the file says of its use.
    """

    outcome: str = ""
    detail: str = ""
    kind: str = ""
    extension: str = ""
    data: bytes = b""
    made: str = ""
    width: int = 0
    height: int = 0
    original_width: int = 0
    original_height: int = 0
    sha256: str = ""
    original_sha256: str = ""
    pdq: str = ""
    quality: int = 0
    exif: str = ""
    statements: Statements = field(default_factory=Statements)

    def refused(self, outcome: str, detail: str = "") -> Decoded:
        """This, with nothing kept of it."""
        self.outcome, self.detail, self.data = outcome, detail[:300], b""
        return self


@cache
def library() -> Any:
    """Pillow, without limits of its own. Raises: InputError where it is not installed."""
    try:
        from PIL import Image, ImageFile
    except ImportError:
        raise InputError(["images need Pillow: pip install 'gristmill[images]'"]) from None
    Image.MAX_IMAGE_PIXELS = None  # ours holds, and is asked before
    ImageFile.LOAD_TRUNCATED_IMAGES = False
    return Image


def start(_config: object) -> None:
    """In each stage process, before the first image."""
    library()


def decode(data: bytes, limits: Limits) -> Decoded:
    """Raises nothing for a file's sake."""
    found = Decoded(original_sha256=hashlib.sha256(data).hexdigest(), kind=kind_of(data))
    if refusal := _kind_refusal(data, found.kind, limits):
        return found.refused(*refusal)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _decode(data, found, limits)
        except MemoryError:
            return found.refused("too_large", "more memory than there is")
        except Exception as error:  # each decoder has errors of its own
            return found.refused("broken", f"{type(error).__name__}: {error}")


def _kind_refusal(data: bytes, kind: str, limits: Limits) -> tuple[str, str] | None:
    if kind in ("SVG", "ICO"):
        return ("svg" if kind == "SVG" else "icon"), ""
    if kind not in READ:
        return "not_image", f"begins with {data[:8].hex(' ')}" if data else "no byte"
    return ("too_large", f"{len(data):,} bytes") if len(data) > limits.max_bytes else None


def _decode(data: bytes, found: Decoded, limits: Limits) -> Decoded:
    image = library().open(io.BytesIO(data), formats=[found.kind])
    width, height = found.original_width, found.original_height = image.size
    if width * height > limits.max_pixels:
        return found.refused("too_large", f"{width:,} × {height:,} pixels")
    xmp = image.info.get("xmp", b"")
    found.statements = statements_in(data, xmp if isinstance(xmp, bytes) else str(xmp).encode())
    if refusal := _form(image, data, limits):
        return found.refused(*refusal)
    if getattr(image, "is_animated", False):
        return found.refused("animated", f"{image.n_frames} frames")
    exif = image.getexif()
    orientation = exif.get(_ORIENTATION, 1)
    profile = image.info.get("icc_profile")
    image.load()
    upright = _upright(image, orientation)
    _keep(found, data, upright, orientation if upright is not image else 1, profile)
    found.width, found.height = upright.size
    found.sha256 = hashlib.sha256(found.data).hexdigest()
    small = upright.convert("RGBA").convert("RGB") if "transparency" in upright.info else upright.convert("RGB")
    small.thumbnail((LARGEST, LARGEST), library().Resampling.BOX)
    hashed, found.quality = pdq(brightness_of(small))
    found.pdq = hashed.hex()
    found.exif = _exif_text(exif) if limits.exif else ""
    return found


def _form(image: Any, data: bytes, limits: Limits) -> tuple[str, str] | None:
    short, long = sorted(image.size)
    if short < limits.min_side:
        return "too_small", f"{image.size[0]} × {image.size[1]} pixels"
    if len(data) < limits.min_bytes:
        return "too_small", f"{len(data):,} bytes"
    if long > limits.max_aspect * short:
        return "aspect", f"{image.size[0]} × {image.size[1]} pixels"
    return None


def _upright(image: Any, orientation: int) -> Any:
    """The image as it is to be seen; the very image where it is that already."""
    methods = library().Transpose
    turn = {2: methods.FLIP_LEFT_RIGHT, 3: methods.ROTATE_180, 4: methods.FLIP_TOP_BOTTOM, 5: methods.TRANSPOSE,
            6: methods.ROTATE_270, 7: methods.TRANSVERSE, 8: methods.ROTATE_90}.get(orientation)  # fmt: skip
    return image if turn is None else image.transpose(turn)


def _keep(found: Decoded, data: bytes, image: Any, turned: int, profile: bytes | None) -> None:
    if turned == 1 and found.kind in _AS_THEY_CAME:
        found.data, found.extension = stripped(data, found.kind), _AS_THEY_CAME[found.kind]
        with library().open(io.BytesIO(found.data), formats=[found.kind]) as again:  # what is kept can be read
            again.load()
            assert again.size == image.size
        return
    target, kind = io.BytesIO(), "JPEG" if found.kind == "JPEG" else "PNG"
    plain = image.copy()
    plain.info = {name: value for name, value in image.info.items() if name == "transparency"}
    if kind == "PNG" and plain.mode not in _DIRECT:
        plain, profile = plain.convert("RGBA" if "A" in plain.mode or "a" in plain.mode else "RGB"), None
    how: dict[str, Any] = {"quality": JPEG_QUALITY} if kind == "JPEG" else {}
    plain.save(target, kind, **how, **({"icc_profile": profile} if profile else {}))
    found.data, found.extension = target.getvalue(), _AS_THEY_CAME[kind]
    found.made = f"turned upright (EXIF orientation {turned})" if turned != 1 else f"PNG of {found.kind}"


def _exif_text(exif: Any) -> str:
    """JSON of the tags that say how a picture was taken; never where, by whom, or with which single camera."""
    from PIL import ExifTags

    said: dict[str, str] = {}
    for tags in (exif, exif.get_ifd(ExifTags.IFD.Exif)):
        for tag, value in tags.items():
            name = ExifTags.TAGS.get(tag)
            if (
                name
                and tag not in {_GPS, _MAKER, _ORIENTATION, *_PREVIEWS, *_OWNER}
                and isinstance(value, str | int | float)
            ):
                said[name] = str(value)[:200]
    return json.dumps(said, sort_keys=True, ensure_ascii=False) if said else ""
