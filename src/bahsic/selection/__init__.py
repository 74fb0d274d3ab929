"""The selectors BAHSIC, FOHSIC and BAHSICCV: the search, its path, checkpoints and progress.

Imports report (for notebooks), inference and what is below; only pictures, signals and the command line are above.
"""
