"""HTTP paths: the bindings of google.api.http, and whether two of them collide."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from remanence_generator.model import Contract, GenerationError, Method, Route

_VERBS = ("get", "put", "post", "delete", "patch")
_VARIABLE = re.compile(r"\{([a-z][a-z0-9_]*)\}")


def routes_of(rule: Any, where: str) -> tuple[Route, ...]:
    """The route of an HttpRule and those of its additional bindings.

    Fails with GenerationError for a path template or a body form that the transcoder does not do.
    """
    return tuple(_route(one, where) for one in (rule, *rule.additional_bindings) if _verb(one))


def check_collisions(contract: Contract) -> None:
    """Fails with GenerationError when one request could be meant for two methods."""
    seen: list[tuple[Method, Route]] = []
    for method, route in _all_routes(contract):
        for other_method, other in seen:
            if other.verb == route.verb and _overlap(other.path, route.path):
                raise GenerationError(
                    f"{route.verb} {route.path} of {method.name} collides with "
                    f"{other.path} of {other_method.name}"
                )
        seen.append((method, route))


def _all_routes(contract: Contract) -> Iterator[tuple[Method, Route]]:
    for file in contract.files:
        for service in file.services:
            for method in service.methods:
                for route in method.routes:
                    yield method, route


def _verb(rule: Any) -> str | None:
    verb = rule.WhichOneof("pattern")
    return None if verb is None else str(verb)


def _route(rule: Any, where: str) -> Route:
    verb = _verb(rule)
    if verb not in _VERBS:
        raise GenerationError(f"{where}: HTTP binding without a usual verb")
    if rule.body not in ("", "*"):
        raise GenerationError(f"{where}: the body must be absent or '*', not {rule.body!r}")
    path = getattr(rule, verb)
    variables = tuple(_VARIABLE.findall(path))
    if "{" in _VARIABLE.sub("", path) or "*" in path or not path.startswith("/"):
        raise GenerationError(f"{where}: path template {path!r} is not supported")
    return Route(verb.upper(), path, variables, rule.body == "*")


def _overlap(first: str, second: str) -> bool:
    left, right = first.split("/"), second.split("/")
    return len(left) == len(right) and all(
        _same_segment(pair) for pair in zip(left, right, strict=True)
    )


def _same_segment(pair: Iterable[str]) -> bool:
    left, right = pair
    return left == right or left.startswith("{") or right.startswith("{")
