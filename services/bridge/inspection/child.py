"""The inspecting child: `python -m services.bridge.inspection.child`. Holds no key of ours, opens nothing, answers jobs.

What finds our own secrets' values is told before the first job, and can make nothing. It ends when its input ends. It catches nothing: an error
ends it, and the bridge blocks what it was looking at.
"""

import gc
import sys
from typing import Any

from schemas.text import parse_json
from services.bridge.inspection.checks.internal import InternalColumns
from services.bridge.inspection.checks.own_secrets import OwnSecrets
from services.bridge.inspection.examine import examine
from services.bridge.inspection.frames import LENGTH, MAX_JOB, frame, length_of
from services.bridge.inspection.limits import allow_cpu, lock_down

CPU_SECONDS = 3
_WARM_UP = {
    "title": "Warm-up",
    "summary": "",
    "body": '# a\n\n<b>x</b> [a](https://example.org)[^1] `password = "swordfish"` \u202e me@firma.de +49 30 1234567\n\n[^1]: n\n',
    "prior_body": None,
}

_WARM_FILE = {"name": "a.csv", "media_type": "text/csv", "size": 4, "data": "YSxiCg=="}


def main() -> None:
    """Load all that is needed, give up all rights, say so, then answer."""
    examine(_WARM_UP)
    examine({"attachment": _WARM_FILE})
    gc.collect()
    gc.freeze()
    lock_down()
    _answer({"ready": True})
    own: OwnSecrets | None = None
    columns: InternalColumns | None = None
    while (job := _next_job()) is not None:
        allow_cpu(CPU_SECONDS)
        if "columns" in job:
            columns = columns or InternalColumns()
            columns.learn(job["columns"])
            _answer({"ready": True})
        elif "known" in job:
            own = OwnSecrets.of_frame(job["known"])
            _answer({"ready": True})
        else:
            _answer({"findings": [each.model_dump(mode="json") for each in examine(job, own, columns)]})


def _next_job() -> dict[str, Any] | None:
    head = sys.stdin.buffer.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    job: dict[str, Any] = parse_json(sys.stdin.buffer.read(length_of(head, MAX_JOB)))
    return job


def _answer(value: dict[str, Any]) -> None:
    sys.stdout.buffer.write(frame(value))
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
