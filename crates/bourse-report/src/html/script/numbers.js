// Numbers and axes, the same as in the still charts.
const NOTHING = "–";

function significant(value, figures = 3) {
  if (!Number.isFinite(value)) return NOTHING;
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-9 || size >= 1e15) return value.toExponential(2);
  const places = (of) => Math.min(12, Math.max(0, figures - 1 - Math.floor(Math.log10(Math.abs(of)))));
  const rounded = Number(value.toFixed(places(value)));
  const [whole, part] = value.toFixed(places(rounded)).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return part ? `${grouped}.${part}` : grouped;
}

// A value in the largest of the units that leaves it at least 1.
function inUnits(value, units, step, limit) {
  let [left, at] = [value, 0];
  while (Math.abs(left) >= limit && at + 1 < units.length) {
    left /= step;
    at += 1;
  }
  return `${significant(left)} ${units[at]}`;
}

const UNITS = {
  per_second: (value) => `${significant(value)}/s`,
  count: (value) => significant(value),
  ns: (value) => (value === 0 ? "0" : inUnits(value, ["ns", "µs", "ms", "s"], 1000, 999.5)),
  bytes: (value) => inUnits(value, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"], 1024, 1023.5),
  decimal_bytes: (value) => inUnits(value, ["B", "kB", "MB", "GB"], 1000, 999.5),
  bytes_per_second: (value) => `${UNITS.bytes(value)}/s`,
};

function seconds(value) {
  if (value === 0) return "0 s";
  if (Math.abs(value) < 1) return UNITS.ns(value * 1e9);
  if (value < 119.5) return `${Math.round(value * 10) / 10} s`;
  const whole = Math.round(value);
  const parts = [[Math.floor(whole / 3600), "h"], [Math.floor(whole / 60) % 60, "min"], [whole % 60, "s"]];
  return parts.filter(([amount]) => amount > 0).map(([amount, unit]) => `${amount} ${unit}`).join(" ");
}

// The place of a quantile by its name: p99.9.
function percentile(place) {
  return `p${Number((100 * (1 - 10 ** -place)).toFixed(Math.max(1, Math.ceil(place) - 1)))}`;
}

function tick(unit, value) {
  const [, number, rest] = /^([^ /]*)(.*)$/.exec(UNITS[unit](value));
  const short = number.includes(".") && !number.includes("e") ? number.replace(/0+$/, "").replace(/\.$/, "") : number;
  return short + rest.replace(/\/s$/, "");
}

function linear(unit, high) {
  const end = high > 0 && Number.isFinite(high) ? high : 1;
  let base = 1;
  if (unit.startsWith("bytes")) while (base * 1024 <= end) base *= 1024;
  const raw = end / base / 4;
  const magnitude = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 2.5, 5, 10].find((each) => each * magnitude >= raw * 0.999) ?? 10) * magnitude * base;
  const count = Math.max(1, Math.ceil((end / step) * 0.999999));
  const ticks = Array.from({ length: count + 1 }, (_, at) => [at * step, tick(unit, at * step)]);
  return { ticks, place: (value) => value / (count * step) };
}

function logarithmic(unit, low, high) {
  const ends = low > 0 && high >= low ? [low, high] : [1, 10];
  const first = Math.floor(Math.log10(ends[0]) + 1e-9);
  const last = Math.max(first + 1, Math.ceil(Math.log10(ends[1]) - 1e-9));
  const every = Math.max(1, Math.ceil((last - first) / 5));
  const ticks = [];
  for (let at = first; at <= last; at += every) ticks.push([10 ** at, tick(unit, 10 ** at)]);
  return { ticks, place: (value) => (Math.log10(value) - first) / (last - first) };
}

const TIME_STEPS = [
  0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200,
];
const QUANTILES = [[0, "min"], [0.301, "p50"], [1, "p90"], [2, "p99"], [3, "p99.9"], [4, "p99.99"], [5, "p99.999"]];

// Places with labels from one end of a horizontal axis to the other.
function across({ across: kind, names }, [from, to], count) {
  if (kind === "rows") {
    const every = Math.max(1, Math.ceil(names.length / count));
    return names.map((name, at) => [at, name]).filter(([at]) => at % every === 0 && at >= from && at <= to);
  }
  if (kind === "quantile") return QUANTILES.filter(([place]) => place >= from && place <= to + 1e-9);
  const step = TIME_STEPS.find((each) => (to - from) / each <= count) ?? Math.ceil((to - from) / count);
  const ticks = [];
  for (let at = Math.ceil(from / step - 1e-9); at * step <= to + 1e-9; at += 1) ticks.push([at * step, seconds(at * step)]);
  return ticks;
}
