"""Damaged files: every reader, the loader of models and the writer of reports.

    python files.py KIND RUNS [SEED]
    python files.py all RUNS [SEED]

An input may be read, or refused by `InputError`; nothing else may happen, within ten seconds and
half a gigabyte.  With atheris, coverage of this package leads the search; without it, inputs are
files of each kind with random changes.  Half of the changes of what is packed are made inside of
it, so that they are not all found out by a checksum.  Ends with how many inputs were tried.
"""

import gzip
import io
import json
import lzma
import os
import random
import signal
import struct
import subprocess
import sys
import tempfile
import warnings
import zipfile
import zlib
from contextlib import contextmanager
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np

SECONDS = 10  # for one input
MEGABYTES = 500  # that all inputs together may add
ROWS = 12
BETWEEN = b"\n--\n"  # what lies between files that are one input
RNG = np.random.default_rng(0)
TABLE = np.column_stack([RNG.integers(-9, 9, (ROWS, 3)), RNG.standard_normal(ROWS).round(2)])
NAMES = ["a", "b", "c", "y"]
TOKENS = [
    b",", b"\n", b"\r\n", b'"', b"\0", b"nan", b"inf", b"1e400", b"-", b"\xff\xfe", b"\xef\xbb\xbf",
    b"=cmd()", b"<script>", b"</title>", b"9" * 40, b"{", b"[", b"null", b"\xed\xa0\x80",
    b"\xff\xff\xff\xff", b"\0\0\0\0", b"PK\x03\x04", b"1:1", b"-1:2", b"99999999999:1", b"\\u0000",
]  # fmt: skip


# -- files to begin with -------------------------------------------------------------------


def frame():
    import pandas as pd

    return pd.DataFrame(TABLE, columns=NAMES)


def written(write):
    """What a function writes to a stream."""
    stream = io.BytesIO()
    write(stream)
    return stream.getvalue()


def spreadsheet(engine):
    return written(lambda stream: frame().to_excel(stream, index=False, engine=engine))


def arrow():
    from pyarrow import Table, feather

    return written(lambda stream: feather.write_feather(Table.from_pandas(frame()), stream))


def csv():
    return frame().to_csv(index=False).encode()


def libsvm():
    lines = (" ".join(f"{j + 1}:{x:g}" for j, x in enumerate(row[:3])) for row in TABLE)
    return "".join(f"{y:g} {x}\n" for y, x in zip(TABLE[:, 3], lines, strict=True)).encode()


def npz():
    arrays = {"X": TABLE[:, :3], "y": TABLE[:, 3], "feature_names": np.array(NAMES[:3])}
    return written(lambda stream: np.savez_compressed(stream, **arrays))


def model():
    feature = {"name": "a", "coefficient": 2.0, "fill": 0.5, "probability": 0.9}
    other = {"name": "b", "coefficient": -1, "fill": 0.0, "probability": 0.2}
    return json.dumps(
        {
            "schema": "ksupport-model", "schema_version": 1, "target": "y", "response": "numbers",
            "classes": [], "id": None, "intercept": 1.0, "features": [feature, other],
            "adjusted_for": [{"name": "sex=f", "coefficient": 0.1, "fill": 0.4}],
            "codings": [{"name": "sex", "levels": ["f", "m"]}], "chosen": {"k": 2}, "made": {},
        }
    ).encode()  # fmt: skip


def plink():
    """The three files of PLINK, one after the other; columns of three bytes each."""
    bed = b"\x6c\x1b\x01" + np.random.default_rng(1).bytes(3 * 5)
    bim = "".join(f"1\trs{j}\t0\t{100 + j}\tA\t{'CGTAC'[j]}\n" for j in range(5))
    fam = "".join(f"f{i} i{i} 0 0 {1 + i % 2} {y}\n" for i, y in enumerate(TABLE[:, 3]))
    return bed + BETWEEN + bim.encode() + BETWEEN + fam.encode()


def h5ad():
    import anndata
    import pandas as pd

    rows, columns = [f"cell{i}" for i in range(ROWS)], NAMES[:3]
    obs = pd.DataFrame({"y": TABLE[:, 3], "kind": pd.Categorical(list("ab" * 6))}, rows)
    X = anndata.AnnData(TABLE[:, :3], obs, pd.DataFrame(index=columns))
    with tempfile.TemporaryDirectory() as folder:
        X.write_h5ad(Path(folder, "X.h5ad"))
        return Path(folder, "X.h5ad").read_bytes()


def table_of_samples():
    """What tells of the samples of `plink`, as PLINK has it."""
    rows = zip(range(ROWS), TABLE[:, 3], "ab" * 6, strict=True)
    return "".join(["FID IID y batch\n", *(f"f{i} i{i} {y} {b}\n" for i, y, b in rows)]).encode()


