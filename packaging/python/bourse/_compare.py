"""Comparisons, and the gate that tests stand at."""

from __future__ import annotations

import json
import os
import shlex
import sys
import unittest
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Type, Union

from ._program import Undecided, execute, words
from ._runs import Run
from ._tables import html_table, shown

Side = Union[Run, str, "os.PathLike[str]"]

# Exit codes of a gate, with whether it passed.
_PASSED = {0: True, 4: False, 6: None}


class Metric(NamedTuple):
    """Difference in one metric. The headline's `name` is its unit."""

    name: str
    #: Unit of `base` and `head`.
    unit: str
    base: float
    head: float
    #: Head divided by base, estimated over the pairs of rounds.
    ratio: float
    #: Interval of the ratio; `None` for too few rounds.
    interval: Optional[Tuple[float, float]]
    #: Level of the interval.
    level: Optional[float]
    #: Verdict; `None` where a metric is only shown.
    verdict: Optional[str]

    def __str__(self) -> str:
        interval = "no interval"
        if self.interval and self.level:
            low, high = (f"{100 * (end - 1):+.1f} %" for end in self.interval)
            interval = f"{100 * self.level:.1f} % interval {low} to {high}"
        return f"{100 * (self.ratio - 1):+.1f} % ({interval})"


class Pair(NamedTuple):
    """Two compared cases."""

    #: Labels of the cases.
    base: str
    head: str
    #: Verdict on the headline: `slower_beyond`, `equivalent`, `faster` … (docs/gate.md lists them).
    verdict: str
    #: Each metric that both have, the headline first.
    metrics: List[Metric]

    def __str__(self) -> str:
        verdict = self.verdict.replace("_", " ")
        return f"{verdict}: {self.metrics[0]}" if self.metrics else verdict


class Comparison:
    """A comparison of two runs, or of two targets in turn. `print(comparison)` shows it as a terminal does."""

    def __init__(
        self, document: Dict[str, Any], exit_code: int, run: Optional[Run], shown_by: List[str], command: List[str]
    ) -> None:
        self.document = document
        #: Exit code of the program: 0, 4 or 6.
        self.exit_code = exit_code
        #: Stored run of two targets; `None` for runs that were stored before.
        self.run = run
        #: Command that compares again.
        self.command = command
        #: All compared pairs of cases.
        self.pairs = [_pair(pair) for pair in document["comparisons"]]
        self._shown_by = shown_by

    @property
    def passed(self) -> Optional[bool]:
        """`True`: not slower by more than the tolerance. `False`: slower by more. `None`: not decided."""
        return _PASSED[self.exit_code]

    @property
    def tolerance(self) -> float:
        """Part of one by which head may be slower."""
        return float(self.document["tolerance"])

    @property
    def verdict(self) -> str:
        """Verdict on the headline of the first pair."""
        return self.pairs[0].verdict

    @property
    def ratio(self) -> Optional[float]:
        """Figure of head divided by that of base, of the first pair."""
        return self.pairs[0].metrics[0].ratio if self.pairs[0].metrics else None

    @property
    def interval(self) -> Optional[Tuple[float, float]]:
        """Interval of `ratio`; `None` for too few rounds."""
        return self.pairs[0].metrics[0].interval if self.pairs[0].metrics else None

    @property
    def level(self) -> Optional[float]:
        """Level of `interval`."""
        return self.pairs[0].metrics[0].level if self.pairs[0].metrics else None

    @property
    def notes(self) -> List[str]:
        """Reasons why a difference may have another cause, a sentence each."""
        return [*self.document["notes"], *self.document["missing"]]

    def __str__(self) -> str:
        return execute(*self._shown_by, quiet=True).stdout

    @property
    def brief(self) -> str:
        """The verdict on each pair with both figures, then the command that compares again."""
        lines = []
        for pair in self.pairs:
            lines.append(str(pair))
            for name, label, figure in (("A", pair.base, "base"), ("B", pair.head, "head")):
                figures = f"  {shown(getattr(pair.metrics[0], figure))} {pair.metrics[0].name}" if pair.metrics else ""
                lines.append(f"{name}: {label}{figures}")
        return "\n".join([*lines, f"again: {shlex.join(self.command)}"])

    def __repr__(self) -> str:
        return f"<comparison, tolerance {100 * self.tolerance:g} %: {'; '.join(map(str, self.pairs))}>"

    def _repr_html_(self) -> str:
        names = ["metric", "A", "B", "unit", "B against A", "verdict"]
        parts = []
        for pair in self.pairs:
            rows = [
                [it.name, shown(it.base), shown(it.head), it.unit, str(it), (it.verdict or "").replace("_", " ")]
                for it in pair.metrics
            ]
            parts.append(html_table(["", "case"], [["A", pair.base], ["B", pair.head]]) + html_table(names, rows))
        return "".join(parts)


