// @ts-check
// The strip next to the text: the part on the screen, and hits of a search.
import { $, $$, setAttributes } from "./dom.js";
/** @import { Hit } from "./find.js" */
/** @import { Session } from "./session.js" */
/** @import { Pieces } from "./pieces.js" */

const MAX_HITS = 300;

/** @typedef {ReturnType<typeof initMinimap>} Minimap */

/**
 * @param {Session} session
 * @param {Pieces} pieces
 */
export function initMinimap(session, pieces) {
  const { column } = session;
  /** @type {SVGSVGElement | null} */
  const map = $("#minimap");

  /**
   * @param {SVGSVGElement} within
   * @param {string} name its class
   */
  function addRect(within, name) {
    const rect = document.createElementNS(within.namespaceURI, "rect");
    rect.setAttribute("class", name);
    within.append(rect);
    return rect;
  }

  /** @param {Hit[]} hits */
  function showHits(hits) {
    if (!map) return;
    $$(".m-hit", map).forEach((rect) => rect.remove());
    const rows = map.viewBox.baseVal.height;
    const height = Math.max(0.6, rows / 150);
    for (const [piece] of hits.slice(0, MAX_HITS)) {
      const y = (piece / Math.max(1, pieces.sections.length)) * rows;
      setAttributes(addRect(map, "m-hit"), { x: 6, y, width: 6, height });
    }
  }

  /** Marks the part that is on the screen. */
  function showView() {
    if (!map) return;
    const text = column.getBoundingClientRect();
    const rows = map.viewBox.baseVal.height;
    const y = Math.max(0, -text.top / text.height) * rows;
    const height = Math.max(rows / 60, (innerHeight / text.height) * rows);
    const view = $(".m-view", map) ?? addRect(map, "m-view");
    setAttributes(view, { x: 0, width: 12, y, height });
  }

  map?.addEventListener("click", (event) => {
    const box = map.getBoundingClientRect();
    const part = (event.clientY - box.top) / box.height;
    scrollTo({ top: column.offsetTop + part * column.offsetHeight - innerHeight / 2 });
  });

  return { showHits, showView };
}
