"""Tests of the module with a real program: that of BOURSE_PROGRAM, or of the installed wheel."""

import base64
import contextlib
import csv
import doctest
import hashlib
import importlib.metadata
import importlib.util
import io
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
import zipfile

import bourse
from bourse import _program, _tables

PACKAGING = pathlib.Path(__file__).resolve().parents[2]
# A number of operations, since in a short time a busy machine completes none.
SHORT = {"set": {"rows": 1000}, "warmup": "0s", "count": 20_000, "no_wait": True, "no_repeat": True}


def has(module):
    return importlib.util.find_spec(module) is not None


def load_tests(loader, tests, pattern):
    for module in (_program, _tables):
        tests.addTests(doctest.DocTestSuite(module))
    return tests


def setUpModule():
    """Makes a folder with a short run, in which the tests work."""
    before, folder = os.getcwd(), tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    unittest.addModuleCleanup(os.chdir, before)
    os.chdir(folder.name)
    InFolder.shown = io.StringIO()
    with contextlib.redirect_stderr(InFolder.shown):
        InFolder.run_ = bourse.run("point-read", "sqlite::memory:", rounds=1, **SHORT)
        InFolder.shown.write("and then quietly\n")
        InFolder.run_ = bourse.run("point-read", "sqlite::memory:", rounds=2, progress="0s", **SHORT)


class InFolder(unittest.TestCase):
    """Tests with a short run."""

    def scaled(self, name, factor):
        """A copy of the run with other figures, as of a quiet machine."""
        document = self.run_.document
        for case in document["cases"]:
            for one in case["rounds"]:
                one["headline"] = 1000 * factor
                one.pop("slowdown", None)
                one.pop("interference", None)
        folder = pathlib.Path(name)
        folder.mkdir(exist_ok=True)
        (folder / "run.json").write_text(json.dumps(document))
        return folder