def compare(
    base: Side,
    head: Side,
    tolerance: str = "5 %",
    *,
    output: Union[str, os.PathLike[str]] = "bourse-runs",
    **options: Any,
) -> Comparison:
    """Compares two stored runs, or two targets whose rounds take turns: `bourse.compare("sqlite:a.db", "lmdb:b.lmdb",
    workload="point-read")`.

    `tolerance` is the part by which `head` may be slower and still pass, 5 % unless another is given. Verdicts depend on it, and
    `repr` of the comparison shows it. A comparison that is slower, or decides nothing, is a result and no exception: see `passed`.
    Of two stored runs nothing is decided without `noise="3 %"` or `baseline="bourse-runs"`. Options are those of `bourse compare`,
    as in `bourse.run`.

    Raises `Error` where there is nothing to compare: a target that failed, a check that failed, an interrupted run.
    """
    return _compared(base, head, tolerance, output, options, quiet=options.get("progress") == "0s")


def _compared(
    base: Side,
    head: Side,
    tolerance: str,
    output: Union[str, os.PathLike[str]],
    options: Dict[str, Any],
    quiet: bool,
) -> Comparison:
    """The comparison, with its progress on `sys.stderr` unless `quiet`."""
    sides = [os.fspath(side.path if isinstance(side, Run) else side) for side in (base, head)]
    arguments = ["compare", *words({**options, "fail_above": tolerance}), *sides]
    ended = execute(*arguments, "--format=json", quiet=quiet, output=os.fspath(output))
    run = Run(ended.folder) if ended.folder else None
    if ended.code not in _PASSED or not ended.stdout.startswith("{"):
        raise ended.error(run)
    shown_by = ["report", os.fspath(run.path)] if run else arguments
    again = ["bourse", *(word for word in arguments if not word.startswith("--progress="))]
    command = run.document["command"] if run else again
    return Comparison(json.loads(ended.stdout), ended.code, run, shown_by, command)


def assert_not_slower(
    base: Side,
    head: Side,
    tolerance: str = "5 %",
    *,
    inconclusive: str = "skip",
    output: Union[str, os.PathLike[str]] = "bourse-runs",
    **options: Any,
) -> Comparison:
    """Fails if `head` is certainly slower than `base` by more than `tolerance`; for tests with pytest or unittest.

    Exit code 0 passes and returns the comparison, 4 raises `AssertionError`, and 6, where nothing could be decided, skips the
    test, or fails it with `inconclusive="fail"`. Arguments are those of `compare`. Progress is shown only if `progress` is given.
    """
    __tracebackhide__ = True
    if inconclusive not in ("skip", "fail"):
        raise ValueError(f"inconclusive={inconclusive!r}: expected 'skip' or 'fail'")
    undecided = _skipped() if inconclusive == "skip" else AssertionError
    try:
        comparison = _compared(base, head, tolerance, output, options, quiet=options.get("progress", "0s") == "0s")
    except Undecided as error:
        raise undecided(f"undecided: {error}") from error
    if comparison.passed is None:
        raise undecided(_said("undecided: ", "inconclusive: ", comparison.brief))
    if not comparison.passed:
        raise AssertionError(_said(f"slower by more than {tolerance}: ", "slower beyond: ", comparison.brief))
    return comparison


def _said(words: str, verdict: str, brief: str) -> str:
    """The brief comparison after words that its first verdict would repeat."""
    return words + (brief[len(verdict) :] if brief.startswith(verdict) else brief)


def _skipped() -> Type[BaseException]:
    """The exception that skips a test. Pytest reports its own with the line of the test, and another with a line of pytest."""
    pytest = sys.modules.get("pytest")
    if pytest is None or "PYTEST_CURRENT_TEST" not in os.environ:
        return unittest.SkipTest
    exception: Type[BaseException] = pytest.skip.Exception
    return exception


def _pair(pair: Dict[str, Any]) -> Pair:
    metrics = [
        Metric(
            it["name"],
            it["unit"],
            it["base"],
            it["head"],
            it["ratio"],
            (it["interval"][0], it["interval"][1]) if it["interval"] else None,
            it["level"],
            it["verdict"],
        )
        for it in pair["metrics"]
    ]
    return Pair(pair["base"], pair["head"], pair["verdict"], metrics)
