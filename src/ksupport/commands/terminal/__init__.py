"""The terminal side of a command: options, printing, output files, exit codes."""
