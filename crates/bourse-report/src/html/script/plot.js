// Curves, drawn from the run's data: crosshair, zoom, curves that can be left out, a change between a linear and a logarithmic
// axis.
const SVG = "http://www.w3.org/2000/svg";
const LEFT = 62, RIGHT = 14, FOOT = 22, TOP = 8;

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function shape(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// The points of a curve: those it brings, or the sum of metrics of a round's series.
function pointsOf(curve, run) {
  if (curve.points) return curve.points;
  const round = run.cases[curve.case].rounds[curve.round];
  const columns = curve.metrics.map((metric) => {
    const has = (series) => series?.columns.find((column) => column.metric === metric);
    const fine = has(round.fine_series);
    return { times: (fine ? round.fine_series : round.series).time_s, values: (fine ?? has(round.series))?.values ?? [] };
  });
  return columns[0].times.map((time, at) => {
    const values = columns.map(({ values }) => values[at] ?? null);
    return [time, values.includes(null) ? null : values.reduce((sum, value) => sum + value, 0)];
  });
}

// No more points than pixels.
function thinned(points, thin, most) {
  const size = Math.ceil(points.length / Math.max(1, most));
  if (size < 2) return points;
  const kept = [];
  for (let at = 0; at < points.length; at += size) {
    const chunk = points.slice(at, at + size);
    const values = chunk.map(([, value]) => value).filter((value) => value !== null);
    const mean = () => values.reduce((sum, value) => sum + value, 0) / values.length;
    kept.push([chunk[chunk.length - 1][0], values.length ? (thin === "max" ? Math.max(...values) : mean()) : null]);
  }
  return kept;
}

// The point that a place belongs to: a row of a series ends at its time.
function pointAt(points, place) {
  let [low, high] = [0, points.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle][0] < place - 1e-9) low = middle + 1;
    else high = middle;
  }
  return points[low];
}

class Plot {
  constructor(figure, spec, run, page) {
    Object.assign(this, { figure, spec, page, id: figure.id, isTime: spec.across === "time", own: null });
    // Where every panel has the same curves, one that is left out is left out of all.
    const labels = ({ curves }) => curves.map(({ label }) => label).join("\n");
    const isShared = spec.panels.length > 1 && spec.panels.every((panel) => labels(panel) === labels(spec.panels[0]));
    this.panels = spec.panels.map((panel, at) => ({
      ...panel,
      key: `${this.id}.${at}`,
      map: panel.heat ? run.cases[panel.heat[0]].rounds[panel.heat[1]].response_map : undefined,
      curves: panel.curves.map((curve, nth) => ({
        ...curve,
        style: (nth % 12) + 1,
        key: isShared ? `${this.id}.${nth}` : `${this.id}.${at}.${nth}`,
        points: pointsOf(curve, run).map(([place, value]) => [place, value >= 0 ? value : null]),
      })),
    }));
    const events = spec.events ? pointsOf(spec.events, run) : [];
    this.events = events.filter(([, value]) => value > 0).map(([time]) => time);
    // Where most seconds have one, ticks show nothing: they are counted instead.
    this.isCrowded = this.events.length * 4 > events.length;
    const counted = this.isCrowded ? ` in ${this.events.length} of ${events.length} s` : "";
    this.eventKey = this.events.length ? spec.events.name + counted : "";
    if (this.isCrowded) this.events = [];
    const ends = this.panels.flatMap((panel) => panel.curves.map(({ points }) => points[points.length - 1]?.[0] ?? 0));
    this.end = Math.max(this.isTime ? 0 : 1, ...ends, ...spec.phases.map(([, , to]) => to));
    this.build();
  }

  build() {
    this.host = element("div", { class: "live" });
    this.at = element("output", { class: "at" });
    const all = element("button", { type: "button", class: "all" }, "Show all");
    all.addEventListener("click", () => this.zoom(null));
    const data = element("button", { type: "button", class: "data", "aria-expanded": "false" }, "Data");
    data.addEventListener("click", () => this.toggleData(data));
    const events = element("span", { class: "event-key" }, this.eventKey);
    this.tools = element("p", { class: "tools" }, this.at, events, all, data);
    this.host.append(this.tools);
    for (const panel of this.panels) {
      const head = element("div", { class: "panel-head" }, element("strong", {}, panel.title));
      for (const curve of panel.curves) head.append(this.keyOf(curve));
      panel.flip = element("button", { type: "button", class: "flip" });
      panel.flip.addEventListener("click", () => this.page.toggle("flipped", panel.key, this));
      head.append(panel.flip);
      const keys = "drag over a stretch to enlarge it; arrow keys move the crosshair, + and − change the stretch, 0 shows all";
      panel.svg = shape("svg", { tabindex: "0", role: "img", "aria-label": `${panel.title}: ${keys}` });
      this.listen(panel);
      this.host.append(head, panel.svg);
    }
    this.figure.style.minHeight = "";
    this.figure.append(this.host);
    this.figure.classList.add("is-live");
  }

