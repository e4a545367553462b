"""The line of progress, by a clock that the tests set."""

import io
import threading
from contextvars import copy_context

import pytest

from ksupport._common import progress
from ksupport._common.phases import (
    count_passes,
    current_phase,
    no_update,
    phase,
    track_pass,
)
from ksupport._common.progress import ProgressLine, show_progress, shows_progress
from ksupport.walking.threads import Workers


class Clock:
    """Stands still until it is moved."""

    def __init__(self):
        self.seconds = 1000.0

    def __call__(self):
        return self.seconds


class Screen(io.StringIO):
    """A stream that is a terminal, or is not."""

    def __init__(self, terminal):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal

    @property
    def line(self):
        """What a reader of the terminal sees."""
        shown = ""
        for text in self.getvalue().split("\r"):
            shown = text + shown[len(text) :]
        return shown.rstrip()


class Drawn:
    """A progress line without its thread: the tests draw it."""

    def __init__(self, name, terminal=True):
        self.clock, self.screen = Clock(), Screen(terminal)
        self.bar = ProgressLine(name, self.screen, self.clock)

    def __enter__(self):
        self.token = current_phase.set(self.bar.root)
        return self

    def __exit__(self, *_):
        current_phase.reset(self.token)

    def after(self, seconds):
        """The line when so much time has passed."""
        self.clock.seconds += seconds
        self.bar.draw()
        return self.screen.line


def test_without_a_listener_nothing_is_printed(capsys):
    assert current_phase.get() is None
    with show_progress("fitting", wanted=False), phase("walking", 3) as update:
        assert update is no_update
        update(2)
    parts = [1, 2]
    assert track_pass(parts, 2) is parts
    assert capsys.readouterr() == ("", "")


def test_the_first_two_seconds_are_silent():
    with Drawn("IRKSN") as here, phase("walking a path", 100) as update:
        update(50)
        assert here.after(1.9) == ""
        assert here.after(0.1) == "IRKSN: walking a path 50%, 2 s so far"


def test_the_share_and_the_time_left():
    with Drawn("IRKSN") as here, phase("walking a path", 100) as update:
        here.after(10)
        update(25)  # 10 s for a quarter: 30 s for the rest
        assert here.after(0) == "IRKSN: walking a path 25%, 30 s left"
        assert here.after(5) == "IRKSN: walking a path 25%, 25 s left"


def test_the_estimate_counts_down_and_grows_when_an_update_is_overdue():
    """Quarters that take 10 s, but the third takes 100: never 'nothing left', and no jumps up."""
    with Drawn("") as here, phase("fitting", 4) as update:
        for done in (1, 2):
            here.after(10)
            update(done)
        (work,) = here.bar.root.within
        left = []
        for _ in range(110):
            here.after(1)
            left.append(work.left(here.clock()))
    assert left[:9] == pytest.approx(range(19, 10, -1))  # at the pace so far
    assert left[10:] == sorted(left[10:])
    # After 130 s, were the third quarter done now: 130/3 s for the last one.
    assert left[-1] == pytest.approx(130 / 3)


def test_a_phase_at_100_percent_shows_the_time_spent():
    with Drawn("") as here, phase("parsing", 10) as update:
        here.after(30)
        update(10)
        assert here.after(60) == "parsing 100%, 90 s so far"


def test_a_phase_without_a_total_shows_the_time_spent():
    with Drawn("IRKSN") as here:
        count_passes(lambda: 14)
        with phase("finding the norm of X"):
            assert here.after(43) == "IRKSN: finding the norm of X, 43 s so far, 14 passes over X"
        assert here.after(0) == "IRKSN, 43 s so far, 14 passes over X"


def test_a_pass_updates_its_phase():
    with Drawn("IRKSN") as here:
        count_passes(lambda: 1)
        lines = []
        with phase("centring X", one_pass=True):
            for _ in track_pass(range(4), 4):
                lines.append(here.after(3))
        assert here.after(0) == "IRKSN, 12 s so far, 1 pass over X"
    assert lines == [
        "IRKSN: centring X, 3 s so far, pass 1 over X",
        "IRKSN: centring X 25%, 6 s left, pass 1 over X",
        "IRKSN: centring X 50%, 3 s left, pass 1 over X",
        "IRKSN: centring X 75%, 12 s so far, pass 1 over X",
    ]


def test_a_pass_is_shown_inside_a_phase_of_many_passes():
    with Drawn("IRKSN") as here:
        count_passes(lambda: 15)
        with phase("finding the norm of X"):
            for at in track_pass(range(20), 20):
                if at == 9:
                    lines = here.after(43)
            after = here.after(0)
    assert lines == "IRKSN: finding the norm of X, 43 s so far, pass 15 over X 45%"
    assert after == "IRKSN: finding the norm of X, 43 s so far, 15 passes over X"


