"""One open page: its state, what clicks do, and what is drawn."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from shiny import App, reactive, render
from starlette.responses import FileResponse, PlainTextResponse, Response

from .choices import Choices
from .page import busy_note, columns_section, page, result_section, run_section
from .process import Worker

Act = Callable[[Any], Awaitable[None]]
FILES = {  # what can be fetched of a page, by the name of its route
    "shown": "report.html",
    "report": "report.html",
    "table": "features.csv",
    "model": "model.json",
    "predictions": "predictions.csv",
}
BUSY = {
    "inspect": "Reading the file …",
    "example": "Making the example …",
    "predict": "Predicting …",
}
LONGEST_FILE_NAME = 100  # characters of a name
DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)  # names on Windows
MAIN = ".bed"  # of several files, the one that names the others
STARTING: dict[str, Any] = {"words": "starting", "so_far": "0 s"}


def application(folder: Path) -> App:
    """The page as an ASGI application; what pages are sent lies in this folder."""
    pages: set[Page] = set()

    def server(input: Any, output: Any, session: Any) -> None:
        opened = Page(Path(tempfile.mkdtemp(dir=folder)))
        pages.add(opened)
        _connect_outputs(opened, session)
        _connect_inputs(opened, input)

        @session.on_ended
        async def _() -> None:
            pages.discard(opened)
            await opened.close()

    return App(page(), server)


class Page:
    """The state of one open page; a change redraws what depends on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.worker = Worker(self.hear)
        self.file: Path | None = None
        self.compare = True
        self.search: reactive.Value[str] = reactive.Value("")
        self.error: reactive.Value[str] = reactive.Value("")
        self.busy: reactive.Value[str] = reactive.Value("")  # with what, in words
        self.preview: reactive.Value[Any] = reactive.Value(None)
        self.progress: reactive.Value[Any] = reactive.Value(None)
        self.result: reactive.Value[Any] = reactive.Value(None)
        self.predicted: reactive.Value[Any] = reactive.Value(None)
        self._waiting: dict[str, int] = {}  # for the answer to a request of each kind

    async def close(self) -> None:
        await self.worker.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    # -- requests to the worker ----------------------------------------------------------------

    async def ask(self, do: str, **request: Any) -> None:
        """Ask the worker; of several requests of a kind, only the last one's answer counts."""
        self.busy.set(BUSY.get(do, ""))
        self._waiting[do] = await self.worker.ask(do, **request)

    async def open(self, file: Path) -> None:
        if self.file is not None:
            shutil.rmtree(self.file.parent, ignore_errors=True)
        self.file = file
        if self.progress.get() is not None:
            await self.worker.stop()
        for value in (self.preview, self.progress, self.result, self.predicted):
            value.set(None)
        self.search.set("")
        self.error.set("")
        await self.ask("inspect", path=str(file), choices=None)

    async def choose(self, choices: Choices) -> None:
        """Read the file again, with other choices."""
        await self.ask(
            "inspect", path=str(self.file), choices=choices.to_dict(), search=self.search.get()
        )

    async def find(self, text: str) -> None:
        self.search.set(text)
        await self.choose(self.choices)

    @property
    def choices(self) -> Choices:
        preview = self.preview.get()
        return Choices() if preview is None else Choices.from_dict(preview["choices"])

    async def fit(self) -> None:
        preview = self.preview.get()
        if self.file is None or preview is None or not preview["ready"]:
            return
        self.error.set("")
        self.result.set(None)
        self.predicted.set(None)
        self.progress.set(STARTING)
        await self.ask(
            "fit", path=str(self.file), choices=preview["choices"], folder=str(self.folder),
            compare=self.compare,
        )  # fmt: skip

    async def stop(self) -> None:
        """Stop the fit; the choices stay."""
        await self.worker.stop()
        self.progress.set(None)
        self.error.set("Stopped; no result was kept.")
        await self.worker.start()

    # -- messages from the worker --------------------------------------------------------------

    async def hear(self, message: Mapping[str, Any]) -> None:
        async with reactive.lock():
            await self._handle_message(message)
            await reactive.flush()

    async def _handle_message(self, message: Mapping[str, Any]) -> None:
        event = message["event"]
        if event == "progress":
            if self.progress.get() is not None:
                self.progress.set(dict(message))
        elif event == "ended":
            self.progress.set(None)
            self.busy.set("")
            self.error.set(message["error"])
        elif event == "answer" and message["number"] == self._waiting.get(message["to"]):
            await self._handle_answer(str(message["to"]), dict(message))

    async def _handle_answer(self, to: str, answer: dict[str, Any]) -> None:
        error = answer.get("error")
        self.busy.set("")
        if to == "predict":
            self.predicted.set(answer)
        elif to == "fit":
            self.progress.set(None)
            self.error.set(error or "")
            self.result.set(None if error else answer)
        elif error:
            self.error.set(error)
        elif to == "inspect":
            self.preview.set(answer)
        elif to == "example":
            await self.open(Path(answer["path"]))


