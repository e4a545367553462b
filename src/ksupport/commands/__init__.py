"""The subcommands of ``ksupport``, one file for each; `ksupport.cli` puts them together.

They share `terminal` (options, output, exit codes) and `fitting` (from options to a fitted model,
its results and its model file).
"""
