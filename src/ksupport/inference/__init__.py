"""What is asked of the posterior of a problem, and of procedures on it, besides the answer itself.

`automatic` is `AutoIRKSN` as a function of the problem; the others give distributions of
coefficients, intervals that hold after selection, tests, and a rehearsal on drawn responses.
"""
