"""The worker process as the server sees it: start, ask, end."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Awaitable, Callable
from typing import Any

LONGEST_ANSWER = 1 << 26  # bytes of an answer: the preview of a table is much smaller
ENDED = "The computation ended without a result; perhaps there was not enough memory."
Hear = Callable[[dict[str, Any]], Awaitable[None]]


class Worker:
    """A process that works for one page, and sends it messages."""

    def __init__(self, hear: Hear) -> None:
        self._hear = hear
        self._process: Process | None = None
        self._starting: asyncio.Lock = asyncio.Lock()
        self._listening: asyncio.Task[None] | None = None
        self._number = 0
        self._closed = False

    async def start(self) -> None:
        """Start the process, so that it is ready when it is asked."""
        async with self._starting:
            if self._process is None and not self._closed:
                self._process = await asyncio.create_subprocess_exec(
                    sys.executable, "-m", "ksupport.app.worker",
                    stdin=PIPE, stdout=PIPE, stderr=DEVNULL, limit=LONGEST_ANSWER,
                )  # fmt: skip
                self._listening = asyncio.create_task(self._listen(self._process))

    async def ask(self, do: str, **request: Any) -> int:
        """Send a request; its answer comes with the number that is returned."""
        self._number += 1
        number = self._number
        await self.start()
        process = self._process
        if process is not None and process.stdin is not None:
            line = json.dumps({"do": do, "number": number, **request}) + "\n"
            process.stdin.write(line.encode())
            await process.stdin.drain()
        return number

    async def stop(self) -> None:
        """Kill the process; the next request starts another one."""
        process, self._process = self._process, None
        self._number += 1  # of what was asked before nothing is heard any more
        if process is not None:
            await kill(process)

    async def close(self) -> None:
        self._closed = True
        await self.stop()

    async def _listen(self, process: Process) -> None:
        assert process.stdout is not None
        async for line in process.stdout:
            if process is self._process:
                await self._hear(json.loads(line))
        if process is self._process:
            self._process = None
            await self._hear({"event": "ended", "error": ENDED})


async def kill(process: Process) -> None:
    """Kill a process and wait until it is gone."""
    if process.returncode is None:
        try:
            process.kill()
        except ProcessLookupError:
            return
        await process.wait()
