"""One file becomes one image or a named refusal, whatever it claims to be."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import pytest
from PIL import Image, ImageOps

from crawler.images.decode import decode
from crawler.images.limits import Limits
from crawler.images.pdq import Likeness, brightness_of, distance, pdq
from tests.images import pictures as p

LIMITS = Limits(min_bytes=500)
KEPT_AS_THEY_ARE = {"JPEG": "jpg", "PNG": "png", "WEBP": "webp"}


def pixels(data: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "AVIF", "GIF", "BMP", "TIFF"])
def test_every_kind_that_is_read_keeps_its_very_pixels(kind):
    data = p.picture(kind, kind)
    found = decode(data, LIMITS)
    assert (found.outcome, found.kind, found.width, found.height) == ("", kind, 320, 240), found.detail
    assert found.extension == KEPT_AS_THEY_ARE.get(kind, "png")
    assert np.array_equal(pixels(found.data), pixels(data))
    assert found.made == ("" if kind in KEPT_AS_THEY_ARE else f"PNG of {kind}")


FILES = {
    "no byte": (b"", "not_image"),
    "a page under an image's name": (b"<!doctype html><html><body><svg></svg></body></html>", "not_image"),
    "a zip": (b"PK\3\4" + bytes(900), "not_image"),
    "SVG": (b'<?xml version="1.0"?><!-- x --><svg xmlns="http://www.w3.org/2000/svg"/>', "svg"),
    "ICO": (p.picture("ico", "ICO", (256, 256)), "icon"),
    "an animated GIF": (p.moving("gif", "GIF"), "animated"),
    "an animated WebP": (p.moving("webp", "WEBP"), "animated"),
    "an animated PNG": (p.moving("png", "PNG"), "animated"),
    "an animated AVIF": (p.moving("avif", "AVIF"), "animated"),
    "a JPEG without its end": (p.picture("cut")[:-2_000], "broken"),
    "a PNG without its end": (p.picture("cut", "PNG")[:-20_000], "broken"),
    "a WebP without its end": (p.picture("cut", "WEBP")[:-500], "broken"),
    "a GIF without its end": (p.picture("cut", "GIF")[:-9_000], "broken"),
    "a head and nothing else": (b"\xff\xd8\xff\xe0" + bytes(900), "broken"),
    "65,500 × 65,500 pixels": (p.vast(), "too_large"),
    "a colour profile of 100 MB in 100 kB": (p.with_chunk(p.picture(1, "PNG"), b"iCCP", b"x\0\0" + p.BOMB), "broken"),
    "a text of 100 MB in 100 kB": (p.with_chunk(p.picture(1, "PNG"), b"zTXt", b"x\0\0" + p.BOMB), "broken"),
    "199 pixels": (p.picture("small", size=(199, 240)), "too_small"),
    "few bytes": (p.encoded(Image.new("L", (300, 300)), "PNG"), "too_small"),
    "a banner": (p.picture("banner", size=(900, 250)), "aspect"),
}


@pytest.mark.parametrize("what", FILES)
def test_a_file_that_is_no_image_for_a_data_set_has_a_name_for_that(what):
    data, outcome = FILES[what]
    found = decode(data, LIMITS)
    assert found.outcome == outcome, (found.outcome, found.detail)
    assert found.data == b""


def test_a_bomb_is_refused_before_a_pixel_of_it_is_in_memory():
    found = decode(p.vast(), LIMITS)
    assert (found.original_width, found.original_height, found.detail) == (65_500, 65_500, "65,500 × 65,500 pixels")


def test_a_file_behind_the_image_is_not_in_the_data_set():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("run.sh", "echo hello")
    for kind in KEPT_AS_THEY_ARE:
        data = p.picture(kind, kind)
        found = decode(data + packed.getvalue(), LIMITS)
        assert found.outcome == ""
        assert b"run.sh" not in found.data
        assert np.array_equal(pixels(found.data), pixels(data))


def tagged(**how: object) -> bytes:
    exif = Image.Exif()
    exif[0x0112], exif[0x010F], exif[0x013B] = how.get("orientation", 1), "Kamera", "Erika Mustermann"
    exif.get_ifd(0x8825).update({1: "N", 2: (52.0, 31.0, 12.0)})
    return p.picture("exif", exif=exif)


def test_position_and_names_leave_and_exif_stays_only_where_it_is_asked_for():
    plain, asked = decode(tagged(), LIMITS), decode(tagged(), Limits(min_bytes=500, exif=True))
    assert plain.exif == ""
    assert json.loads(asked.exif) == {"Make": "Kamera"}
    for found in (plain, asked):
        assert b"Erika" not in found.data
        assert dict(Image.open(io.BytesIO(found.data)).getexif()) == {}


@pytest.mark.parametrize("orientation", [2, 3, 4, 5, 6, 7, 8])
def test_an_image_is_turned_as_a_camera_says_and_the_row_says_so(orientation):
    data = tagged(orientation=orientation)
    found = decode(data, LIMITS)
    right = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
    assert (found.width, found.height) == right.size
    assert (found.original_width, found.original_height) == (320, 240)
    assert found.made == f"turned upright (EXIF orientation {orientation})"
    assert np.abs(pixels(found.data).astype(int) - np.asarray(right)).mean() < 2


SAID = {
    "XMP in a JPEG": p.picture(1, xmp=p.PROHIBITED.encode()),
    "XMP in a WebP": p.picture(1, "WEBP", xmp=p.PROHIBITED.encode()),
    "XMP in an AVIF": p.picture(1, "AVIF", xmp=p.PROHIBITED.encode()),
    "XMP, compressed, in a PNG": p.with_packed_xmp(p.picture(1, "PNG"), p.PROHIBITED),
}


@pytest.mark.parametrize("what", SAID)
def test_a_prohibition_in_xmp_is_found_in_every_kind_of_file(what):
    assert ("plus:datamining", "DMI-PROHIBITED-AIMLTRAINING") in decode(SAID[what], LIMITS).statements.metas


STORES = {
    "in a JPEG": (p.jpeg_with_store(p.picture(1), p.store()), ["c2pa.ai_training: notAllowed"]),
    "in a JPEG, over many segments": (p.jpeg_with_store(p.picture(1), p.store(), 40), ["c2pa.ai_training: notAllowed"]),
    "in a PNG": (p.with_chunk(p.picture(1, "PNG"), b"caBX", p.store()), ["c2pa.ai_training: notAllowed"]),
    "in a WebP": (p.webp_with_chunk(p.picture(1, "WEBP"), b"C2PA", p.store()), ["c2pa.ai_training: notAllowed"]),
    "of CAWG": (
        p.jpeg_with_store(p.picture(1), p.store("notAllowed", "cawg.data_mining", "cawg.training-mining")),
        ["cawg.data_mining: notAllowed"],
    ),
    "under conditions": (p.jpeg_with_store(p.picture(1), p.store("constrained")), ["c2pa.ai_training: constrained"]),
    "that cannot be read": (
        p.jpeg_with_store(p.picture(1), p.unreadable_store()),
        ["c2pa.training-mining: cannot be read"],
    ),
    "that allows": (p.jpeg_with_store(p.picture(1), p.store("allowed")), []),
    "about inference alone": (p.jpeg_with_store(p.picture(1), p.store("notAllowed", "c2pa.ai_inference")), []),
}


@pytest.mark.parametrize("where", STORES)
def test_c2pa_that_forbids_training_is_read_and_what_cannot_be_read_forbids(where):
    data, said = STORES[where]
    found = decode(data, LIMITS)
    assert (found.outcome, found.statements.c2pa) == ("", said)
    assert b"training-mining" not in found.data


def test_copies_of_an_image_have_hashes_alike_and_others_have_not():
    original = p.drawing("harbour", (640, 480))
    first = bytes.fromhex(decode(p.encoded(original, "PNG"), LIMITS).pdq)
    copies = [
        p.encoded(original, "JPEG", quality=40),
        p.encoded(original.resize((320, 240)), "PNG"),
        p.encoded(original.convert("L"), "PNG"),
    ]
    assert all(distance(first, bytes.fromhex(decode(one, LIMITS).pdq)) <= 31 for one in copies)
    others = [bytes.fromhex(decode(p.picture(seed, "PNG"), LIMITS).pdq) for seed in range(20)]
    assert min(distance(first, one) for one in others) > 60


REFERENCE = {
    ("one", (320, 240)): ("6e596003c29d39497442e90be3f8301b1f9d33b885f12cdc9adf74cd02c736db", 59),
    ("two", (257, 400)): ("33922b0f0d0423dcd0792d7fe3f370097c0a2c83165ea4d6855f588ff845fa7b", 49),
}
"""What `pdqhash` 0.2.8, built from Facebook's own C++, says of these drawings: hash and quality."""


@pytest.mark.parametrize("what", REFERENCE)
def test_the_hash_is_that_of_the_reference_implementation_bit_for_bit(what):
    made, quality = pdq(brightness_of(np.asarray(p.drawing(*what))))
    assert (made.hex(), quality) == REFERENCE[what]


def test_likeness_finds_the_earliest_within_31_bits_and_none_beyond():
    rng = np.random.default_rng(7)
    known = [rng.bytes(32) for _ in range(300)]
    likeness = Likeness()
    for one in known:
        likeness.add(one)
    for number in range(0, 300, 10):
        for bits in (0, 1, 31, 32):
            flipped = int.from_bytes(known[number], "big")
            for bit in rng.choice(256, bits, replace=False):
                flipped ^= 1 << int(bit)
            found = likeness.find(flipped.to_bytes(32, "big"))
            assert found == (number if bits <= 31 else None)
    near = (int.from_bytes(known[5], "big") ^ 1).to_bytes(32, "big")
    likeness.add(near)
    assert likeness.find(near) == 5
