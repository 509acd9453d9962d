"""What the measurements in bench/ and the experiments in paper/ share.

    command_line  arguments, error messages and exit codes of a script
    running       runs a command and measures its time and memory
    cache         keeps results in files, so that no run is repeated
    sets          evaluation sets and the scores of a model on them
    tables        numbers as text, tables in Markdown
    document      a report, as Markdown and as one HTML file
    plots         figures as SVG, with matplotlib
"""
import sys


class Failed(Exception):
    """Something is missing or did not end well; the text is one line."""


def say(text):
    """Progress, on standard error. One write per line, since several threads may report."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
