"""Files of private keys: what is read, what is refused and why, and that nothing of them is ever shown."""

from __future__ import annotations

import base64
import errno
import json
import os
import pickle
import stat
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed448, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from crawler.botauth.configured import problems
from crawler.botauth.key import Key, KeyFileError, make_key, octets, read_key, unpadded
from crawler.config import from_mapping

AGENT = "https://bot.example.org/.well-known/http-message-signatures-directory"
PEM, PKCS8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
PLAIN = serialization.NoEncryption()


def stored(folder: Path, content: bytes | str, mode: int = 0o600) -> str:
    path = folder / "key"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    path.chmod(mode)
    return str(path)


def jwk_of(private: Ed25519PrivateKey, **changes: object) -> str:
    values = {"kty": "OKP", "crv": "Ed25519", "d": unpadded(private.private_bytes_raw()),
              "x": unpadded(private.public_key().public_bytes_raw())}  # fmt: skip
    return json.dumps({name: value for name, value in (values | changes).items() if value is not None})


def test_a_new_key_is_readable_by_its_owner_alone_and_is_read_again(tmp_path):
    old = os.umask(0)
    try:
        made = make_key(str(tmp_path / "key.pem"))
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "key.pem").stat().st_mode) == 0o600
    assert read_key(str(tmp_path / "key.pem")).jwk() == made.jwk()


def test_no_key_is_overwritten(tmp_path):
    path = tmp_path / "key.pem"
    made = make_key(str(path))
    with pytest.raises(KeyFileError, match="exists already, and a key is never overwritten"):
        make_key(str(path))
    path.rename(tmp_path / "real")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(KeyFileError, match="exists already"):
        make_key(str(path))
    assert read_key(str(tmp_path / "real")).keyid == made.keyid
    assert not (tmp_path / "elsewhere").exists()


def test_a_key_that_a_full_disk_cuts_off_leaves_its_name_free(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as disk, pytest.raises(KeyFileError, match="cannot be written: No space left"):
        disk.setattr(os, "fsync", full)
        make_key(str(tmp_path / "key.pem"))
    make_key(str(tmp_path / "key.pem"))


def test_a_key_of_openssl_is_read(tmp_path):
    path = tmp_path / "key.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", path], check=True, capture_output=True)
    path.chmod(0o600)
    public = subprocess.run(
        ["openssl", "pkey", "-in", path, "-pubout", "-outform", "DER"], check=True, capture_output=True
    )
    assert octets(read_key(str(path)).jwk()["x"]) == public.stdout[-32:]


def test_the_same_key_as_pem_and_as_jwk_has_the_same_name(tmp_path):
    private = Ed25519PrivateKey.generate()
    keyid = Key(private).keyid
    assert read_key(stored(tmp_path, private.private_bytes(PEM, PKCS8, PLAIN))).keyid == keyid
    assert read_key(stored(tmp_path, jwk_of(private))).keyid == keyid
    assert read_key(stored(tmp_path, jwk_of(private, x=None))).keyid == keyid


PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes(range(7, 39)))
LOCKED = PRIVATE.private_bytes(PEM, PKCS8, serialization.BestAvailableEncryption(b"secret"))
PUBLIC = PRIVATE.public_key().public_bytes(PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
TEST_KEY = Ed25519PrivateKey.from_private_bytes(octets("n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU"))


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"x" * 20_000, "is larger than a key: more than 16,384 bytes"),
        (b"no key", "holds no private key, neither in PEM"),
        (b"\x00\xff" * 100, "holds no private key, neither in PEM"),
        (PUBLIC, "holds no private key, neither in PEM"),
        (LOCKED, "is encrypted with a password"),
        (
            rsa.generate_private_key(65537, 2048).private_bytes(PEM, PKCS8, PLAIN),
            r"holds a key of another kind \(RSA\)",
        ),
        (ec.generate_private_key(ec.SECP256R1()).private_bytes(PEM, PKCS8, PLAIN), "holds a key of another kind"),
        (ed448.Ed448PrivateKey.generate().private_bytes(PEM, PKCS8, PLAIN), r"holds a key of another kind \(Ed448\)"),
        (b"{", "its JSON cannot be read"),
        (b'{"a":' * 3000, "its JSON cannot be read"),
        (b"{}", "holds a JWK of another kind"),
        (jwk_of(PRIVATE, crv="X25519"), "holds a JWK of another kind"),
        (jwk_of(PRIVATE, d=None), "holds a public key"),
        (jwk_of(PRIVATE, d="A"), "holds a JWK that is damaged"),
        (jwk_of(PRIVATE, d=7), "holds a JWK that is damaged"),
        (jwk_of(PRIVATE, d="A" * 42), "holds a JWK that is damaged"),
        (jwk_of(PRIVATE, x=unpadded(bytes(32))), "do not belong together"),
        (jwk_of(TEST_KEY), "is the public test key of RFC 9421"),
    ],
    ids=lambda value: value if isinstance(value, str) and not value.startswith("{") else "file",
)
def test_a_file_without_a_usable_key_is_refused_with_the_reason_and_without_its_content(tmp_path, content, why):
    path = stored(tmp_path, content)
    with pytest.raises(KeyFileError, match=why) as caught:
        read_key(path)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    (problem,) = problems(from_mapping({"BOT_SIGNATURE_KEY_FILE": path, "BOT_SIGNATURE_AGENT": AGENT}).signature)
    assert problem == f"BOT_SIGNATURE_KEY_FILE={path!r}: the file {caught.value}"
    assert unpadded(PRIVATE.private_bytes_raw()) not in problem


@pytest.mark.parametrize("mode", [0o604, 0o644, 0o602, 0o620, 0o660, 0o777])
def test_a_key_that_others_can_read_or_change_is_refused(tmp_path, mode):
    path = stored(tmp_path, jwk_of(PRIVATE), mode)
    with pytest.raises(KeyFileError, match=rf"can be read or changed by other users \(mode {mode:04o}\): chmod 600 it"):
        read_key(path)


@pytest.mark.parametrize("mode", [0o600, 0o400, 0o440, 0o640])
def test_a_key_that_a_group_may_read_is_one_as_kubernetes_mounts_it(tmp_path, mode):
    assert read_key(stored(tmp_path, jwk_of(PRIVATE), mode)).keyid == Key(PRIVATE).keyid


def test_what_is_no_file_is_told_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", Path("/dev/null")):
        with pytest.raises(KeyFileError, match="is not a regular file"):
            read_key(str(path))
    with pytest.raises(KeyFileError, match="cannot be read: No such file or directory"):
        read_key(str(tmp_path / "none"))
    with pytest.raises(KeyFileError, match="is not a file name"):
        read_key("a\0b")


def test_a_key_shows_its_public_half_alone_and_does_not_leave_its_process():
    key = Key(PRIVATE)
    secret = PRIVATE.private_bytes_raw()
    shown = f"{key!r} {key} {key.jwk()}"
    for form in (secret.hex(), unpadded(secret), base64.b64encode(secret).decode(), repr(secret)):
        assert form not in shown
    assert repr(key) == f"Key({key.keyid!r})"
    with pytest.raises(TypeError, match="a private key stays in its process"):
        pickle.dumps(key)


def test_one_setting_without_the_other_is_a_problem_and_none_is_not(tmp_path):
    path = stored(tmp_path, jwk_of(PRIVATE))
    for values, found in (
        ({}, []),
        ({"BOT_SIGNATURE_KEY_FILE": path, "BOT_SIGNATURE_AGENT": AGENT}, []),
        ({"BOT_SIGNATURE_KEY_FILE": path}, ["BOT_SIGNATURE_AGENT is not set"]),
        ({"BOT_SIGNATURE_AGENT": AGENT}, ["BOT_SIGNATURE_KEY_FILE is not set"]),
        ({"BOT_SIGNATURE_KEY_FILE": "none"}, ["BOT_SIGNATURE_KEY_FILE='none'", "BOT_SIGNATURE_AGENT is not set"]),
    ):
        said = problems(from_mapping(values).signature)
        assert len(said) == len(found)
        assert all(text.startswith(start) for text, start in zip(said, found, strict=True))
