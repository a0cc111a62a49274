from __future__ import annotations

import pytest

from remanence_server.runtime.settings_secrets import without_secrets


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '[claude]\napi_key = "sk-abc" # was sk-abc2\nmodel = "x"\n',
            '[claude]\napi_key = "" # was 2\nmodel = "x"\n',
        ),
        ("claude = {api_key = 'sk-abc'}\n", "claude = {api_key = ''}\n"),
        ('[log]\nlevel = "info"\n', '[log]\nlevel = "info"\n'),
        ("", ""),
    ],
)
def test_a_secret_is_emptied_and_the_rest_stays(text: str, expected: str) -> None:
    left, keys = without_secrets(text.encode())
    assert left == expected.encode()
    assert keys == (("claude.api_key",) if "sk-" in text else ())


@pytest.mark.parametrize(
    "data",
    [
        b'[claude]\napi_key = "sk\\u002dabc"\n',  # written otherwise than it reads
        b'[claude]\napi_key = "o"\n[log]\nlevel = "info"\n',  # its letters are in other values
        b"[claude\napi_key",
        b"\xff",
    ],
)
def test_a_file_of_which_that_is_not_sure_is_no_answer(data: bytes) -> None:
    assert without_secrets(data) == (None, ())
