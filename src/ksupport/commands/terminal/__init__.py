"""Words with whoever types the command: options, completion, printing, files, failures."""
