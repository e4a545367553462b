"""The k-support norm for the solvers of other packages, one module for each of them.

``skglm``, ``pyproximal``, ``modopt`` and ``benchopt`` are imported by the module of that name
here, and by nothing else.
"""
