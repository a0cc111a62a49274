"""Prometheus instruments. Each service has a registry of its own; nothing here is global.

Labels come from closed sets (surfaces, routes, stages, codes): never ids, paths or text.
"""

from __future__ import annotations

from remanence_server.runtime.metrics.instruments import (
    DatabaseMetrics,
    JobMetrics,
    Metrics,
    ProjectionMetrics,
    ProviderMetrics,
    QueueMetrics,
    RequestMetrics,
    SearchMetrics,
    create_metrics,
)
from remanence_server.runtime.metrics.page import MetricsPage, render
from remanence_server.runtime.metrics.sampling import Reading, SampledMetric, Sampler

__all__ = [
    "DatabaseMetrics",
    "JobMetrics",
    "Metrics",
    "MetricsPage",
    "ProjectionMetrics",
    "ProviderMetrics",
    "QueueMetrics",
    "Reading",
    "RequestMetrics",
    "SampledMetric",
    "Sampler",
    "SearchMetrics",
    "create_metrics",
    "render",
]
