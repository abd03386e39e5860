(() => {
  const place = document.getElementById("now");
  const state = document.getElementById("state");
  // What a reader chose holds for the curves of each second.
  const page = {
    plots: [],
    state: { zoom: null, off: new Set(), flipped: new Set() },
    zoom(range) {
      this.state.zoom = range;
      for (const plot of this.plots) plot.draw();
    },
    toggle(which, key, plot) {
      if (!this.state[which].delete(key)) this.state[which].add(key);
      plot.draw();
    },
    cursor(at) {
      for (const plot of this.plots) plot.cursor(at);
    },
  };
  const draw = () => {
    page.plots = [...place.querySelectorAll("script.plot")].map((script) => {
      const plot = new Plot(script.parentElement, JSON.parse(script.textContent), null, page);
      plot.draw();
      return plot;
    });
  };
  let missed = 0;
  const over = () => place.querySelector("[data-ended]") !== null;
  const ask = async () => {
    try {
      const answer = await fetch("now", { cache: "no-store" });
      if (!answer.ok) throw new Error(String(answer.status));
      place.innerHTML = await answer.text();
      draw();
      missed = 0;
      state.textContent = over() ? "The run has ended." : "";
    } catch {
      missed += 1;
      if (missed > 2) state.textContent = "No answer: the command that serves this page has ended.";
    }
    if (!over() && missed < 30) setTimeout(ask, 1000);
  };
  draw();
  if (!over()) setTimeout(ask, 1000);
})();
