"""Nothing that comes from outside is run: what the source must not contain, wherever it stands."""

import ast
import re
from pathlib import Path

import pytest

from ksupport._common.names import spreadsheet_safe

SOURCE = Path(__file__).parents[1] / "src"
if not SOURCE.exists():
    pytest.skip("the source is not part of this distribution", allow_module_level=True)
FILES = sorted(SOURCE.rglob("*.py"))

MODULES = {  # that run what they read, or other programs
    "pickle", "_pickle", "dill", "cloudpickle", "shelve", "marshal", "yaml", "subprocess", "pty",
    "commands", "code", "codeop", "ctypes", "cffi", "telnetlib", "ftplib", "xmlrpc", "torch",
}  # fmt: skip
BUILTINS = {"eval", "exec", "compile", "__import__"}
CALLS = {  # methods and functions, by their last name
    "popen", "read_pickle", "to_pickle", "extractall", "extract", "mktemp",
    "create_subprocess_exec", "create_subprocess_shell",
    "_create_unverified_context", "unpack_archive", "startfile", "literal_eval", "read_hdf",
}  # fmt: skip
FAMILIES = re.compile(r"(exec|spawn)(l|v|le|lp|lpe|ve|vp|vpe)$")  # of os
OUR_OWN = {
    "ksupport/__init__.py": [  # names of its own modules
        "import_module(f'.{_HOMES[name]}', __name__)",
        "import_module(f'.{name}', __name__)",
    ],
    "ksupport/app/process.py": [  # this Python, with a module of its own
        "asyncio.create_subprocess_exec(sys.executable, '-m', 'ksupport.app.worker', stdin=PIPE, "
        "stdout=PIPE, stderr=DEVNULL, limit=LONGEST_ANSWER)"
    ],
    "ksupport/cli.py": ["import_module(f'.commands.{name}', __package__)"],  # of its own table
    "ksupport/fmri/images.py": ["import_module(module)"],  # whose callers are this package
    "ksupport/design/dask_store.py": ["from cloudpickle import dumps"],  # which writes, for workers
}
NEVER_TRUE = {"allow_pickle", "shell"}


def called(node):
    """The name that a call is by, with what stands before its last dot."""
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


def imported(node):
    if isinstance(node, ast.Import):
        return {each.name.partition(".")[0] for each in node.names}
    return {str(node.module).partition(".")[0]} if not node.level else set()


def faults(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom) and imported(node) & MODULES:
            yield node.lineno, ast.unparse(node)
        if not isinstance(node, ast.Call):
            continue
        name, last = called(node), called(node).rpartition(".")[2]
        given = {each.arg: each.value for each in node.keywords}
        never = [given.get(key) for key in NEVER_TRUE if key in given]
        if (
            name in BUILTINS
            or (last in CALLS and name not in ("re.compile",))
            or (name.startswith("os.") and FAMILIES.match(last))
            or any(not (isinstance(each, ast.Constant) and each.value is False) for each in never)
            or (name in ("np.load", "numpy.load") and "allow_pickle" not in given)
            or name in ("os.system", "joblib.load", "joblib.dump", "np.fromfile")
            or last == "urlopen"
            or (last == "import_module" and not isinstance(node.args[0], ast.Constant))
        ):
            yield node.lineno, ast.unparse(node)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_nothing_that_is_read_is_run(path):
    found = [line for _, line in faults(ast.parse(path.read_text(encoding="utf-8")))]
    assert found == OUR_OWN.get(path.relative_to(SOURCE).as_posix(), [])


@pytest.mark.parametrize(
    "line",
    [
        "eval(text)", "exec(text)", "__import__(name)", "import pickle", "from pickle import loads",
        "import os.path, subprocess", "os.system(text)", "os.execvp(a, b)", "run(a, shell=True)",
        "np.load(path)", "np.load(path, allow_pickle=True)", "np.load(path, allow_pickle=trusted)",
        "pd.read_pickle(path)", "archive.extractall(folder)", "joblib.load(path)",
        "urllib.request.urlopen(address)", "import_module(name)", "ast.literal_eval(text)",
    ],
)  # fmt: skip
def test_the_search_finds_what_it_is_for(line):
    assert len(list(faults(ast.parse(line)))) == 1


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.js")), ids=lambda path: path.name)
def test_scripts_make_no_markup_or_code_of_text(path):
    script = path.read_text(encoding="utf-8")
    assert (
        re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", script) == []
    )
    assert (
        re.findall(r"new Function|setTimeout\(\s*['\"`]|\bimport\(|\bfetch\(|XMLHttp", script) == []
    )


@pytest.mark.parametrize(
    "name",
    [
        "=1+1", "+1", "-1", "@SUM(1)", "\t=1", "\r=1", "\n=1", " =1", "\u00a0=1", "\ufeff=1",
        "\x00=1", "\uff1d1", "\uff0b1", "\uff0d1", "\uff201", "=HYPERLINK(\"a\")", "|cmd", "%00=1",
    ],
)  # fmt: skip
def test_no_name_begins_as_a_formula_does(name):
    if name[0] in "|%":  # nothing to a spreadsheet of today
        assert spreadsheet_safe(name) == name
    else:
        assert spreadsheet_safe(name) == f"'{name}"


@pytest.mark.parametrize("name", ["", "gene", "a=b", "x-1", "'=1", " gene", "1+1"])
def test_other_names_stay_as_they_are(name):
    assert spreadsheet_safe(name) == name