def _connect_outputs(opened: Page, session: Any) -> None:
    """Redraw each part of the page when its state changes."""
    links = {name: session.dynamic_route(name, _file(opened, name)) for name in FILES}

    @render.ui
    def busy() -> Any:
        return busy_note(opened.busy.get())

    @render.ui
    def columns() -> Any:
        preview = opened.preview.get()
        with reactive.isolate():
            search = opened.search.get()
        return None if preview is None else columns_section(preview, search)

    @render.ui
    def run() -> Any:
        preview, error = opened.preview.get(), opened.error.get()
        if preview is None:
            return run_section(False, None, error) if error else None
        return run_section(preview["ready"], opened.progress.get(), error)

    @render.ui
    def result() -> Any:
        done = opened.result.get()
        if done is None:
            return None
        return result_section(links, done["command"], opened.predicted.get())


def _connect_inputs(opened: Page, input: Any) -> None:
    """Let clicks and files act on the page."""

    def on(event: str) -> Callable[[Act], None]:
        sent = getattr(input, event)

        def connect(act: Act) -> None:
            @reactive.effect
            @reactive.event(sent)
            async def _() -> None:
                await act(sent())

        return connect

    @reactive.effect
    async def _() -> None:
        await opened.worker.start()

    @on("file")
    async def _(files: Any) -> None:
        await opened.open(save_uploads(files, opened.folder))

    @on("beside")
    async def _(files: Any) -> None:
        beside = str(save_uploads(files, opened.folder))
        await opened.choose(replace(opened.choices, beside=beside, beside_sheet=None))

    @on("new")
    async def _(files: Any) -> None:
        path, folder = str(save_uploads(files, opened.folder)), str(opened.folder)
        await opened.ask("predict", path=path, choices=opened.choices.to_dict(), folder=folder)

    on("part")(partial(_set_part, opened))
    on("setting")(partial(_set, opened))
    on("search")(opened.find)
    on("press")(partial(_press, opened))


async def _set(opened: Page, given: Mapping[str, str]) -> None:
    name, value, choices = given["name"], given["value"], opened.choices
    if name == "compare":
        opened.compare = value != ""
        return
    if name == "na":
        texts = [each.strip() for each in value.split(";")]
        choices = replace(choices, na=tuple(filter(None, texts)))
    elif name == "response":
        choices = replace(choices, response=value or None)
    elif name == "beside_sheet":
        choices = replace(choices, beside=None, beside_sheet=value or None)
    else:
        choices = choices.apply_settings([(name, value)])
    await opened.choose(choices)


async def _press(opened: Page, pressed: Mapping[str, str]) -> None:
    do, value = pressed["do"], pressed["value"]
    if do == "example":
        await opened.ask("example", name=value, folder=tempfile.mkdtemp(dir=opened.folder))
    elif do == "mend":
        settings = [(name, apply_settings) for name, apply_settings in json.loads(value)]
        await opened.choose(opened.choices.apply_settings(settings))
    elif do == "fit":
        await opened.fit()
    elif do == "stop":
        await opened.stop()


async def _set_part(opened: Page, chosen: Mapping[str, str]) -> None:
    """Give a column a part; a feature that looks like an id gets the part "keep"."""
    column, part = chosen["column"], chosen["part"]
    problems: Sequence[Mapping[str, Any]] = (opened.preview.get() or {}).get("problems", ())
    asked = any(
        setting == ["keep", column]
        for problem in problems
        for way in problem["ways"]
        for setting in way["settings"]
    )
    kept = "keep" if part == "feature" and asked else part
    await opened.choose(opened.choices.with_part(column, kept))


def _file(opened: Page, name: str) -> Any:
    """Return a handler that serves one of the files that the page writes itself."""

    async def handler(request: Any) -> Response:
        path = opened.folder / FILES[name]
        if not path.is_file():
            return PlainTextResponse("not available yet", status_code=404)
        if name == "shown":
            return FileResponse(path, media_type="text/html; charset=utf-8")
        return FileResponse(path, filename=path.name)

    return handler


def safe_name(name: str) -> str:
    """Return a similar file name that cannot leave its folder.

    >>> safe_name("../../etc/pass wd.csv"), safe_name("C:\\\\x\\\\con.csv"), safe_name("..")
    ('pass wd.csv', '_con.csv', 'file')
    """
    last = re.split(r"[/\\]", name)[-1]
    kept = re.sub(r"[^\w.()+ -]", "_", last).strip(". ")[-LONGEST_FILE_NAME:].lstrip(". -")
    return f"_{kept}" if DEVICES.match(kept) else kept or "file"


def save_uploads(uploads: Sequence[Mapping[str, Any]], folder: Path) -> Path:
    """Move uploaded files into a new folder, and return the path of the one to read.

    Files of PLINK come in threes; otherwise it is the first.
    """
    into = Path(tempfile.mkdtemp(dir=folder))
    paths = []
    for upload in uploads:
        path = into / safe_name(str(upload["name"]))
        os.replace(upload["datapath"], path)
        paths.append(path)
    return next((path for path in paths if path.suffix.lower() == MAIN), paths[0])
