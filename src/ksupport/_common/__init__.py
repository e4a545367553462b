"""What every layer may use: checks, names, text and HTML, files, optional packages."""