SEEDS = {
    "csv": csv,
    "tsv": lambda: frame().to_csv(index=False, sep="\t").encode(),
    "csv.gz": lambda: gzip.compress(csv()),
    "csv.xz": lambda: lzma.compress(csv()),
    "parquet": lambda: written(frame().to_parquet),
    "arrow": arrow,
    "npz": npz,
    "svm": libsvm,
    "xlsx": lambda: spreadsheet("openpyxl"),
    "ods": lambda: spreadsheet("odf"),
    "bed": plink,
    "phenotypes": table_of_samples,
    "h5ad": h5ad,
    "model.json": model,
    "report": lambda: b"gene\0" + "ü<b>&\"'".encode() + b"\0=1+1\0y\0a remark",
}
NEEDS = {
    "bed": "bed_reader",
    "phenotypes": "bed_reader",
    "h5ad": "anndata",
}  # beside the tests' own
LIGHT = {
    "csv.gz",
    "parquet",
    "arrow",
    "npz",
    "svm",
    "model.json",
}  # a millisecond or two: more of them


def kinds():
    """All that can be tried here."""
    return [kind for kind in SEEDS if kind not in NEEDS or find_spec(NEEDS[kind])]


# -- what is done with an input ------------------------------------------------------------


def read_it(path):
    from ksupport import read

    data = read(path, None if path.suffix in (".npz", ".svm") else "y", max_memory=0.05)
    assert data.X.shape[1] == len(data.feature_names)


def read_genotypes(path):
    """The three files, apart, and the genotypes themselves."""
    from ksupport import read

    parts = [*path.read_bytes().split(BETWEEN, 2), b"", b""][:3]
    for part, suffix in zip(parts, (".bed", ".bim", ".fam"), strict=True):
        path.with_suffix(suffix).write_bytes(part)
    data = read(path, "pheno")
    assert data.X[:, [0]].shape == (len(data.y), 1)


def read_samples(path):
    from ksupport import read

    for part, suffix in zip(plink().split(BETWEEN), (".bed", ".bim", ".fam"), strict=True):
        path.with_suffix(suffix).write_bytes(part)
    text = path.rename(path.with_suffix(".txt"))
    data = read(path.with_suffix(".bed"), "y", phenotypes=text, missing="drop-rows")
    assert data.X.shape[0] == data.y.size


def load_it(path):
    from ksupport.commands.fitting.model_file import load

    loaded = load(path)
    told = loaded.to_dict()
    json.dumps(told, allow_nan=False)
    assert loaded.coef.shape[1] == len(loaded.names)


@cache
def reported():
    """A model, and the tags of its report."""
    from ksupport import IRKSN
    from ksupport.explain.report import build_report

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = IRKSN(k=2, max_iter=20).fit(TABLE[:, :3], TABLE[:, 3])
        return fitted, count_tags(build_report(fitted, TABLE[:, :3], TABLE[:, 3]))


def report_on(path):
    """A report in which all words come from the input; none of them may become a tag."""
    from ksupport.explain.report import build_report

    words = [word.decode("utf-8", "replace") for word in path.read_bytes().split(b"\0")[:5]]
    a, b, c, target, remark = (words + [f"word {i}" for i in range(5)])[:5]
    names = (a, b + "2", c + "33")
    if len(set(names)) < 3:
        return
    fitted, tags = reported()
    text = build_report(
        fitted, TABLE[:, :3], TABLE[:, 3], feature_names=names, target=target, remarks=(remark,)
    )
    assert count_tags(text) == tags, "an input became a tag"
    text.encode("utf-8")


def count_tags(text):
    lower = text.lower()
    return {tag: lower.count(f"<{tag}") for tag in ("script", "img", "iframe")}


def action(kind):
    return {
        "model.json": load_it, "report": report_on, "bed": read_genotypes,
        "phenotypes": read_samples,
    }.get(kind, read_it)  # fmt: skip


@contextmanager
def within(seconds):
    """An error where it takes longer, by the clock of the CPU: others may have it meanwhile."""

    def late(*_):
        raise TimeoutError(f"longer than {seconds} s")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


class Tried:
    """Tries inputs of one kind, and keeps the last one where it can be found."""

    def __init__(self, kind, folder):
        self.path, self.act = Path(folder) / f"input.{kind}", action(kind)
        self.count = self.read = 0
        reported() if kind == "report" else None  # the first one imports

    def __call__(self, data):
        from ksupport._common.errors import InputError

        self.path.write_bytes(data)
        self.count += 1
        with warnings.catch_warnings(), within(SECONDS):
            warnings.simplefilter("ignore")
            try:
                self.act(self.path)
                self.read += 1
            except InputError as error:
                told = str(error)
                assert told, "an error without words"
                assert len(told) < 5000, "an error as long as a file"


# -- changes -------------------------------------------------------------------------------