  keyOf(curve) {
    const line = shape("svg", { viewBox: "0 0 22 8", "aria-hidden": "true" });
    line.append(shape("line", { class: `curve s${curve.style}`, x1: 0, x2: 22, y1: 4, y2: 4 }));
    curve.output = element("span", { class: "value" });
    curve.button = element("button", { type: "button", class: "key", "data-curve": curve.key }, line, `${curve.label} `, curve.output);
    curve.button.addEventListener("click", () => this.page.toggle("off", curve.key, this));
    return curve.button;
  }

  // What is shown of the horizontal axis.
  get range() {
    const zoom = this.isTime ? this.page.state.zoom : this.own;
    return zoom && zoom[0] < this.end ? [zoom[0], Math.min(zoom[1], this.end)] : [0, this.end];
  }

  zoom(range) {
    const [from, to] = range ?? [0, 0];
    const kept = range && to - from > this.end / 2000 ? [Math.max(0, from), Math.min(this.end, to)] : null;
    if (this.isTime) return this.page.zoom(kept);
    this.own = kept;
    this.draw();
  }

  draw() {
    const width = Math.max(280, this.host.clientWidth);
    const { state } = this.page;
    const [from, to] = this.range;
    this.width = width;
    this.x = (place) => LEFT + ((place - from) / (to - from)) * (width - LEFT - RIGHT);
    this.host.classList.toggle("zoomed", from > 0 || to < this.end);
    this.panels.forEach((panel, nth) => {
      const isLast = nth + 1 === this.panels.length;
      const high = this.isTime ? 130 : 250;
      const height = TOP + high + (isLast ? FOOT : 4);
      const isLog = panel.log !== state.flipped.has(panel.key);
      panel.flip.textContent = isLog ? "Linear axis" : "Log axis";
      panel.flip.setAttribute("aria-label", `${panel.title}: ${isLog ? "linear" : "logarithmic"} axis instead`);
      panel.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      panel.svg.replaceChildren();
      const add = (name, attributes, text) => panel.svg.append(shape(name, attributes, text));
      for (const curve of panel.curves) {
        const isOn = !state.off.has(curve.key);
        curve.button.setAttribute("aria-pressed", String(isOn));
        // One more on either side, so that lines reach the edges.
        const within = curve.points.filter(([place], at, all) => (all[at + 1]?.[0] ?? place) >= from && (all[at - 1]?.[0] ?? place) <= to);
        const drawable = isLog ? within.map(([place, value]) => [place, value > 0 ? value : null]) : within;
        curve.drawn = isOn ? thinned(drawable, curve.thin, (width - LEFT) / 2) : [];
      }
      const values = panel.curves.flatMap(({ drawn }) => drawn.map(([, value]) => value)).filter((value) => value !== null);
      const most = values.reduce((most, value) => Math.max(most, value), 0);
      const least = values.reduce((least, value) => Math.min(least, value), panel.map && isLog ? 2 ** (panel.map.first_row / 2) : Infinity);
      const marked = isLog ? most : panel.marks.reduce((most, [value]) => Math.max(most, value), most);
      const scale = isLog ? logarithmic(panel.unit, least, most) : linear(panel.unit, marked);
      panel.y = (value) => TOP + high * (1 - Math.min(1, Math.max(0, scale.place(value))));
      for (const [name, start, end] of this.spec.phases) {
        const [left, right] = [Math.max(LEFT, this.x(start)), Math.min(width - RIGHT, this.x(end))];
        if (right <= left) continue;
        if (name !== "measured") add("rect", { class: "apart", x: left, y: TOP, width: right - left, height: high });
      }
      if (panel.map && isLog) this.drawHeat(panel, [from, to], high);
      for (const [value, label] of scale.ticks) {
        add("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: panel.y(value), y2: panel.y(value) });
        add("text", { class: "tick", x: LEFT - 6, y: panel.y(value) + 4, "text-anchor": "end" }, label);
      }
      for (const [value, name] of panel.marks) {
        if (scale.place(value) > 1) continue;
        const y = panel.y(value);
        add("line", { class: "mark", x1: LEFT, x2: width - RIGHT, y1: y, y2: y });
        add("text", { class: "mark-name", x: width - RIGHT - 4, y: y < TOP + 14 ? y + 13 : y - 4, "text-anchor": "end" }, name);
      }
      for (const time of this.events) {
        if (time < from || time > to) continue;
        add("line", { class: "event", x1: this.x(time), x2: this.x(time), y1: TOP + high - 7, y2: TOP + high });
      }
      const clip = `${panel.key}-clip`.replaceAll(".", "-");
      const box = shape("clipPath", { id: clip });
      box.append(shape("rect", { x: LEFT, y: 0, width: width - LEFT - RIGHT, height }));
      panel.svg.append(box);
      for (const curve of panel.curves) this.drawCurve(panel, curve, clip);
      for (const [name, start, end] of nth === 0 ? this.spec.phases : []) {
        const [left, right] = [Math.max(LEFT, this.x(start)), Math.min(width - RIGHT, this.x(end))];
        if (right - left > 60) add("text", { class: "phase", x: (left + right) / 2, y: TOP + high - 6, "text-anchor": "middle" }, name);
      }
      add("line", { class: "axis", x1: LEFT, x2: width - RIGHT, y1: TOP + high, y2: TOP + high });
      for (const [place, label] of across(this.spec, [from, to], Math.max(3, width / 90))) {
        if (!this.isTime) add("line", { class: "grid", x1: this.x(place), x2: this.x(place), y1: TOP, y2: TOP + high });
        if (isLast) add("text", { class: "tick", x: this.x(place), y: TOP + high + 17, "text-anchor": "middle" }, label);
      }
      panel.hair = shape("g", { class: "hair" });
      panel.svg.append(panel.hair);
      Object.assign(panel, { high });
    });
    if (this.cursorAt !== undefined) this.cursor(this.cursorAt);
  }

  // Cells as dark as they are full, by the logarithm of their counts; those of one shade are one path.
  drawHeat(panel, [from, to], high) {
    const { time_s: times, first_row: lowest, counts } = panel.map;
    const most = Math.log1p(counts.flat().reduce((most, count) => Math.max(most, count), 0));
    const paths = Array.from({ length: 6 }, () => "");
    const bound = (row) => Math.min(TOP + high, panel.y(2 ** ((lowest + row) / 2))).toFixed(1);
    times.forEach((time, at) => {
      const start = times[at - 1] ?? 0;
      if (time < from || start > to) return;
      const [left, right] = [Math.max(LEFT, this.x(start)), Math.min(this.width - RIGHT, this.x(time))].map((x) => x.toFixed(1));
      counts[at].forEach((count, row) => {
        if (count === 0) return;
        const shade = Math.min(6, Math.max(1, Math.ceil((6 * Math.log1p(count)) / most)));
        paths[shade - 1] += `M${left} ${bound(row)}H${right}V${bound(row + 1)}H${left}Z`;
      });
    });
    paths.forEach((path, shade) => { if (path) panel.svg.append(shape("path", { class: `heat h${shade + 1}`, d: path })); });
  }

  drawCurve(panel, curve, clip) {
    let path = "";
    let before = null;
    curve.drawn.forEach(([place, value], at) => {
      const after = curve.drawn[at + 1]?.[1] ?? null;
      if (value !== null && before === null && after === null) {
        const dot = { class: `dot f${curve.style}`, cx: this.x(place), cy: panel.y(value), r: 2, "clip-path": `url(#${clip})` };
        panel.svg.append(shape("circle", dot));
      } else if (value !== null) {
        path += `${before === null ? "M" : "L"}${this.x(place).toFixed(1)} ${panel.y(value).toFixed(1)}`;
      }
      before = value;
    });
    if (path) panel.svg.append(shape("path", { class: `curve s${curve.style}`, d: path, "clip-path": `url(#${clip})` }));
  }

  // Moves the crosshair, or takes it away.
  cursor(place) {
    this.cursorAt = place;
    const [from, to] = this.range;
    const isOn = place !== undefined && place >= from && place <= to;
    let shown;
    for (const panel of this.panels) {
      panel.hair?.replaceChildren();
      for (const curve of panel.curves) {
        const point = isOn && curve.drawn?.length ? pointAt(curve.drawn, place) : undefined;
        curve.output.textContent = point && point[1] !== null ? UNITS[panel.unit](point[1]) : "";
        if (!point) continue;
        shown = point[0];
        if (point[1] === null) continue;
        panel.hair.append(shape("circle", { class: `f${curve.style}`, cx: this.x(point[0]), cy: panel.y(point[1]), r: 3.5 }));
      }
      if (!isOn || shown === undefined) continue;
      panel.hair.prepend(shape("line", { x1: this.x(shown), x2: this.x(shown), y1: TOP, y2: TOP + panel.high }));
    }
    this.at.textContent = shown === undefined ? "" : this.isTime ? `at ${seconds(shown)}` : this.nameOf(shown);
  }

  // A place of the horizontal axis in a word.
  nameOf(place) {
    return this.isTime ? seconds(place) : this.spec.names?.[place] ?? percentile(place);
  }

  // Tells every chart over time, or this one alone.
  point(place) {
    if (this.isTime) this.page.cursor(place);
    else this.cursor(place);
  }

  listen(panel) {
    const { svg } = panel;
    let start = null;
    const placeOf = (event) => {
      const box = svg.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * this.width;
      const [from, to] = this.range;
      return Math.min(to, Math.max(from, from + ((x - LEFT) / (this.width - LEFT - RIGHT)) * (to - from)));
    };
    svg.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      start = { x: event.clientX, place: placeOf(event) };
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener("pointermove", (event) => {
      this.point(placeOf(event));
      if (!start) return;
      const [left, right] = [start.place, placeOf(event)].map(this.x).sort((a, b) => a - b);
      panel.hair.append(shape("rect", { class: "chosen", x: left, y: TOP, width: right - left, height: panel.high }));
    });
    svg.addEventListener("pointerup", (event) => {
      const [from, to] = [start?.place ?? 0, placeOf(event)].sort((a, b) => a - b);
      if (start && Math.abs(event.clientX - start.x) > 5) this.zoom([from, to]);
      start = null;
    });
    svg.addEventListener("pointercancel", () => { start = null; });
    svg.addEventListener("pointerleave", () => { if (!start) this.point(undefined); });
    svg.addEventListener("dblclick", () => this.zoom(null));
    svg.addEventListener("keydown", (event) => {
      const [from, to] = this.range;
      const here = this.cursorAt ?? (from + to) / 2;
      const step = (to - from) / 60;
      const about = (factor) => [here - (here - from) * factor, here + (to - here) * factor];
      const actions = {
        ArrowLeft: () => this.point(Math.max(from, here - step)),
        ArrowRight: () => this.point(Math.min(to, here + step)),
        "+": () => this.zoom(about(0.5)),
        "-": () => this.zoom(about(2)),
        0: () => this.zoom(null),
        Escape: () => this.point(undefined),
      };
      if (!actions[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      actions[event.key]();
    });
  }

  // The values behind the chart, as far as they are shown.
  toggleData(button) {
    const isOpen = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!isOpen));
    this.host.querySelector(".behind")?.remove();
    if (isOpen) return;
    const behind = element("div", { class: "scroll behind", tabindex: "0", role: "region", "aria-label": "Data behind the chart" });
    const [from, to] = this.range;
    for (const panel of this.panels) {
      const shown = panel.curves.filter(({ key }) => !this.page.state.off.has(key));
      const rows = shown.map(({ points, thin }) => thinned(points.filter(([place]) => place >= from && place <= to), thin, 300));
      const longest = rows.reduce((most, each) => (each.length > most.length ? each : most), []);
      const head = element("tr", {}, element("th", { scope: "col" }, this.isTime ? "time" : this.spec.names ? "row" : "percentile"));
      for (const { label } of shown) head.append(element("th", { scope: "col", class: "number" }, label));
      const body = element("tbody");
      for (const [place] of longest) {
        const row = element("tr", {}, element("th", { scope: "row" }, this.nameOf(place)));
        for (const points of rows) {
          const value = points.length ? pointAt(points, place)[1] : null;
          row.append(element("td", { class: "number" }, value === null ? NOTHING : UNITS[panel.unit](value)));
        }
        body.append(row);
      }
      behind.append(element("table", {}, element("caption", {}, element("span", {}, panel.title)), element("thead", {}, head), body));
    }
    this.host.append(behind);
  }
}