class Runs(InFolder):
    def test_progress_is_shown_unless_it_is_not_wanted(self):
        shown = self.shown.getvalue()
        self.assertIn("run file: bourse-runs", shown)
        self.assertTrue(shown.endswith("and then quietly\n"), shown)

    def test_each_workload_with_a_command_of_its_own_has_its_name(self):
        commands = [it["command"].split(" ")[1:] for it in json.loads(bourse.call("help", json=True))["commands"]]
        names = [words[0] for words in commands if words[1:] == ["run"] and words[0] not in ("micro", "suite")]
        self.assertIn("tpcc", names)
        for name in names:
            with self.assertRaisesRegex(bourse.UsageError, "no run was written"):
                bourse.run(name, "sqlite::memory:", dry_run=True)

    def test_tables_have_the_names_units_and_values_of_the_csv(self):
        bourse.call("report", str(self.run_.path), format="csv", csv="raw", output="csv")
        self.assertGreater(len(self.run_.tables), 20)
        for name in self.run_.tables:
            with open(f"csv/{name}.csv", newline="", encoding="utf-8") as file:
                names, *rows = csv.reader(file)
            table = self.run_.table(name)
            self.assertEqual(table.names, names)
            self.assertEqual(len(table), len(rows), name)
            for column in table.columns:
                self.assertTrue(column.meaning, column)
        case = self.run_.cases[0]
        self.assertEqual((case["workload"], case["standing"], case["result_unit"]), ("point-read", "counts", "reads/s"))
        self.assertGreater(case["result"], 0)
        self.assertEqual(self.run_.rounds.column("round"), [1, 2])
        self.assertIn("response_p50_ns", self.run_.operations.names)
        with self.assertRaisesRegex(KeyError, "there is no table 'case'"):
            self.run_.table("case")

    def test_a_stored_run_is_the_same_by_its_folder_its_file_and_the_folder_of_results(self):
        for path in (self.run_.path, self.run_.path / "run.json", str(self.run_.path)):
            self.assertEqual(bourse.load(path).cases.rows, self.run_.cases.rows)
        self.assertEqual(bourse.load("bourse-runs").table("runs")[0]["name"], "micro-point-read")
        self.assertEqual(self.run_.document["cases"][0]["workload"]["name"], "point-read")
        self.assertIn("<html", self.run_.page.read_text(encoding="utf-8")[:200].lower())

    def test_a_run_is_shown_as_the_terminal_does_and_as_a_table_in_a_notebook(self):
        self.assertIn("reads/s", str(self.run_))
        shown = self.run_._repr_html_()
        self.assertIn("<td>volatile</td>", shown)
        self.assertIn("<td>reads/s</td>", shown)
        for row in self.run_.warnings:
            self.assertNotIn("<script", row["text"])
        self.assertIn("<th>case_label</th>", self.run_.operations._repr_html_())
        self.assertEqual(_tables.html_table(["<a>"], [["<b>"]]).count("&lt;"), 2)

    def test_failures_are_exceptions_with_message_hint_and_exit_code(self):
        with self.assertRaises(bourse.UsageError) as caught:
            bourse.load("nowhere")
        self.assertEqual(caught.exception.exit_code, 1)
        self.assertIn("nowhere", str(caught.exception))
        with self.assertRaisesRegex(bourse.Error, "did you mean 'journal'(.|\n)*hint: ") as caught:
            bourse.run("point-read", "sqlite:x.db?jurnal=wal")
        self.assertIsNone(caught.exception.run)
        with self.assertRaisesRegex(bourse.UsageError, "no run was written"):
            bourse.run("point-read", "sqlite::memory:", dry_run=True)
        self.assertIn("sqlite", json.loads(bourse.call("engines", json=True))[0]["engine"])

    @unittest.skipUnless(os.name == "posix", "signals of POSIX")
    def test_ctrl_c_reaches_the_program_which_writes_what_was_measured(self):
        def interrupt():
            """Sends what Ctrl-C does to this process alone, once the measurement goes on; after a minute in any case."""
            for _ in range(600):
                if any('"measurement"' in file.read_text() for file in pathlib.Path("long").glob("*/live.ndjson")):
                    break
                time.sleep(0.1)
            os.kill(os.getpid(), signal.SIGINT)

        # A job in the background of a shell ignores it.
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        threading.Thread(target=interrupt).start()
        with self.assertRaises(bourse.Interrupted) as caught:
            bourse.run("point-read", "sqlite::memory:", rounds=1, output="long", **{**SHORT, "count": None, "for_": "90s"})
        self.assertTrue(caught.exception.run.table("runs")[0]["is_interrupted"])

    @unittest.skipUnless(has("pyarrow"), "pyarrow is not installed")
    def test_tables_are_arrow_with_the_types_of_their_columns(self):
        import pyarrow

        for name in self.run_.tables:
            table = self.run_.table(name)
            self.assertEqual(table.arrow().to_pylist(), table.rows, name)
        schema = pyarrow.table(self.run_.series).schema
        self.assertEqual((schema.field("value").type, schema.field("round").type), (pyarrow.float64(), pyarrow.int64()))
        self.assertIn(b"meaning", schema.field("value").metadata)

    @unittest.skipUnless(has("pyarrow") and has("pandas"), "pandas with pyarrow is not installed")
    def test_pandas_reads_tables(self):
        frame = self.run_.series.arrow().to_pandas()
        self.assertEqual(len(frame), len(self.run_.series))

    @unittest.skipUnless(has("pyarrow") and has("polars"), "polars with pyarrow is not installed")
    def test_polars_reads_tables(self):
        import polars

        frame = polars.DataFrame(self.run_.series)
        self.assertEqual((frame.height, frame.schema["value"]), (len(self.run_.series), polars.Float64))

    @unittest.skipUnless(has("pyarrow") and has("duckdb"), "DuckDB with pyarrow is not installed")
    def test_duckdb_reads_tables(self):
        import duckdb

        series = self.run_.series.arrow()
        self.assertEqual(duckdb.sql("SELECT count(*) FROM series").fetchall(), [(len(series),)])


