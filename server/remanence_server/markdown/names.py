"""Ids and names as names of files: reversible, distinct on every disk, plain for ordinary ones.

Letters, digits and `_ . @ + -` and inner spaces stay; everything else is percent-encoded, and so
is what some system gives a meaning: a leading or trailing dot, and the device names of Windows.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

from remanence_server.runtime.errors import invalid_input

# Most disks allow 255 bytes; a prefix, a mark and the like still fit.
MAXIMUM_NAME_BYTES = 200

_ORDINARY = re.compile(r"[\w@+-](?:[\w.@+ -]*[\w@+-])?", re.ASCII)
_DEVICE = re.compile(
    r"(?:con|prn|aux|nul|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3]|conin\$|conout\$)"
    r" *(?:\..*)?",
    re.IGNORECASE | re.DOTALL,
)
_ESCAPE = re.compile(r"(?:%[0-9A-F]{2})+")
_TWIN = re.compile(r"(.+)~([0-9a-f]+)", re.DOTALL)


def encode_name(
    name: str, *, maximum_bytes: int | None = MAXIMUM_NAME_BYTES, field: str = "owner_id"
) -> str:
    """The file name of an id. Raises ServiceError (INVALID_INPUT, naming `field`) if too long."""
    if not name:
        raise invalid_input("must not be empty", field)
    if _ORDINARY.fullmatch(name) and not _DEVICE.fullmatch(name):
        encoded = name
    else:
        last = len(name) - 1
        is_device = _DEVICE.fullmatch(name) is not None
        encoded = "".join(
            character
            if _stays(character, at_end=index in (0, last)) and not (is_device and index == 0)
            else _percent(character, field)
            for index, character in enumerate(name)
        )
    if maximum_bytes is not None and len(encoded.encode()) > maximum_bytes:
        raise invalid_input("is too long for a file name", field)
    return encoded


def decode_name(encoded: str) -> str | None:
    """The id of a file name, or None when `encode_name` and `twin_name` never make that name."""
    twin = _TWIN.fullmatch(encoded)
    if twin is not None:
        return decode_name(twin[1]) if twin_name(twin[1]) == encoded else None
    if _ORDINARY.fullmatch(encoded) and not _DEVICE.fullmatch(encoded):
        return encoded
    try:
        encoded.encode()  # a name that is not UTF-8 on disk arrives with surrogates in it
        name = _ESCAPE.sub(lambda match: _bytes_of(match[0]).decode(), encoded)
    except UnicodeError:
        return None
    if not name or encode_name(name, maximum_bytes=None) != encoded:
        return None
    return name


def twin_name(encoded: str) -> str:
    """Another name for the same id, for disks where a name that differs by case only is taken.

    The number after `~` has a bit for each capital letter, so each spelling has a name of its own.
    """
    mask = sum(1 << index for index, character in enumerate(encoded) if character.isupper())
    return f"{encoded}~{mask:x}"


def shorten_name(encoded: str, name: str) -> str:
    """A name that fits on disk; a long one is cut and ends in a hash, so it stays distinct."""
    if len(encoded.encode()) <= MAXIMUM_NAME_BYTES:
        return encoded
    digest = hashlib.sha256(name.encode()).hexdigest()[:20]
    head = encoded.encode()[: MAXIMUM_NAME_BYTES // 2].decode(errors="ignore")
    return f"{re.sub('%[0-9A-F]?$', '', head)}~~{digest}"


def _stays(character: str, *, at_end: bool) -> bool:
    if character in ". ":
        return not at_end
    if character.isascii():
        return character.isalnum() or character in "_@+-"
    # Letters that no disk normalises, joins with their neighbours or folds to several.
    return (
        character.isalnum()
        and len(character.casefold()) == 1
        and unicodedata.normalize("NFKD", character) == character
        and not unicodedata.name(character, "").startswith("HANGUL")
    )


def _percent(character: str, field: str) -> str:
    try:
        encoded = character.encode()
    except UnicodeEncodeError:
        raise invalid_input("is not valid Unicode", field) from None
    return "".join(f"%{byte:02X}" for byte in encoded)


def _bytes_of(escapes: str) -> bytes:
    return bytes.fromhex(escapes.replace("%", ""))
