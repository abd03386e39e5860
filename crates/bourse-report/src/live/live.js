"use strict";
(() => {
  const place = document.getElementById("now");
  const state = document.getElementById("state");
  let missed = 0;
  const over = () => place.querySelector("[data-ended]") !== null;
  const ask = async () => {
    try {
      const answer = await fetch("now", { cache: "no-store" });
      if (!answer.ok) throw new Error(String(answer.status));
      place.innerHTML = await answer.text();
      missed = 0;
      state.textContent = over() ? "The run has ended." : "";
    } catch {
      missed += 1;
      if (missed > 2) state.textContent = "Nobody answers any more: the command that serves this page has ended.";
    }
    if (!over() && missed < 30) setTimeout(ask, 1000);
  };
  if (!over()) setTimeout(ask, 1000);
})();