class Comparisons(InFolder):
    def test_the_gate_passes_fails_and_skips_by_the_exit_code(self):
        same, alike, slower = self.scaled("same", 1.0), self.scaled("alike", 1.0), self.scaled("slower", 0.5)
        passed = bourse.assert_not_slower(same, alike, noise="1%", inconclusive="fail")
        self.assertEqual((passed.passed, passed.exit_code, passed.ratio, passed.run), (True, 0, 1.0, None))
        brief = (
            r"^slower by more than 5 %: -50.0 % \(no interval\)\nA: .*  1,000 reads/s\nB: .*  500 reads/s\n"
            r"again: bourse compare --noise=1% '--fail-above=5 %' .*same .*slower$"
        )
        with self.assertRaisesRegex(AssertionError, brief):
            bourse.assert_not_slower(same, slower, noise="1%")
        with self.assertRaisesRegex(unittest.SkipTest, "undecided: not attributable: -50.0 %"):
            bourse.assert_not_slower(same, slower)
        with self.assertRaisesRegex(unittest.SkipTest, "^undecided: -2.0 %"):
            bourse.assert_not_slower(same, self.scaled("near", 0.98), noise="5%")
        with self.assertRaisesRegex(AssertionError, "undecided"):
            bourse.assert_not_slower(same, slower, inconclusive="fail")
        with self.assertRaises(ValueError):
            bourse.assert_not_slower(same, slower, inconclusive="ignore")
        failed = bourse.compare(bourse.load(same), slower, "5 %", noise="1%")
        self.assertEqual((failed.passed, failed.exit_code, failed.verdict), (False, 4, "slower_beyond"))
        self.assertIn("<td>reads/s</td><td>-50.0 % (no interval)</td>", failed._repr_html_())
        self.assertEqual([it.unit for it in failed.pairs[0].metrics][:2], ["reads/s", "ns"])
        self.assertIn("B is slower", str(failed))
        self.assertRegex(repr(failed), r"^<comparison, tolerance 5 %: slower beyond: -50.0 % ")
        tolerated = bourse.compare(same, slower, tolerance="60 %", noise="1%")
        self.assertEqual((tolerated.passed, tolerated.tolerance), (True, 0.6))
        self.assertIn("tolerance 60 %", repr(tolerated))
        with self.assertRaisesRegex(bourse.UsageError, "nowhere"):
            bourse.compare(same, "nowhere")
        with self.assertRaisesRegex(bourse.UsageError, "the same run twice"):
            bourse.compare(same, bourse.load(same))

    def test_an_assertion_prints_its_verdict_and_no_progress(self):
        with contextlib.redirect_stderr(io.StringIO()) as progress:
            with self.assertRaisesRegex(unittest.SkipTest, r"^undecided: .*\n(.*\n)*again: .*bourse compare ") as skipped:
                bourse.assert_not_slower("null:", "sqlite::memory:", workload="point-read", rounds=1, **SHORT)
        for option in ("--json", "--format", "--progress", "--output"):
            self.assertNotIn(option, str(skipped.exception))
        self.assertEqual(progress.getvalue(), "")

    @unittest.skipUnless(has("pytest"), "pytest is not installed")
    def test_the_plugin_of_pytest_reports_each_comparison(self):
        same, alike, slower = self.scaled("same", 1.0), self.scaled("alike", 1.0), self.scaled("slower", 0.5)
        pathlib.Path("test_speed.py").write_text(
            f"def test_same(assert_not_slower): assert_not_slower({str(same)!r}, {str(alike)!r}, noise='1%')\n"
            f"def test_slower(assert_not_slower): assert_not_slower({str(same)!r}, {str(slower)!r}, noise='1%')\n"
            f"def test_unknown(assert_not_slower): assert_not_slower({str(same)!r}, {str(slower)!r})\n"
        )
        points = importlib.metadata.entry_points()
        group = points.select(group="pytest11") if hasattr(points, "select") else points.get("pytest11", [])
        loaded = any(point.value == "bourse.pytest_plugin" for point in group)
        words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rs", "test_speed.py"]
        words += [] if loaded else ["-p", "bourse.pytest_plugin"]
        ended = subprocess.run(words, capture_output=True, text=True)
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        self.assertIn("1 failed, 1 passed, 1 skipped", ended.stdout)
        self.assertIn("test_speed.py::test_unknown: undecided: not attributable: -50.0 %", ended.stdout)
        self.assertIn("SKIPPED [1] test_speed.py:3: undecided: ", ended.stdout)
        strict = subprocess.run([*words, "--bourse-inconclusive=fail"], capture_output=True, text=True)
        self.assertIn("2 failed, 1 passed", strict.stdout)


