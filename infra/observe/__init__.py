"""Looking at the running installation: who may do what (`schleuse grants`), how it is doing (`schleuse top`), and what the console shows of both.

Readers lie here and are used by `schleuse prove`, too.
"""
