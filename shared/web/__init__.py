"""HTTP: serving, the guard in front of every page, static files, errors as pages."""
