"""One fit of a data file: options, the fitted model, its summary, its results and its file."""
