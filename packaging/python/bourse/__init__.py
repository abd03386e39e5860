"""Bourse, a benchmark for embedded and in-memory databases, from Python.

A thin layer over the program `bourse`, which the wheel installs: it starts the program, reads the tables that it writes, and
turns its failures into exceptions.

    >>> import bourse
    >>> run = bourse.run("point-read", "sqlite::memory:", for_="1s")     # doctest: +SKIP
    >>> run.cases[0]["result"], run.cases[0]["result_unit"]              # doctest: +SKIP
    (412345.6, 'reads/s')
"""

from ._compare import Comparison, Metric, Pair, Side, assert_not_slower, compare
from ._program import CheckError, Error, Interrupted, NotSteady, TargetError, Undecided, UsageError, call, program
from ._runs import Run, load, run
from ._tables import Column, Row, Table

__all__ = [
    "CheckError",
    "Column",
    "Comparison",
    "Error",
    "Interrupted",
    "Metric",
    "NotSteady",
    "Pair",
    "Row",
    "Run",
    "Side",
    "Table",
    "TargetError",
    "Undecided",
    "UsageError",
    "assert_not_slower",
    "call",
    "compare",
    "load",
    "program",
    "run",
]
