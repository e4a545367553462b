"""Tables in text files: the encoding and the separator are found out, pandas does the rest."""

from __future__ import annotations

import codecs
import io
import re
import warnings
from collections.abc import Iterator
from typing import Any

from .._common.errors import InputError
from .._common.names import shown
from .._common.phases import Update, phase
from . import size
from .cells import EXPONENT, is_beyond
from .options import Reading
from .problems import option
from .source import CHUNK_BYTES, Source

SEPARATORS = ("\t", ";", ",", "|")  # of equally likely ones the first is taken
BLANKS = r"\s+"  # any number of blanks, as in PLINK's tables
LINES_READ = 20  # lines by which a separator is judged
BOMS = (  # how a text that says its encoding begins; that of UTF-32 begins as UTF-16's does
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
BLANK_LINE = re.compile(rb"\n *\r?\n|\r *\r")
QUOTED = re.compile(r'"[^"]*"')
ROW_NAMES = "row names"  # what a column is called that R writes without a name


def from_text(source: Source, reading: Reading) -> tuple[Any, list[str]]:
    """The table of a text file, whose first line holds the names, and what was assumed."""
    import pandas as pd

    text, remarks = _in_utf8(source, reading.encoding)
    text = _trim(text)
    _check_text(text, source.name)
    separator = reading.separator or _separator(text)
    reading.budget.check(source.name, size.of_csv(text, separator))
    # A blank line is a row, so that rows and predictions go on corresponding.
    how: dict[str, Any] = {
        "sep": separator, "encoding": "utf-8", "skip_blank_lines": False, "index_col": False,
    }  # fmt: skip
    try:
        with warnings.catch_warnings():
            # Longer lines than the first one would lose cells with no more than a warning.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            names, remark = _header(text, how, source.name)
            remarks += remark
            how |= {"header": 0, "names": range(len(names))}
            how["dtype"] = _kept_as_text(text, how)
            with phase("parsing", len(text)) as update:
                frame = pd.read_csv(
                    _Followed(text, update), decimal=reading.marks.decimal, low_memory=False,
                    na_values=list(reading.na) or None, **how,
                ).set_axis(names, axis=1)  # fmt: skip
            return frame, remarks
    except pd.errors.EmptyDataError:
        raise InputError(f"{source.name} is empty") from None
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        raise InputError(
            f"{source.name}: every line needs as many cells as the first one, and every quote its "
            f"end ({shown(str(error).strip(), 200)}). Columns were separated at {separator!r}: "
            f"{option('separator')} names another sign"
        ) from None


def _header(text: bytes, how: dict[str, Any], file: str) -> tuple[list[str], list[str]]:
    """The names of the columns, and a remark if names of rows have none."""
    import pandas as pd

    with phase("finding its columns"):
        first = pd.read_csv(
            io.BytesIO(text), header=None, nrows=1, dtype=object, keep_default_na=False, **how
        )
    names, separator = [str(cell) for cell in first.iloc[0]], how["sep"]
    _check_comment(text, len(names), separator, file)
    _check_separator(names, separator, file)
    cells = [
        len(line.split()) if separator == BLANKS else line.count(separator) + 1
        for line in _first_lines(text)
    ]
    if len(cells) < 2 or any(count != cells[0] + 1 for count in cells[1:]):
        return names, []
    return [ROW_NAMES, *names], [
        f"Line 1 of {file} has one name less than the others have cells, as R writes tables: the "
        "first column was taken for the names of the rows."
    ]


class _Followed(io.BytesIO):
    """Bytes that tell how many of them have been read."""

    def __init__(self, data: bytes, update: Update) -> None:
        super().__init__(data)
        self._update = update

    def read1(self, size: int | None = -1, /) -> bytes:
        self._update(self.tell())
        return super().read1(size)

    def read(self, size: int | None = -1, /) -> bytes:
        self._update(self.tell())
        return super().read(size)


def _in_utf8(source: Source, encoding: str | None) -> tuple[bytes, list[str]]:
    """The text of a file in UTF-8, whatever it is stored in, and a remark if that was guessed."""
    data, remarks = source.data, []
    if encoding is None:
        encoding = next((name for bom, name in BOMS if data.startswith(bom)), None)
    if encoding is None:
        if data.isascii() or _decodes(data, "utf-8"):
            return data, []
        encoding = "cp1252" if _decodes(data, "cp1252") else "latin-1"
        remarks = [
            f"{source.name} is not UTF-8 text, and was read as Windows-1252 (Western European); "
            f"{option('encoding')} names another encoding, such as cp1250 or mac-roman."
        ]
    try:
        return data.decode(encoding).encode("utf-8"), remarks
    except UnicodeError as error:
        raise InputError(
            f"{source.name} is not text in {option('encoding', encoding)}: {error}; leave it out, "
            "or name another"
        ) from None


def _decodes(data: bytes, encoding: str) -> bool:
    chunks = (data[at : at + CHUNK_BYTES] for at in range(0, len(data), CHUNK_BYTES))
    try:
        for _ in codecs.iterdecode(chunks, encoding):
            pass
    except UnicodeDecodeError:
        return False
    return True


def _separator(text: bytes) -> str:
    """The separator that splits the first lines into equally many cells, the more the better."""
    lines = list(_first_lines(text))
    scores = {mark: _score([line.count(mark) for line in lines]) for mark in SEPARATORS}
    best = max(scores, key=lambda mark: scores[mark])
    if scores[best] > (0.0, 0):
        return best
    first, *rest = (len(line.split()) for line in lines)
    even = {each - first for each in rest} in (set(), {0}, {1})  # 1: rows have a name, in R
    return BLANKS if first > 1 and even else ","


def _score(counts: list[int]) -> tuple[float, int]:
    """In how many lines a sign occurs as often as in the first, and how often it does."""
    first = counts[0]
    if first == 0:
        return 0.0, 0
    alike = max(sum(each == first for each in counts), sum(each == first + 1 for each in counts))
    return alike / len(counts), first


def _first_lines(text: bytes) -> Iterator[str]:
    """The first lines, with one letter for all that stands in quotes."""
    end, start = (b"\n" if b"\n" in text else b"\r"), 0
    for _ in range(LINES_READ):
        at = text.find(end, start)
        line = text[start : len(text) if at < 0 else at]
        yield QUOTED.sub("q", line.decode("utf-8", "replace"))
        if at < 0 or at + 1 >= len(text):
            return
        start = at + 1


def _check_separator(names: list[str], separator: str, file: str) -> None:
    if len(names) > 1:
        return
    counts = {mark: names[0].count(mark) for mark in (*SEPARATORS, " ") if mark != separator}
    mark = max(counts, key=lambda each: counts[each])
    if counts[mark]:
        raise InputError(
            f"{file} has a single column if {separator!r} separates them, but its first line "
            f"holds {counts[mark]} times {mark!r}: try {option('separator', repr(mark))}"
        )


def _kept_as_text(text: bytes, how: dict[str, Any]) -> dict[int, type]:
    """The columns with a cell that would crash pandas' parser of numbers: they stay text."""
    import pandas as pd

    if EXPONENT.search(text) is None:
        return {}
    cells = pd.read_csv(io.BytesIO(text), dtype=object, **how)
    return {j: object for j in cells if cells[j].map(is_beyond).any()}


def _trim(text: bytes) -> bytes:
    """Text without blank lines at its ends; mostly there are none, and nothing is copied."""
    end = text[-3:]
    if text[:1] in (b"\r", b"\n") or BLANK_LINE.search(end) or not end.strip():
        return text.lstrip(b"\r\n").rstrip(b" \r\n")
    return text


def _check_text(text: bytes, name: str) -> None:
    """Refuse what is no text, and lines with nothing on them."""
    if b"\0" in text:
        line = len(text[: text.index(b"\0") + 1].splitlines())
        raise InputError(
            f"{name}: line {line} holds a NUL byte, so this is not text; save it again"
        )
    quotes = at = 0
    for blank in BLANK_LINE.finditer(text):
        quotes += text.count(b'"', at, blank.start())
        at = blank.start()
        if quotes % 2 == 0:  # else it is inside of a cell
            line = len(text[:at].splitlines()) + 1
            raise InputError(
                f"{name}: line {line} is blank, and it is not the last one. Remove it; or, if it "
                "stands for a row without values, write its separators"
            )


def _check_comment(text: bytes, cells: int, separator: str, file: str) -> None:
    """Refuse a first line that is no header, but a comment: it has not the cells of the next."""
    first, *rest = text.split(b"\n", 2)
    if not first.startswith((b"#", b"%", b"//")) or not rest:
        return
    others = rest[0].count(separator.encode()) + 1
    if others != cells and separator != BLANKS:  # names of rows have no such header
        raise InputError(
            f"{file}: line 1 begins with {shown(first.decode('utf-8', 'replace'))[:1]!r} and has "
            f"{cells} cells where line 2 has {others}, so it is a comment and holds no names of "
            "columns: remove the lines above the one that does"
        )
