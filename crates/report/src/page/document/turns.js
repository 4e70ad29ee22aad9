// @ts-check
// The list of turns: which one is read, a filter, and on a narrow screen a sheet to open.
import { $, $$, makeButton } from "./dom.js";
import { entryOf } from "./selection.js";
/** @import { Session } from "./session.js" */

/** A turn nearer to the lower edge of the list is scrolled to its middle. */
const EDGE_PX = 40;

/** @param {Session} session */
export function initTurns({ main, column }) {
  /** Marks the turn of the last prompt above the middle of the screen. */
  function markCurrent() {
    const isAbove = (/** @type {HTMLElement} */ prompt) =>
      prompt.getBoundingClientRect().top < innerHeight / 2;
    const entry = entryOf($$("article.prompt", column).filter(isAbove).at(-1));
    const line = entry === undefined ? null : $(`.turns li[data-entry="${entry}"]`);
    const before = $(".turns li[aria-current]");
    if (!line || line === before) return;
    before?.removeAttribute("aria-current");
    line.setAttribute("aria-current", "true");
    const list = line.closest("nav");
    if (!list) return;
    const lowest = list.scrollTop + list.clientHeight - EDGE_PX;
    if (line.offsetTop < list.scrollTop || line.offsetTop > lowest) {
      list.scrollTop = line.offsetTop - list.clientHeight / 2;
    }
  }

  /** @type {HTMLInputElement | null} */
  const filter = $("#filter");
  filter?.addEventListener("input", () => {
    const wanted = filter.value.toLowerCase();
    for (const line of $$(".turns li")) {
      line.hidden = wanted !== "" && !line.textContent.toLowerCase().includes(wanted);
    }
  });

  const toggleSheet = () => { main.dataset.sheet = main.dataset.sheet ? "" : "open"; };
  main.dataset.sheet = "";
  document.body.append(makeButton("Turns", toggleSheet, { id: "sheet" }));
  $(".turns")?.addEventListener("click", () => { main.dataset.sheet = ""; });

  return { markCurrent };
}
