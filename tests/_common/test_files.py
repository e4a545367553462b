"""Files are there whole or not at all, whatever happens while they are written."""

import errno
import os
import threading
from pathlib import Path

import pytest

from ksupport._common.files import check_writable, replacing

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX permissions and devices")


def write(path, text="whole"):
    with replacing(path) as temporary:
        temporary.write_text(text)


def full(self, text):
    self.open("w").close()  # the beginning of the file was written
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def interrupted(path, problem):
    with replacing(path) as temporary:
        temporary.write_text("half")
        raise problem


@pytest.mark.parametrize("problem", [KeyboardInterrupt, ValueError, OSError])
def test_what_is_interrupted_leaves_the_file_that_was_there(problem, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("before")
    with pytest.raises(problem):
        interrupted(path, problem)
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {"a.txt": "before"}


def test_a_full_disk_is_told_with_the_name_of_the_file_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*a\.txt'"):
        write(tmp_path / "a.txt")
    assert list(tmp_path.iterdir()) == []


@posix
def test_a_file_keeps_its_permissions_and_a_new_one_has_the_usual_ones(tmp_path):
    old, new, usual = (tmp_path / name for name in ("old", "new", "usual"))
    old.touch()
    old.chmod(0o640)
    usual.touch()
    write(old)
    write(new)
    assert old.stat().st_mode & 0o777 == 0o640
    assert new.stat().st_mode == usual.stat().st_mode


@posix
def test_links_are_followed_also_to_what_is_not_there_yet(tmp_path):
    link, target = tmp_path / "link", tmp_path / "target"
    link.symlink_to(target)
    for text in ("first", "second"):
        write(link, text)
        assert (link.is_symlink(), target.read_text()) == (True, text)


@posix
def test_what_is_no_file_is_written_to_and_not_replaced():
    before = os.stat(os.devnull)
    check_writable(Path(os.devnull))
    write(Path(os.devnull))
    assert os.path.samestat(os.stat(os.devnull), before)


@pytest.mark.parametrize(
    ("name", "number"),
    [(".", errno.EISDIR), ("no/such/file", errno.ENOENT), ("file/below", errno.ENOTDIR)],
    ids=["folder", "no folder", "file for folder"],
)
@pytest.mark.parametrize("attempt", [check_writable, write])
def test_what_cannot_be_written_is_known_before_and_after(attempt, name, number, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=r".") as caught:
        attempt(tmp_path / name)
    assert (caught.value.errno, caught.value.filename) == (number, str(tmp_path / name))
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


@posix
@pytest.mark.skipif(os.name == "posix" and os.geteuid() == 0, reason="root may write anything")
@pytest.mark.parametrize("attempt", [check_writable, write])
def test_a_file_or_a_folder_that_is_read_only_stays_as_it_is(attempt, tmp_path):
    path = tmp_path / "folder" / "a.txt"
    path.parent.mkdir()
    path.write_text("before")
    for place, mode in ((path, 0o444), (path.parent, 0o555)):
        usual = place.stat().st_mode
        place.chmod(mode)
        with pytest.raises(PermissionError, match=r"a\.txt"):
            attempt(path)
        place.chmod(usual)
    assert path.read_text() == "before"


def test_checking_leaves_no_trace(tmp_path):
    check_writable(tmp_path / "new.txt")
    assert list(tmp_path.iterdir()) == []


def test_many_at_once_leave_one_of_their_texts(tmp_path):
    texts = [str(i) * 100_000 for i in range(8)]
    writers = [threading.Thread(target=write, args=(tmp_path / "a", text)) for text in texts]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [each.name for each in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_text() in texts