def test_the_outermost_phase_with_an_estimate_shows_the_time_left():
    with Drawn("") as here, phase("half-samples", 20) as update:
        here.after(10)
        update(2)
        with show_progress("IRKSNIC"), phase("walking 4 paths", 100) as walked:
            here.after(2)
            walked(40)
            assert here.after(0) == "half-samples 10%, 88 s left: IRKSNIC: walking 4 paths 40%"
        assert here.after(0) == "half-samples 10%, 88 s left"


def test_of_parallel_phases_the_oldest_is_shown():
    """Each thread has its own; all belong to the phase in which the work began."""
    with Drawn("folds") as here:
        meet, go = threading.Barrier(3), threading.Barrier(3)

        def work(at):
            with phase(f"fold {at}"):
                meet.wait()
                go.wait()

        with Workers(2) as workers:
            threads = threading.Thread(
                target=copy_context().run, args=(workers.each, work, range(2))
            )
            threads.start()
            meet.wait()
            assert sorted(each.name for each in here.bar.root.within) == ["fold 0", "fold 1"]
            oldest = here.bar.root.within[0].name
            assert here.after(5) == f"folds: {oldest}, 5 s so far"
            go.wait()
            threads.join()
        assert here.bar.root.within == []


def test_a_decorated_function_is_a_phase_at_every_call():
    @phase("counting down")
    def count_down(depth):
        if depth:
            return count_down(depth - 1)
        return here.after(2)

    with Drawn("") as here:
        assert count_down(2) == "counting down: counting down: counting down, 2 s so far"
        assert here.bar.root.within == []


def test_a_phase_ends_when_its_work_fails():
    with Drawn("") as here:

        @phase("dividing")
        def divide():
            return 1 / (here.after(3) == "")

        with pytest.raises(ZeroDivisionError):
            divide()
        assert here.screen.line == ""
        assert current_phase.get() is here.bar.root


def test_the_line_is_cleared_for_other_output():
    with Drawn("") as here, phase("comparing"):
        here.after(3)
        progress.clear_progress()
        assert here.screen.line == ""


def test_a_line_is_no_longer_than_the_terminal(monkeypatch):
    monkeypatch.setattr(progress, "_width", lambda stream: 20)
    with Drawn("a rather long name of an estimator") as here:
        assert here.after(3) == "a rather long na..."


def test_inner_phases_are_left_out_on_a_narrow_terminal(monkeypatch):
    monkeypatch.setattr(progress, "_width", lambda stream: 48)
    with Drawn("IRKSN") as here:
        count_passes(lambda: 7)
        with phase("folds", 5) as update, phase("exchanging features"):
            here.after(3)
            update(1)
            assert here.after(0) == "IRKSN: folds 20%, 12 s left, 7 passes over X"
        with phase("walking a path"), phase("measuring"):
            assert here.after(3) == "IRKSN: measuring, 3 s so far, 7 passes over X"


def test_other_streams_get_a_line_at_every_tenth():
    with Drawn("", terminal=False) as here, phase("walking", 1000) as update:
        for done in range(1, 1001):
            here.clock.seconds += 1
            update(done)
            here.bar.draw()
    lines = here.screen.getvalue().splitlines()
    assert len(lines) == 11
    assert lines[0] == "walking 0%, 17 min left"
    assert lines[5] == "walking 50%, 8 min left"
    assert "\r" not in here.screen.getvalue()


def test_other_streams_get_a_line_whenever_the_time_has_doubled():
    with Drawn("", terminal=False) as here, phase("finding the norm of X"):
        for _ in range(70):
            here.after(1)
    lines = here.screen.getvalue().splitlines()
    assert [line.split(", ")[1] for line in lines] == [
        f"{seconds} s so far" for seconds in (2, 4, 8, 16, 32, 64)
    ]


class Full(Screen):
    def write(self, text):
        raise OSError("no space left on device")


def test_a_stream_that_fails_does_not_end_the_work():
    with Drawn("IRKSN") as here:
        here.bar.stream = Full(True)
        here.after(3)
        here.after(3)


def test_a_verbose_estimator_shows_its_progress(monkeypatch):
    """Drawn by the thread itself, without delay."""
    monkeypatch.setattr(progress, "DELAY", 0.0)
    monkeypatch.setattr(progress, "PERIOD", 0.001)
    screen, tick = Screen(False), threading.Event()
    monkeypatch.setattr("sys.stderr", screen)

    class Fit:
        verbose = True

        @shows_progress
        def fit(self):
            with phase("walking a path", 2) as update:
                update(1)
                while "walking" not in screen.getvalue():  # for the thread to see it
                    tick.wait(0.001)
            return self

    Fit().fit()
    assert screen.getvalue().startswith("Fit")
    assert not any(thread.name == "ksupport-progress" for thread in threading.enumerate())
    Fit.verbose = False
    before = screen.getvalue()
    monkeypatch.setattr(Fit, "fit", shows_progress(lambda self: self))
    Fit().fit()
    assert screen.getvalue() == before
