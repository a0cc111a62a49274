"""Values that arrive as text, in a query or a form, read by the type of their field.

Text that does not read as its type is passed on as it is: the model refuses it, with the same words
as everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from fastapi import Request

TextReaders = Mapping[str, Callable[[str], object]]

_INTEGER = re.compile(r"-?[0-9]{1,19}")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_FLAGS = {"true": True, "1": True, "false": False, "0": False}


def integer_from_text(text: str) -> object:
    """An integer, or the text."""
    return int(text) if _INTEGER.fullmatch(text) else text


def number_from_text(text: str) -> object:
    """A number, or the text."""
    return float(text) if _NUMBER.fullmatch(text) else text


def flag_from_text(text: str) -> object:
    """A boolean, or the text."""
    return _FLAGS.get(text.lower(), text)


def query_fields(request: Request, readers: TextReaders) -> dict[str, object]:
    """The known fields of the query. Of a key given twice the last one counts."""
    query = request.query_params
    return {name: read(query[name]) for name, read in readers.items() if name in query}
