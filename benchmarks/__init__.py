"""Side-by-side measurements, run by ``python -m benchmarks``; never asserted in tests."""
