"""Tables of runs: rows as dictionaries, and as Arrow where pyarrow is installed."""

from __future__ import annotations

import html
import json
import pathlib
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, NamedTuple, Optional, Sequence

if TYPE_CHECKING:
    import pyarrow  # type: ignore[import-untyped]

# A row by the names of its columns: `None` where there is no value, else bool, int, float or str.
Row = Dict[str, Any]


class Column(NamedTuple):
    """A column: its name with its unit last, its kind (`text`, `integer`, `real` or `boolean`), and what it holds."""

    name: str
    kind: str
    meaning: str


class Table:
    """A table of a run. Names and units are those of the CSV that `bourse report --format csv` writes.

    `for row in table`, `len(table)` and `table[0]` give rows as dictionaries. pandas, polars and DuckDB read the table itself:
    it has the Arrow PyCapsule interface, which needs pyarrow.
    """

    def __init__(self, name: str, columns: Sequence[Column], rows: List[Row]) -> None:
        self.name = name
        self.columns = tuple(columns)
        self.rows = rows

    @property
    def names(self) -> List[str]:
        """Names of the columns."""
        return [column.name for column in self.columns]

    def column(self, name: str) -> List[Any]:
        """Values of a column."""
        return [row[name] for row in self.rows]

    def arrow(self) -> pyarrow.Table:
        """The table as pyarrow's: integers of 64 bits, reals, booleans and texts, with null where there is no value."""
        import pyarrow

        types = {
            "integer": pyarrow.int64(),
            "real": pyarrow.float64(),
            "boolean": pyarrow.bool_(),
            "text": pyarrow.string(),
        }
        fields = [pyarrow.field(it.name, types[it.kind], metadata={"meaning": it.meaning}) for it in self.columns]
        arrays = [pyarrow.array(self.column(field.name), type=field.type) for field in fields]
        return pyarrow.Table.from_arrays(arrays, schema=pyarrow.schema(fields))

    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object:
        return self.arrow().__arrow_c_stream__(requested_schema)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, position: int) -> Row:
        return self.rows[position]

    def __repr__(self) -> str:
        return f"<table {self.name}: {len(self)} rows, {len(self.columns)} columns>"

    def _repr_html_(self) -> str:
        shown = 20
        more = f"<p>{len(self) - shown:,} more rows</p>" if len(self) > shown else ""
        # Columns without a value say nothing.
        names = [name for name in self.names if any(row[name] is not None for row in self.rows)]
        return html_table(names or self.names, [[row[name] for name in names] for row in self.rows[:shown]]) + more


def html_table(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table for a notebook."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(shown(one))}</td>" for one in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def shown(value: Any) -> str:
    """A value as a person reads it.

    >>> [shown(it) for it in (None, "wal", 1234567.8, 0.012346, 3, 20_000_000, True)]
    ['', 'wal', '1,234,568', '0.01235', '3', '20,000,000', 'True']
    """
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def read(folder: pathlib.Path, name: str) -> List[Row]:
    """Rows of an exported table."""
    with open(folder / f"{name}.ndjson", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