def changed(data, rng):
    """A few random changes."""
    out = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 3, 8])):
        at = rng.randrange(len(out) + 1)
        upto = min(len(out), at + rng.choice([1, 1, 2, 4, 16, 64, 1000]))
        how = rng.randrange(6)
        if how == 0 and at < len(out):
            out[at] ^= 1 << rng.randrange(8)
        elif how == 1:
            del out[at:upto]
        elif how == 2:
            out[at:at] = out[at:upto] * rng.choice([1, 2, 50])
        elif how == 3:
            out[at:at] = rng.choice(TOKENS)
        elif how == 4:
            token = rng.choice(TOKENS)
            out[at : at + len(token)] = token
        else:
            out[at:upto] = rng.randbytes(upto - at)
    return bytes(out)


def unpacked(data):
    """What a packed file holds, and how to pack it again; None of what is not packed."""
    if data.startswith(b"\x1f\x8b"):
        return gzip.decompress(data), partial(gzip.compress, compresslevel=1)
    if data.startswith(b"\xfd7zXZ"):
        return lzma.decompress(data), partial(lzma.compress, preset=0)
    return None


def changed_inside(data, rng):
    """Changes of what is packed; of an archive, those of one of its files."""
    try:
        if (held := unpacked(data)) is not None:
            return held[1](changed(held[0], rng))
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
    except (OSError, EOFError, ValueError, NotImplementedError, RuntimeError, zipfile.BadZipFile,
            zlib.error, lzma.LZMAError, struct.error):  # fmt: skip
        return changed(data, rng)
    if not files:
        return changed(data, rng)
    stream, victim = io.BytesIO(), rng.choice(sorted(files))
    with zipfile.ZipFile(stream, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that come twice
        for name, content in files.items():
            archive.writestr(name, changed(content, rng) if name == victim else content)
    return stream.getvalue()


def is_packed(data):
    return data.startswith((b"\x1f\x8b", b"\xfd7zXZ", b"PK"))


def change_at_random(tried, kind, runs, seed):
    """The same inputs for the same seed."""
    rng, whole = random.Random(f"{kind} {seed}"), SEEDS[kind]()
    tried(whole)
    assert tried.read == 1
    for _ in range(runs - 1):
        inside = is_packed(whole) and rng.random() < 0.5
        data = (changed_inside if inside else changed)(whole, rng)
        try:
            tried(data)
        except BaseException as error:
            error.add_note(f"input number {tried.count} of {kind}, seed {seed}: {data[:200]!r}")
            raise


def peak():
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def led_by_coverage(kind, runs, seed, folder):
    """atheris, which looks for inputs that take new ways through the package."""
    import atheris

    corpus = folder / "corpus"
    corpus.mkdir()
    (corpus / "whole").write_bytes(SEEDS[kind]())
    with atheris.instrument_imports(include=["ksupport"]):
        import ksupport.commands.fitting.model_file
        import ksupport.explain.report
        import ksupport.reading  # noqa: F401

        tried = Tried(kind, folder)
    tried(SEEDS[kind]())  # what is imported by then is not counted
    options = [
        f"-runs={runs}", f"-seed={seed + 1}", f"-timeout={30 * SECONDS}", "-max_len=20000",
        f"-rss_limit_mb={round(peak() + MEGABYTES)}", "-verbosity=0",
        f"-artifact_prefix={os.environ.get('FUZZ_FOUND', '.')}/{kind}-",
    ]  # fmt: skip

    def mutated(data, most, number):
        rng = random.Random(number)
        if not is_packed(data) or rng.random() < 0.5:
            return atheris.Mutate(data, most)
        return changed_inside(data, rng)[:most]

    pid = os.fork()  # it ends the process
    if pid == 0:
        atheris.Setup([sys.argv[0], *options, str(corpus)], tried, custom_mutator=mutated)
        atheris.Fuzz()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def shares(runs):
    """How many inputs of each kind: fewer of those that take long."""
    parts = {kind: 8 if kind in LIGHT else 1 for kind in kinds()}
    return {kind: -(-runs * part // sum(parts.values())) for kind, part in parts.items()}


def each_kind(runs, seed):
    """All kinds, each in a process of its own."""
    codes = [
        subprocess.run([sys.executable, __file__, kind, str(share), str(seed)]).returncode
        for kind, share in shares(runs).items()
    ]
    return max(map(abs, codes))


def main(kind, runs, seed=0):
    if kind == "all":
        return each_kind(runs, seed)
    with tempfile.TemporaryDirectory() as folder:
        if find_spec("atheris") is not None:
            code = led_by_coverage(kind, runs, seed, Path(folder))
            said = (
                f"{runs} inputs led by coverage" if code == 0 else f"an input ends it, code {code}"
            )
            print(f"{kind}: {said}", flush=True)
            return code
        tried = Tried(kind, folder)
        change_at_random(tried, kind, runs, seed)
        print(f"{kind}: {tried.count} inputs, {tried.read} of them read", flush=True)
        return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
