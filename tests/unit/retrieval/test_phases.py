from __future__ import annotations

import pytest
from prometheus_client import CollectorRegistry

from remanence_server.retrieval.phases import Phases
from remanence_server.retrieval.results import Method
from remanence_server.runtime.metrics import SearchMetrics


def test_a_phase_is_timed_under_its_method_also_when_it_fails() -> None:
    registry = CollectorRegistry()
    phases = Phases(Method.HYBRID, SearchMetrics.of(registry))
    with phases.phase("lexical"):
        pass
    with pytest.raises(RuntimeError), phases.phase("lexical"):
        raise RuntimeError
    name = "remanence_search_phase_duration_seconds_count"
    assert registry.get_sample_value(name, {"phase": "lexical", "method": "hybrid"}) == 2
    assert registry.get_sample_value(name, {"phase": "lexical", "method": "keyword"}) is None
