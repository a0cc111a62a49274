"""What the tests of the index room share."""

from __future__ import annotations

import pytest

from remanence_server.index.jvm import JavaThread, java_thread


@pytest.fixture(scope="session")
def java() -> JavaThread:
    """The Java thread of this test process; the VM starts with its first call."""
    return java_thread()
