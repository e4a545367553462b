"""The page: what is there from the beginning, and how each part of it is drawn."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shiny import ui

from .. import limits
from .._common.names import listed
from .choices import PARTS, READ_BY, VALUE_WORDS
from .examples import EXAMPLES

ASSETS = Path(__file__).parent / "page"
ACCEPTED = (
    ".csv", ".tsv", ".txt", ".tab", ".gz", ".bz2", ".xz", ".xlsx", ".xlsm", ".ods", ".parquet",
    ".pq", ".arrow", ".feather", ".ipc", ".npz", ".npy", ".svm", ".libsvm", ".svmlight", ".h5ad",
    ".bed", ".bim", ".fam",
)  # fmt: skip
ICON = (  # none would be asked for at an address without the token
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'%3E"
    "%3Ccircle cx='4' cy='4' r='3' fill='%231f5fa8'/%3E%3C/svg%3E"
)


def page() -> Any:
    """The whole page, with places for what the session draws."""
    tags = ui.tags
    return ui.page_fluid(
        tags.head(
            tags.meta(name="viewport", content="width=device-width, initial-scale=1"),
            tags.link(rel="icon", href=ICON),
            ui.include_css(ASSETS / "style.css", method="inline"),
            ui.include_js(ASSETS / "script.js", method="inline"),
        ),
        tags.div(
            "The connection to ksupport was lost. Start it again, and reload the page it opens.",
            id="lost", hidden=True, role="alert",
        ),
        tags.header(
            tags.h1("ksupport: which of many measurements matter?"),
            tags.p(
                "Everything happens on this computer. Nothing is sent anywhere, and nothing is "
                "kept when you close this page."
            ),
            class_="top",
        ),
        tags.main(
            _section(
                "1. Your data",
                tags.p(
                    "One row for each sample, one column for each measurement, names in the first "
                    "row: CSV, Excel, Parquet, NumPy, LIBSVM, AnnData or PLINK.",
                    class_="soft",
                ),
                tags.div(file_input("file", "Drop a file here", "Choose a file"), class_="drop"),
                tags.p("Or start with an example:", class_="soft", style="margin:14px 0 0"),
                tags.div(*map(_example, EXAMPLES), class_="gallery"),
            ),
            *map(ui.output_ui, ("columns", "run", "result")),
        ),
        ui.output_ui("busy"),
        title="ksupport", lang="en",
    )  # fmt: skip


def _section(heading: str, *content: Any) -> Any:
    return ui.tags.section(ui.tags.h2(heading), *content, class_="card-like")


def file_input(name: str, words: str, label: str) -> Any:
    """Return a field to drop files on."""
    size = f"up to {limits.UPLOAD / 1e6:.0f} MB"
    return ui.input_file(
        name, words, accept=list(ACCEPTED), multiple=True, button_label=label,
        placeholder=f"No file yet ({size})", width="100%",
    )  # fmt: skip


def busy_note(words: str) -> Any:
    """Return a note on what the page is waiting for."""
    return ui.tags.div(words, class_="busy", role="status") if words else None


def _example(name: str) -> Any:
    example = EXAMPLES[name]
    return ui.tags.button(
        ui.tags.strong(example.title), ui.tags.span(example.words),
        type="button", data_do="example", data_value=name,
    )  # fmt: skip


# -- the columns -----------------------------------------------------------------------------


def columns_section(preview: Mapping[str, Any], query: str) -> Any:
    """Return the section with the table, the part of each column, and the problems."""
    table = preview["table"]
    problems, remarks = _problems(preview["problems"]), _remarks(preview["remarks"])
    content = [problems, remarks]
    if table is not None:
        settings = [_summary(preview), _choices(preview, query)]
        content = [*settings, problems, _cells(table), _more(preview), remarks]
    return _section(f"2. The columns of {preview['file']}", *content)


def _summary(preview: Mapping[str, Any]) -> Any:
    table, li, b = preview["table"], ui.tags.li, ui.tags.b
    parts: dict[str, list[str]] = {}
    for name, part in table["parts"].items():
        parts.setdefault(part, []).append(name)
    items = [li(b(f"{table['rows']}"), " rows, ", b(f"{table['columns']}"), " columns")]
    if preview["ready"]:
        items.append(
            li("to explain: ", b(preview["response"].replace("survival", "survival times")))
        )
        items.append(li("features: ", b(f"{preview['features']}")))
    for part, word in PARTS.items():
        if part in parts:
            items.append(li(f"{word}: ", b(listed(parts[part], 3))))
    return ui.tags.ul(*items, class_="chips")


def _choices(preview: Mapping[str, Any], query: str) -> Any:
    table, tags = preview["table"], ui.tags
    target = next((name for name, part in table["parts"].items() if part == "target"), "")
    time = next((name for name, part in table["parts"].items() if part == "time"), "")
    blank = f"survival: {time}" if time else "choose a column"
    fields = [
        _field(
            "target", "What is to be explained?",
            tags.select(
                tags.option(blank, value="", selected=not target or None, disabled=True),
                *_options({name: name for name in table["offered"]}, target),
                id="choose-target", data_part="target", data_key="target",
            ),
        )
    ]  # fmt: skip
    if target:
        kinds = {"": "automatic", "numbers": "numbers", "classes": "classes"}
        fields.append(_setting("response", "Treat as", kinds, preview["choices"]["response"] or ""))
    if table["columns"] > len(table["shown"]) or query:
        fields.append(
            _field(
                "search", f"Find one of {table['columns']} columns",
                tags.input(
                    type="search", value=query, id="choose-search", data_search="",
                    data_key="search", autocomplete="off",
                ),
            )
        )  # fmt: skip
    return tags.div(*fields, class_="bar")


def _field(name: str, label: str, control: Any) -> Any:
    return ui.tags.div(ui.tags.label(label, for_=f"choose-{name}"), control)


def _setting(name: str, label: str, options: Mapping[str, str], value: str) -> Any:
    control = ui.tags.select(
        *_options(options, value), id=f"choose-{name}", data_setting=name, data_key=f"set-{name}"
    )
    return _field(name, label, control)


def _options(options: Mapping[str, str], value: str) -> list[Any]:
    return [
        ui.tags.option(words, value=key, selected=key == value or None)
        for key, words in options.items()
    ]


def _problems(problems: Sequence[Mapping[str, Any]]) -> Any:
    tags, items = ui.tags, []
    for at, problem in enumerate(problems, 1):
        ways = [
            tags.button(
                way["label"], type="button", data_do="mend", data_value=json.dumps(way["settings"])
            )
            for way in problem["ways"]
        ]
        mending = tags.div(*ways, class_="ways") if ways else None
        items.append(tags.li(problem["words"], mending, id=f"problem-{at}"))
    return tags.div(tags.ol(*items, class_="problems") if items else None, aria_live="polite")


def _cells(table: Mapping[str, Any]) -> Any:
    tags, shown = ui.tags, table["shown"]
    wrong = {(row, name) for row, name in table["cells_wrong"]}
    rows = [
        tags.tr(
            tags.th(str(number), scope="row"),
            *(_cell(column, at, (number, column["name"]) in wrong) for column in shown),
        )
        for at, number in enumerate(table["row_numbers"])
    ]
    left = table["columns"] - len(shown)
    return tags.div(
        _frame(
            "Table of the file",
            tags.caption("The first rows of the file", class_="visually-hidden"),
            tags.thead(tags.tr(tags.th("row", scope="col"), *map(_head, shown))),
            tags.tbody(*rows),
        ),
        tags.p(f"{left} more columns are not shown; find them by name above.", class_="soft small")
        if left > 0 else None,
    )  # fmt: skip


def _frame(label: str, *parts: Any) -> Any:
    """Return a table that scrolls."""
    return ui.tags.div(
        ui.tags.table(*parts, class_="cells"),
        class_="frame", tabindex="0", role="region", aria_label=label,
    )  # fmt: skip


def _head(column: Mapping[str, Any]) -> Any:
    tags, name = ui.tags, column["name"]
    badges = [
        tags.a(
            str(at + 1), href=f"#problem-{at + 1}", class_="badge-wrong",
            aria_label=f"problem {at + 1} of column {column['shown']}",
        )
        for at in column["problems"]
    ]  # fmt: skip
    return tags.th(
        tags.span(column["shown"], *badges, class_="name", title=name),
        tags.span(column["holds"], class_="holds"),
        tags.select(
            *_options(PARTS, column["part"]),
            data_part="", data_column=name, data_key=f"part-{name}",
            aria_label=f"What column {column['shown']} is",
        ),
        scope="col",
        class_=f"part-{column['part']}" + " has-problem" * bool(badges),
    )  # fmt: skip


def _cell(column: Mapping[str, Any], at: int, wrong: bool) -> Any:
    words = f"part-{column['part']}" + " text" * (column["holds"] == "text") + " wrong" * wrong
    return ui.tags.td(column["cells"][at], class_=words)


def _more(preview: Mapping[str, Any]) -> Any:
    """Return the settings of how the file is read."""
    chosen, tags = preview["choices"], ui.tags
    fields = _sheets(preview["sheets"], chosen)
    for name in ("missing", "duplicates"):
        ways = {value: words for (option, value), words in VALUE_WORDS.items() if option == name}
        fields.append(_setting(name, READ_BY[name], ways, chosen[name]))
    marks = {".": "point (1.5)", ",": "comma (1,5)"}
    fields.append(_setting("decimal", "Decimal mark", marks, chosen["decimal"]))
    fields.append(
        _field(
            "na", "Means missing (separate with ;)",
            tags.input(
                type="text", value="; ".join(chosen["na"]), id="choose-na", data_setting="na",
                data_key="set-na", placeholder="such as n.d.; -999", autocomplete="off",
            ),
        )
    )  # fmt: skip
    turned = tags.input(
        type="checkbox", id="choose-transpose", data_setting="transpose",
        checked=chosen["transpose"] or None, data_key="set-transpose",
    )  # fmt: skip
    label = tags.label("Features are in rows", for_="choose-transpose")
    return tags.details(
        tags.summary("How the file is read"),
        tags.div(*fields, tags.div(turned, " ", label), class_="bar"),
        tags.p(
            "Is the response, or other information on the samples, in another file? Drop it here; "
            "its first column must name the samples.",
            class_="soft small",
        ),
        tags.div(file_input("beside", "Table of samples", "Choose"), class_="drop small"),
        class_="more", id="more",
    )  # fmt: skip


def _sheets(names: Sequence[str], chosen: Mapping[str, Any]) -> list[Any]:
    """Return fields that choose the sheet, and one with a table of samples, of several."""
    if len(names) < 2:
        return []
    sheets = {name: name for name in names}
    beside = {"": "none", **sheets}
    return [
        _setting("sheet", "Sheet", sheets, chosen["sheet"] or names[0]),
        _setting("beside_sheet", "Table of samples", beside, chosen["beside_sheet"] or ""),
    ]


def _remarks(remarks: Sequence[str]) -> Any:
    return ui.tags.ul(*map(ui.tags.li, remarks), class_="remarks") if remarks else None


# -- the fit and its result ------------------------------------------------------------------


def run_section(ready: bool, progress: Mapping[str, Any] | None, error: str) -> Any:
    """Return the section with the button, or with the progress of the work."""
    tags = ui.tags
    words = tags.div(error, class_="error", role="alert") if error else None
    if progress is not None:
        return _section("3. Feature selection", _progress(progress), words)
    button = tags.button(
        "Find the features that matter", type="button", class_="main", data_do="fit",
        id="fit", disabled=None if ready else True, data_key="fit",
    )  # fmt: skip
    compare = tags.label(
        tags.input(type="checkbox", checked=True, data_setting="compare", id="compare"),
        " Also compare with a Lasso and a ridge on held-out rows (takes most of the time)",
        class_="soft",
        style="margin-top:10px;display:block",
    )
    note = None if ready else tags.p("First resolve the problems above.", class_="soft")
    return _section("3. Feature selection", words, button, compare if ready else note)


def _progress(progress: Mapping[str, Any]) -> Any:
    tags = ui.tags
    share, left = progress.get("share"), progress.get("left")
    words = progress["words"][:1].upper() + progress["words"][1:]
    time = f"{progress['so_far']} so far" + (f", about {left} left" if left else "")
    bar = tags.progress(
        value=None if share is None else f"{share:.3f}", max="1", aria_label="How far it is"
    )
    return tags.div(
        tags.p(words, style="margin:0 0 6px"),
        bar,
        tags.p(time, class_="soft", id="time"),
        tags.button(
            "Stop", type="button", class_="stop", data_do="stop", id="stop", data_key="stop"
        ),
    )


def result_section(
    links: Mapping[str, str], command: str, predicted: Mapping[str, Any] | None
) -> Any:
    """Return the sections with the report, downloads, and predictions for another file."""
    tags = ui.tags
    downloads = (
        ("report", "Report (HTML)", "report.html"),
        ("table", "Table of all features (CSV)", "features.csv"),
        ("model", "Model (JSON)", "model.json"),
    )
    buttons = [_download(links, *each) for each in downloads]
    return tags.div(
        _section(
            "4. The result",
            tags.div(*buttons, class_="downloads"),
            tags.iframe(
                src=links["shown"], class_="report", title="Report", id="report",
                sandbox="allow-scripts allow-downloads", allow="clipboard-write",
            ),
            tags.details(
                tags.summary("The same on the command line"),
                tags.code(command, class_="command"),
                class_="more",
            ),
        ),
        _section("5. Predictions for other samples", *_predictions(links, predicted)),
    )  # fmt: skip


def _download(links: Mapping[str, str], name: str, label: str, file: str) -> Any:
    return ui.tags.a(label, href=links[name], download=file, class_="plain", id=f"download-{name}")


def _predictions(links: Mapping[str, str], predicted: Mapping[str, Any] | None) -> list[Any]:
    tags = ui.tags
    content = [
        tags.p(
            "Drop a file with the same columns; it is read with the same settings. The response "
            "may be missing.",
            class_="soft",
        ),
        tags.div(file_input("new", "Other samples", "Choose a file"), class_="drop small"),
    ]
    if predicted is None:
        return content
    if "error" in predicted:
        return [*content, tags.div(predicted["error"], class_="error", role="alert")]
    head, *rows = predicted["head"]
    more = f", the first {len(rows)} of which are below" if len(rows) < predicted["rows"] else ""
    return [
        *content,
        tags.p(f"{predicted['rows']} predictions{more}.", id="predicted"),
        _remarks(predicted["remarks"]),
        _frame(
            "Predictions",
            tags.thead(tags.tr(*(tags.th(each, scope="col") for each in head))),
            tags.tbody(*(tags.tr(*map(tags.td, row)) for row in rows)),
        ),
        tags.p(
            _download(links, "predictions", "Predictions (CSV)", "predictions.csv"),
            style="margin-top:10px",
        ),
    ]  # fmt: skip
