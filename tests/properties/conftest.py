"""`make fuzz`: the same properties on many more examples, other ones each time."""

import os

from hypothesis import HealthCheck, settings

from .inputs import tried

settings.register_profile(
    "fuzz",
    max_examples=int(os.environ.get("FUZZ_EXAMPLES", "5000")),
    deadline=None,
    derandomize=False,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)


def pytest_terminal_summary(terminalreporter):
    if tried:
        told = f"{sum(tried.values())} examples of {len(tried)} properties"
        terminalreporter.write_line(told)
