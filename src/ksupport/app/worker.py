"""The process of one page: reads, fits and predicts, and ends with the page.

Requests come on standard input and answers go to standard output, a line of JSON each.  When the
input ends, because the page was closed or the server is gone, so does the process, whatever it is
doing.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any

from .._common.errors import InputError

Send = Callable[[dict[str, Any]], None]


def main() -> None:
    """Answer requests until there are no more."""
    send = _sender()
    requests: SimpleQueue[dict[str, Any]] = SimpleQueue()
    Thread(target=_listen, args=(requests,), daemon=True).start()
    from . import desk  # takes a second or two, which the page need not wait for

    send({"event": "started"})
    while True:
        _answer(desk, requests.get(), send)


def _sender() -> Send:
    """What writes answers; whatever else is printed goes to standard error."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    lock = Lock()

    def send(message: dict[str, Any]) -> None:
        with lock:
            out.write(json.dumps(message) + "\n")
            out.flush()

    return send


def _listen(requests: SimpleQueue[dict[str, Any]]) -> None:
    for line in sys.stdin:
        requests.put(json.loads(line))
    os._exit(0)  # also in the middle of a fit


def _answer(desk: Any, request: dict[str, Any], send: Send) -> None:
    number, what = request.pop("number"), request.pop("do")
    from ..commands.terminal.exit import CommandError

    try:
        if what == "fit":
            with desk.report_progress(lambda state: send({"event": "progress", **state})) as say:
                answer = desk.fit(**request, say=say)
        else:
            tasks = {"inspect": desk.inspect, "predict": desk.predict, "example": desk.example}
            answer = tasks[what](**request)
    except (InputError, CommandError, ImportError) as error:
        answer = {"error": str(error)}
    except MemoryError:
        answer = {"error": "There is not enough memory for these data."}
    except Exception as error:  # the page tells that it is a mistake of ours
        traceback.print_exc()
        answer = {"error": f"Internal error, please report it: {type(error).__name__}: {error}"}
    send({"event": "answer", "number": number, "to": what, **answer})


if __name__ == "__main__":
    main()
