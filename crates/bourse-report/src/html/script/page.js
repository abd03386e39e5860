// The page: its data, what the fragment of its address keeps, and what can be copied or saved.
const page = {
  plots: [],
  // A place of the page; a stretch of time; curves left out; panels whose axis was changed.
  state: { place: "", zoom: null, off: new Set(), flipped: new Set() },

  read() {
    const [first, ...rest] = location.hash.slice(1).split("&");
    const parts = first.includes("=") ? [first, ...rest] : rest;
    const named = Object.fromEntries(parts.map((part) => part.split("=").map(decodeURIComponent)));
    this.state.place = first.includes("=") ? "" : decodeURIComponent(first);
    // A link within the page names a place alone: what is shown stays.
    if (parts.length === 0) {
      this.open();
      return this.write();
    }
    const zoom = (named.zoom ?? "").split("-").map(Number);
    this.state.zoom = zoom.length === 2 && zoom[0] < zoom[1] ? zoom : null;
    this.state.off = new Set((named.off ?? "").split(",").filter(Boolean));
    this.state.flipped = new Set((named.axis ?? "").split(",").filter(Boolean));
    this.open();
    this.draw();
  },

  write() {
    const { place, zoom, off, flipped } = this.state;
    const parts = [encodeURIComponent(place)];
    if (zoom) parts.push(`zoom=${zoom.map((end) => Number(end.toFixed(2))).join("-")}`);
    if (off.size) parts.push(`off=${[...off].join(",")}`);
    if (flipped.size) parts.push(`axis=${[...flipped].join(",")}`);
    const fragment = parts.filter(Boolean).join("&");
    if (fragment !== location.hash.slice(1)) history.replaceState(null, "", fragment ? `#${fragment}` : location.pathname + location.search);
  },

  // Shows the place, also within what is folded.
  open() {
    const there = this.state.place && document.getElementById(this.state.place);
    if (!there) return;
    for (let around = there; around; around = around.parentElement?.closest("details")) {
      if (around.matches("details")) around.open = true;
    }
    there.scrollIntoView();
  },

  draw() {
    for (const plot of this.plots) plot.draw();
  },

  zoom(range) {
    this.state.zoom = range;
    this.write();
    for (const plot of this.plots) if (plot.isTime) plot.draw();
  },

  toggle(which, key, plot) {
    const set = this.state[which];
    if (!set.delete(key)) set.add(key);
    this.write();
    plot.draw();
  },

  cursor(place) {
    for (const plot of this.plots) if (plot.isTime) plot.cursor(place);
  },
};

// What the page carries compressed, as text; nothing where the browser cannot inflate it.
async function carried(id) {
  const held = document.getElementById(id);
  if (!held || typeof DecompressionStream === "undefined") return null;
  const binary = atob(held.textContent.trim());
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

// Draws each chart when it comes into view, and all of them before the page is printed.
function enliven(run) {
  const waiting = new Map();
  const draw = (figure) => {
    if (!waiting.has(figure)) return;
    const plot = new Plot(figure, waiting.get(figure), run, page);
    waiting.delete(figure);
    seen.unobserve(figure);
    page.plots.push(plot);
    plot.draw();
    sized.observe(plot.host);
  };
  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting) draw(target);
  }, { rootMargin: "400px" });
  const sized = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const plot = page.plots.find(({ host }) => host === target);
      if (plot && target.clientWidth > 0 && Math.max(280, target.clientWidth) !== plot.width) plot.draw();
    }
  });
  for (const script of document.querySelectorAll("script.plot")) {
    const figure = script.parentElement;
    const spec = JSON.parse(script.textContent);
    waiting.set(figure, spec);
    // So that nothing moves when it is drawn.
    figure.style.minHeight = `${80 + spec.panels.length * (spec.across === "time" ? 180 : 300)}px`;
    seen.observe(figure);
  }
  addEventListener("beforeprint", () => [...waiting.keys()].forEach(draw));
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without permission, or in an older browser.
    const area = element("textarea", { class: "aside" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

function button(words, done, act) {
  const made = element("button", { type: "button" }, words);
  made.addEventListener("click", async () => {
    await act();
    made.textContent = done;
    setTimeout(() => { made.textContent = words; }, 2000);
  });
  return made;
}

function offer() {
  const tools = document.getElementById("tools");
  const markdown = document.getElementById("markdown");
  if (markdown) tools.append(button("Copy as Markdown", "Copied", () => copy(JSON.parse(markdown.textContent))));
  const held = document.getElementById("carried");
  if (held && typeof DecompressionStream !== "undefined") {
    const { name } = held.dataset;
    const save = async () => {
      const address = URL.createObjectURL(new Blob([await carried("carried")], { type: "application/json" }));
      element("a", { href: address, download: name }).click();
      setTimeout(() => URL.revokeObjectURL(address), 10_000);
    };
    tools.append(button(`Download ${name}`, "Saved", save));
  }
  for (const command of document.querySelectorAll("pre.command")) {
    command.before(button("Copy command", "Copied", () => copy(command.textContent)));
  }
}

// Tables wider than the page say so, folded ones once they are open.
function markWide() {
  const sized = new ResizeObserver((entries) => {
    for (const { target } of entries) target.classList.toggle("scrolls", target.scrollWidth > target.clientWidth + 1);
  });
  for (const around of document.querySelectorAll(".scroll")) sized.observe(around);
}

document.documentElement.classList.add("scripted");
markWide();
offer();
addEventListener("hashchange", () => page.read());
// At once: whoever has scrolled by the time that the data is there is not to be taken back.
if (location.hash) page.read();
if (document.querySelector("script.plot")) {
  carried("carried").then((text) => {
    if (text !== null) enliven(JSON.parse(text));
  });
}
