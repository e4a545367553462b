"""Which commit a checkout is of, for every way in which git writes that down."""

import pytest

from ksupport._common import commit as module
from ksupport._common.commit import commit, of_checkout

DIGITS = "0123456789abcdef0123456789abcdef01234567"


def lay(root, **files):
    (root / "pyproject.toml").touch()
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_a_branch_is_looked_up(tmp_path):
    lay(tmp_path, dot_git__HEAD="ref: refs/heads/main\n", dot_git__refs__heads__main=DIGITS + "\n")
    assert of_checkout(tmp_path) == DIGITS


def test_a_packed_branch_is_looked_up(tmp_path):
    packed = f"# pack-refs with: peeled\n{'f' * 40} refs/heads/main2\n{DIGITS} refs/heads/main\n"
    lay(tmp_path, dot_git__HEAD="ref: refs/heads/main\n")
    (tmp_path / ".git" / "packed-refs").write_text(packed)
    assert of_checkout(tmp_path) == DIGITS


def test_a_commit_may_be_checked_out_by_itself(tmp_path):
    lay(tmp_path, dot_git__HEAD=DIGITS + "\n")
    assert of_checkout(tmp_path) == DIGITS


def test_a_second_work_tree_has_its_branches_in_the_first(tmp_path):
    lay(
        tmp_path, dot_git="gitdir: first/worktrees/second\n",
        first__worktrees__second__HEAD="ref: refs/heads/main\n",
        first__worktrees__second__commondir="../..\n",
        first__refs__heads__main=DIGITS + "\n",
    )  # fmt: skip
    assert of_checkout(tmp_path) == DIGITS


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"dot_git": "something else"},
        {"dot_git__HEAD": "ref: refs/heads/none\n"},
        {"dot_git__HEAD": "not forty digits"},
    ],
)
def test_where_nobody_knows_there_is_none(files, tmp_path):
    lay(tmp_path, **files)
    assert of_checkout(tmp_path) is None


def test_a_folder_of_another_project_is_not_asked(tmp_path):
    lay(tmp_path, dot_git__HEAD=DIGITS)
    (tmp_path / "pyproject.toml").unlink()
    assert of_checkout(tmp_path) is None


@pytest.mark.parametrize(("baked", "found"), [(DIGITS + "\n", DIGITS), ("", None), (None, None)])
def test_what_was_baked_in_comes_first(baked, found, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "HERE", tmp_path / "lib" / "ksupport")
    (tmp_path / "lib" / "ksupport").mkdir(parents=True)
    if baked is not None:
        (tmp_path / "lib" / "ksupport" / "commit.txt").write_text(baked)
    assert commit() == found