class Documentation(InFolder):
    def test_programs_of_the_page_run_and_two_targets_have_an_interval(self):
        page = (PACKAGING.parent / "docs/python.md").read_text(encoding="utf-8")
        blocks = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
        self.assertGreater(len(blocks), 4)
        short = {"WARMUP": "0s", "ROUNDS": "6", "PROGRESS": "0s", "WAIT_QUIET": "0s", "NO_REPEAT": "true"}
        short = {f"BOURSE_{name}": value for name, value in short.items()}
        names = {"run": self.run_}
        self.scaled("base", 1.0)
        self.scaled("head", 1.0)
        left_out = set()
        with unittest.mock.patch.dict(os.environ, short):
            for number, block in enumerate(blocks, 1):
                code = compile(block.replace("set=", "count=20_000, set="), f"docs/python.md, program {number}", "exec")
                imported = set(re.findall(r"^(?:import|from) (\w+)", block, re.MULTILINE)) - {"bourse"}
                missing = {name for name in imported if not (has(name) and has("pyarrow"))}
                left_out |= missing
                if not missing:
                    exec(code, names)
        compared = names["difference"]
        low, high = compared.interval
        self.assertLess(low, high)
        self.assertGreater(compared.level, 0.9)
        self.assertIn(compared.exit_code, (4, 6))
        row = compared.run.table("comparisons")[0]
        self.assertEqual((row["ratio"], row["verdict"]), (compared.ratio, compared.verdict))
        self.assertIn("verdict", str(compared))
        names["test_reads_are_not_slower"]()
        if left_out:
            self.skipTest(f"all but the programs that need pyarrow and {', '.join(sorted(left_out))} ran")


class Wheel(unittest.TestCase):
    def test_a_wheel_has_program_module_plugin_and_a_list_of_its_files(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "bourse"
            program.write_bytes(b"a program")
            words = [sys.executable, str(PACKAGING / "wheel.py"), str(program), folder, "any"]
            path = subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
            with zipfile.ZipFile(path) as wheel:
                files = {name: wheel.read(name) for name in wheel.namelist()}
        info = next(name for name in files if name.endswith("/METADATA")).rsplit("/", 1)[0]
        self.assertIn("bourse/py.typed", files)
        self.assertEqual(files[info.replace("dist-info", "data/scripts/bourse")], b"a program")
        self.assertIn(b"[pytest11]\nbourse = bourse.pytest_plugin", files[f"{info}/entry_points.txt"])
        self.assertNotRegex(files[f"{info}/METADATA"].decode(), r"\]\((?!https?:)")
        for name, digest, size in csv.reader(files[f"{info}/RECORD"].decode().splitlines()):
            if name.endswith("RECORD"):
                continue
            found = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).rstrip(b"=").decode()
            self.assertEqual((digest, int(size)), (f"sha256={found}", len(files[name])), name)


if __name__ == "__main__":
    unittest.main()
