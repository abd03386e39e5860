"""A fixture of pytest that compares speed: `assert_not_slower(base, head, tolerance="5 %")`."""

from __future__ import annotations

import pathlib
from typing import Any, Callable

import pytest

import bourse

# Name of the property that a test's report has for each comparison.
_PROPERTY = "bourse"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options."""
    parser.getgroup("bourse").addoption(
        "--bourse-inconclusive",
        choices=("skip", "fail"),
        default="skip",
        help="result of assert_not_slower where nothing can be decided",
    )


@pytest.fixture
def assert_not_slower(
    request: pytest.FixtureRequest, tmp_path: pathlib.Path, record_property: Callable[[str, object], None]
) -> Callable[..., bourse.Comparison]:
    """`bourse.assert_not_slower`, with its runs in the test's temporary folder and each verdict in the summary."""

    def compared(
        base: bourse.Side, head: bourse.Side, tolerance: str = "5 %", **options: Any
    ) -> bourse.Comparison:
        __tracebackhide__ = True
        options.setdefault("output", tmp_path / "bourse-runs")
        options.setdefault("inconclusive", request.config.getoption("--bourse-inconclusive"))
        try:
            comparison = bourse.assert_not_slower(base, head, tolerance, **options)
        except (Exception, pytest.skip.Exception) as error:
            record_property(_PROPERTY, str(error).splitlines()[0])
            raise
        record_property(_PROPERTY, "; ".join(map(str, comparison.pairs)))
        return comparison

    return compared


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Prints a line for each comparison."""
    reports = [report for kind in ("passed", "failed", "skipped") for report in terminalreporter.stats.get(kind, [])]
    lines = [
        f"{report.nodeid}: {value}"
        for report in reports
        for name, value in getattr(report, "user_properties", [])
        if name == _PROPERTY and report.when == "call"
    ]
    if lines:
        terminalreporter.section("bourse")
        for line in lines:
            terminalreporter.line(line)
