"""Which commit a checkout is of."""

import subprocess

import pytest

from ksupport._common import commit as module
from ksupport._common.commit import commit, of_checkout

DIGITS = "0123456789abcdef0123456789abcdef01234567"


def git(folder, *words):
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    done = subprocess.run(
        ["git", "-C", str(folder), *who, *words], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path):
    """A repository with one commit."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "pyproject.toml").touch()
    git(root, "init", "-q")
    git(root, "add", "pyproject.toml")
    git(root, "commit", "-q", "-m", "first")
    return root


def test_the_commit_is_that_of_git_in_a_second_work_tree_too(checkout):
    second = checkout.parent / "second"
    git(checkout, "worktree", "add", "-q", str(second))
    assert of_checkout(checkout) == of_checkout(second) == git(checkout, "rev-parse", "HEAD")


def test_where_nobody_knows_there_is_none(checkout, tmp_path, monkeypatch):
    (checkout / "pyproject.toml").unlink()  # another project
    assert of_checkout(checkout) is None
    (tmp_path / "pyproject.toml").touch()  # no checkout
    assert of_checkout(tmp_path) is None
    (tmp_path / ".git").write_text("something else")
    assert of_checkout(tmp_path) is None
    git(checkout, "reset", "-q", "--hard")
    monkeypatch.setenv("PATH", "")
    assert of_checkout(checkout) is None


@pytest.mark.parametrize(("baked", "found"), [(DIGITS + "\n", DIGITS), ("", None), (None, None)])
def test_what_was_baked_in_comes_first(baked, found, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "HERE", tmp_path / "lib" / "ksupport")
    (tmp_path / "lib" / "ksupport").mkdir(parents=True)
    if baked is not None:
        (tmp_path / "lib" / "ksupport" / "commit.txt").write_text(baked)
    assert commit() == found
