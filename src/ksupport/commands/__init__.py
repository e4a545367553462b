"""What is typed after ``ksupport``: one file for each command, which `ksupport.cli` puts together.

Beside them, what they share: `terminal`, words with whoever typed; `reading`, data files;
`fitting`, a model and what is told about it; `measuring`, ours next to others.
"""
