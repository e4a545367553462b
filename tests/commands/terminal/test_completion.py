"""Completion in the shell, as the shell asks for it."""

import pytest

from ksupport import METHODS, datasets
from ksupport.experiments import EXPERIMENTS

COMPLETE = "_KSUPPORT_COMPLETE"


@pytest.fixture
def complete(run, tmp_path):
    """What bash is offered for a line; the last word is being typed."""

    def ask(line):
        asked = {COMPLETE: "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
        done = run(cwd=tmp_path, **asked)
        assert done.stderr == ""
        return done.stdout.split()

    return ask


def test_methods_datasets_and_experiments_are_offered(complete):
    offered = complete("ksupport fit --method ")
    assert {"auto", "irksn-cv", "irksn-ic"} | (set(METHODS) - {"irksn"}) == set(offered)
    assert complete("ksupport fit --method la") == ["lasso"]
    assert complete("ksupport data fetch r") == ["rhee2006", "riboflavin"]
    names = [info.name for info in datasets.list_datasets()]
    assert complete("ksupport data path ") == names
    assert complete("ksupport reproduce ") == ["all", *EXPERIMENTS]
    assert complete("ksupport reproduce --protocol f") == ["fair"]


def test_several_methods_are_completed_one_by_one(complete):
    assert complete("ksupport compare data.csv --methods lasso,I") == [
        "lasso,IRKSNCV",
        "lasso,IRKSNIC",
    ]
    assert "lasso,lasso" not in complete("ksupport compare data.csv --methods lasso,")


def test_commands_are_offered(complete):
    commands = (
        "fit",
        "predict",
        "check",
        "compare",
        "rehearse",
        "app",
        "demo",
        "reproduce",
        "bench",
    )
    assert {*commands, "data"} == set(complete("ksupport "))


ASKED = {
    "zsh": {"_TYPER_COMPLETE_ARGS": "ksupport data fetch ribo"},
    "fish": {
        "_TYPER_COMPLETE_ARGS": "ksupport data fetch ribo",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    },
}


@pytest.mark.parametrize("shell", ASKED)
def test_zsh_and_fish_are_answered_too(shell, run, tmp_path):
    done = run(cwd=tmp_path, **{COMPLETE: f"complete_{shell}"}, **ASKED[shell])
    assert "riboflavin" in done.stdout


@pytest.mark.parametrize(
    ("shell", "line"),
    [
        ("bash", "complete -o default -F _ksupport_completion ksupport"),
        ("zsh", "#compdef ksupport"),
        ("fish", "complete --command ksupport"),
    ],
)
def test_the_script_of_each_shell_can_be_shown(shell, line, run, tmp_path):
    known = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}  # the shell is named instead
    done = run("--show-completion", shell, cwd=tmp_path, **known)
    assert done.returncode == 0, done.stderr
    assert line in done.stdout
    assert f"complete_{shell}" in done.stdout


def test_installing_writes_to_the_home_directory_alone(run, tmp_path):
    known = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1", "HOME": str(tmp_path)}
    done = run("--install-completion", "bash", cwd=tmp_path, **known)
    assert done.returncode == 0, done.stderr
    written = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert {file.name for file in written} == {".bashrc", "ksupport.sh"}
