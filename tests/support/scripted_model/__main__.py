"""Runs the scripted model by hand, to try the service against it without a key."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from tests.support.scripted_model.replies import reply_from_json
from tests.support.scripted_model.server import Rule, ScriptedModel


def main() -> None:
    """Serves until interrupted, and prints each call's stage."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.support.scripted_model",
        description="A model on loopback that echoes, or does what a rules file says: a list of"
        ' {"stage": "facts", "contains": "Porto", "times": 1, "reply": {"http": 429}}.',
    )
    parser.add_argument("--port", type=int, default=8089)
    parser.add_argument("--rules", type=Path)
    arguments = parser.parse_args()
    given = json.loads(arguments.rules.read_text("utf-8")) if arguments.rules else []
    rules = [
        Rule(
            stage=rule["stage"],
            reply=reply_from_json(rule["reply"]),
            contains=rule.get("contains", ""),
            times=rule.get("times", 1),
        )
        for rule in given
    ]
    with ScriptedModel(rules, arguments.port) as model:
        print(f"REMANENCE_CLAUDE__BASE_URL={model.base_url}", flush=True)
        seen = 0
        try:
            while True:
                time.sleep(0.2)
                for call in model.calls[seen:]:
                    seen += 1
                    print(f"{call.stage}: {len(call.prompt)} characters", flush=True)
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
