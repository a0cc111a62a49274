"""The generated routes over servicers that record what they are asked."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import FastAPI
from tests.unit.transcoding.recording import MAX_BODY_BYTES, SHANGHAI, RecordingServicer

from remanence_http import knowledge, memory, tasks
from remanence_server.api.transcoding import HttpBinding, install_error_handling
from remanence_server.runtime.clock import ManualClock


@pytest.fixture
def servicer() -> RecordingServicer:
    return RecordingServicer()


@pytest.fixture
def app(servicer: RecordingServicer) -> FastAPI:
    app = FastAPI(openapi_url=None)
    binding = HttpBinding(zone=SHANGHAI, max_body_bytes=MAX_BODY_BYTES)
    app.include_router(memory.memory_service_router(servicer, binding))
    app.include_router(tasks.task_service_router(servicer, binding))
    app.include_router(knowledge.knowledge_service_router(servicer, binding))
    install_error_handling(app, SHANGHAI, ManualClock(1_779_967_836_000))
    return app


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://server") as client:
        yield client
