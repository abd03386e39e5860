"""Runs: made by the program, or stored earlier."""

from __future__ import annotations

import html
import json
import os
import pathlib
import shutil
import tempfile
import weakref
from typing import Any, Dict, List, Union

from ._program import Ended, UsageError, execute, words
from ._tables import Column, Table, html_table, read, shown

# Workloads with a command of their own; all others are those of `bourse micro run`.
_COMMANDS = {
    "tpce": ("tpce", "run"),
    "tatp": ("tatp", "run"),
    "tpcc": ("tpcc", "run"),
    "replay": ("replay",),
    "quick": ("quick",),
}


class Run:
    """A stored run, or the runs of a folder of results.

    The tables are those of `bourse report --format`: `run.cases`, `run.operations`, `run.rounds`, `run.series`,
    `run.warnings`, and any other by `run.table(NAME)`. `print(run)` shows the report that a terminal shows.
    """

    def __init__(self, path: Union[str, os.PathLike[str]]) -> None:
        self.path = pathlib.Path(path)
        self._exported = pathlib.Path(tempfile.mkdtemp(prefix="bourse-"))
        weakref.finalize(self, shutil.rmtree, self._exported, ignore_errors=True)
        self._tables: Dict[str, Table] = {}
        ended = execute("report", os.fspath(path), "--format=ndjson", f"--output={self._exported}", quiet=True)
        if ended.code != 0:
            raise ended.error()
        self._columns: Dict[str, List[Column]] = {}
        for row in read(self._exported, "columns"):
            column = Column(row["column_name"], row["kind"], row["meaning"])
            self._columns.setdefault(row["table_name"], []).append(column)

    @property
    def cases(self) -> Table:
        """A case: one workload on one target with one set of settings, with its result over all rounds."""
        return self.table("cases")

    @property
    def operations(self) -> Table:
        """An operation of a case, over all its rounds: counts, rates, response times and service times."""
        return self.table("operations")

    @property
    def rounds(self) -> Table:
        """A round of a case."""
        return self.table("rounds")

    @property
    def series(self) -> Table:
        """A value of a metric at a moment of a round."""
        return self.table("series")

    @property
    def warnings(self) -> Table:
        """A warning about the figures: read these before you trust them."""
        return self.table("warnings")

    @property
    def tables(self) -> List[str]:
        """Names of all tables."""
        return list(self._columns)

    def table(self, name: str) -> Table:
        """The table of that name."""
        if name not in self._columns:
            raise KeyError(f"there is no table {name!r}: {', '.join(self._columns)}")
        if name not in self._tables:
            rows = read(self._exported, name)
            self._tables[name] = Table(name, self._columns[name], rows)
        return self._tables[name]

    @property
    def document(self) -> Dict[str, Any]:
        """The run file as data; `bourse schema run` prints its JSON Schema."""
        document: Dict[str, Any] = json.loads(self._file("run.json").read_text(encoding="utf-8"))
        return document

    @property
    def page(self) -> pathlib.Path:
        """The report as a page, which opens offline: for `IPython.display.IFrame`, or a browser."""
        return self._file("report.html")

    def _file(self, name: str) -> pathlib.Path:
        """A file of the run's folder."""
        return (self.path if self.path.is_dir() else self.path.parent) / name

    def __str__(self) -> str:
        ended = execute("report", os.fspath(self.path), quiet=True)
        return ended.stdout if ended.code == 0 else ended.message

    def __repr__(self) -> str:
        return f"bourse.load({os.fspath(self.path)!r})"

    def _repr_html_(self) -> str:
        rows = [
            [
                case["workload"],
                case["case_label"],
                case["durability"],
                case["result"] if case["standing"] == "counts" else case["standing"],
                "" if case["result_low"] is None else f"{shown(case['result_low'])} to {shown(case['result_high'])}",
                case["result_unit"],
            ]
            for case in self.cases
        ]
        table = html_table(["workload", "case", "durability", "result", "interval", "unit"], rows)
        items = "".join(f"<li>{html.escape(str(row['text']))}</li>" for row in self.warnings)
        count = len(self.warnings)
        warnings = f"<details><summary>{count} warnings</summary><ul>{items}</ul></details>" if count else ""
        notices = sorted({str(row["notice"]) for row in self.table("runs") if row["notice"]})
        return table + warnings + "".join(f"<p>{html.escape(notice)}</p>" for notice in notices)


def load(path: Union[str, os.PathLike[str]]) -> Run:
    """A stored run: its folder or its `run.json`. Of a folder of runs the tables have the rows of all.

    Raises `UsageError` where there is none.
    """
    return Run(path)


def run(
    workload: str, *targets: Union[str, os.PathLike[str]], output: Union[str, os.PathLike[str]] = "bourse-runs", **options: Any
) -> Run:
    """Measures a workload on targets and returns the run: `bourse.run("tpce", "sqlite:x.db", users=4)`.

    `workload` is `tpce`, `tatp`, `tpcc`, `replay`, `quick`, or a name of `bourse micro list`; workloads that read a file have it
    before the targets: `bourse.run("sql", "shop.sql", "sqlite:x.db")`. Options are the command's by their long names, with `_` for `-`
    and after Python's own words: `rounds=8`, `for_="10s"`, `no_wait=True`, `set={"rows": 1000}`,
    `sweep={"sync": ["off", "full"]}`. The run is stored in a folder of its own below `output`.

    Raises `Error` with the program's message; its `run` has what was stored nevertheless. After Ctrl-C it raises `Interrupted`
    once the program has ended.
    """
    command = _COMMANDS.get(workload, ("micro", "run", workload))
    arguments = [*words({**options, "json": True}), *(os.fspath(target) for target in targets)]
    return stored(execute(*command, *arguments, quiet=options.get("progress") == "0s", output=os.fspath(output)))


def stored(ended: Ended) -> Run:
    """The run that a command wrote; its failure as an exception."""
    written = Run(ended.folder) if ended.folder else None
    if ended.code != 0:
        raise ended.error(written)
    if written is None:
        raise UsageError("no run was written: use `bourse.call` for commands that measure nothing", 1)
    return written
