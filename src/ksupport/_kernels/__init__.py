"""Compiled code: walks, losses, refits and the posterior's chains, one module each.

Sources are Cython, built ahead of time by meson (see ``meson.build``).  Functions take arrays,
release the interpreter's lock, and give the same answer with any number of threads.
"""
