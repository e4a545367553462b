"""Scripts that the tests here run are no tests."""

collect_ignore = ["machines.py"]
