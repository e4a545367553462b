"""Which features matter, and how sure one can be: one model, sampled, and what follows from it.

Features nominated by paths (`candidates`) enter a Gaussian or linearised likelihood (`likelihood`)
as single features or as clusters that act together (`atoms`); Markov chains draw sets of these
(`chains`) under one prior (`prior`); every answer is an event of the sample (`result`).
"""
