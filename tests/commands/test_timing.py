"""Calls that take turns, by a clock of our own."""

from ksupport.commands.timing import Clock, Timing, take_turns, with_unit


def test_calls_take_turns_and_medians_are_taken(monkeypatch):
    """A clock that a call moves by hand."""
    now, order = [0.0], []
    monkeypatch.setattr(Clock, "now", classmethod(lambda cls: now[0]))

    def call(name, seconds):
        durations = iter(seconds)

        def run():
            order.append(name)
            now[0] += next(durations)

        return run

    timings = take_turns(call("a", [9, 1, 5, 2]), call("b", [9, 4, 4, 4]), repeats=3)
    assert timings == [Timing(2, 1, 3), Timing(4, 4, 3)]  # the first round is a warm-up
    assert "".join(order) == "abababab"
    assert [with_unit(v, "s") for v in (2.0, 3e-3, 4e-6, 5e-9)] == ["2 s", "3 ms", "4 µs", "5 ns"]
