// Clicks and choices on what the server draws, as events for it; and the focus kept over a redraw.
"use strict";

const tell = (name, value) => Shiny.setInputValue(name, value, { priority: "event" });

document.addEventListener("change", ({ target }) => {
  if (target.dataset.part !== undefined) {
    tell("part", { column: target.dataset.column ?? target.value, part: target.dataset.part || target.value });
  } else if (target.dataset.setting !== undefined) {
    const value = target.type === "checkbox" ? (target.checked ? "yes" : "") : target.value;
    tell("setting", { name: target.dataset.setting, value });
  }
});

document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-do]");
  if (button) tell("press", { do: button.dataset.do, value: button.dataset.value ?? "" });
});

let typing;
document.addEventListener("input", ({ target }) => {
  if (target.dataset.search === undefined) return;
  clearTimeout(typing);
  typing = setTimeout(() => tell("search", target.value), 300);
});

let focused = null;
document.addEventListener("focusin", ({ target }) => {
  focused = target.dataset.key ?? null;
});
document.addEventListener("pointerdown", ({ target }) => {
  if (!target.closest("[data-key]")) focused = null;
});

document.addEventListener("DOMContentLoaded", () => {
  new MutationObserver(() => {
    if (focused === null || document.activeElement !== document.body) return;
    const again = document.querySelector(`[data-key="${CSS.escape(focused)}"]`);
    if (again === null) return;
    again.focus({ preventScroll: true });
    if (again.type === "search") again.setSelectionRange(again.value.length, again.value.length);
  }).observe(document.body, { childList: true, subtree: true });
});

// What appears for the first time is brought into view.
const filled = { columns: false, result: false };
document.addEventListener("DOMContentLoaded", () => {
  for (const name of Object.keys(filled)) {
    const place = document.getElementById(name);
    new MutationObserver(() => {
      const now = place.children.length > 0;
      if (now && !filled[name]) place.scrollIntoView({ block: "start" });
      filled[name] = now;
    }).observe(place, { childList: true });
  }
});

document.addEventListener("DOMContentLoaded", () => {
  $(document).on("shiny:disconnected", () => {
    document.getElementById("lost").hidden = false;
  });
});
