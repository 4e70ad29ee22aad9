// @ts-check
// Which rows are open: what the reader opened in this tab, and which tools are always open or
// always closed. A subagent is fetched when it is opened for the first time.
import { $, $$, setHtml } from "./dom.js";
import { preferences, visit } from "./storage.js";
/** @import { Session } from "./session.js" */
/** @import { Status } from "./status.js" */

const MAX_REMEMBERED = 200;

/** @typedef {ReturnType<typeof initFolds>} Folds */

/**
 * The tool that a row is about.
 * @param {Element} row
 */
export const toolOf = (row) => $("summary > b", row)?.textContent ?? undefined;

/**
 * @param {Session | null} session
 * @param {Status} status
 */
export function initFolds(session, status) {
  /** @type {Map<string, boolean>} */
  const toolDefaults = new Map(Object.entries(JSON.parse(preferences.get("tools") ?? "{}")));
  /** @type {Set<string>} */
  const opened = new Set(JSON.parse(visit.get("opened") ?? "[]"));

  /** @param {HTMLElement} section */
  function applyToolDefaults(section) {
    /** @type {HTMLDetailsElement[]} */
    const rows = $$("details.row", section);
    for (const row of rows) {
      const isOpen = toolDefaults.get(toolOf(row) ?? "");
      if (isOpen !== undefined && !opened.has(row.id)) row.open = isOpen;
    }
  }

  /**
   * @param {string} tool
   * @param {boolean} isOpen
   */
  function setToolDefault(tool, isOpen) {
    toolDefaults.set(tool, isOpen);
    preferences.set("tools", JSON.stringify(Object.fromEntries(toolDefaults)));
    $$("section.piece").forEach(applyToolDefaults);
    status.announce(`${tool}: ${isOpen ? "always open" : "always closed"}`);
  }

  /** What a piece needs that has just been filled. @param {HTMLElement} section */
  function restore(section) {
    applyToolDefaults(section);
    for (const id of opened) {
      const row = document.getElementById(id);
      if (row instanceof HTMLDetailsElement) row.open = true;
    }
  }

  /** @param {HTMLDetailsElement} row */
  function remember(row) {
    if (row.open) opened.add(row.id);
    else opened.delete(row.id);
    visit.set("opened", JSON.stringify([...opened].slice(-MAX_REMEMBERED)));
  }

  /**
   * @param {Session} shown
   * @param {HTMLDetailsElement} subagent
   */
  async function fetchSubagent(shown, subagent) {
    const inside = $(".inside", subagent);
    if (!inside) return;
    subagent.dataset.done = "1";
    inside.textContent = "Reading\u2026";
    try {
      const path = "/inside/" + encodeURIComponent(subagent.dataset.agent ?? "");
      setHtml(inside, await (await shown.fetchPart(path, { agent: "" })).text());
    } catch {
      inside.textContent = "It could not be read";
      delete subagent.dataset.done;
    }
  }

  // The event does not bubble.
  addEventListener("toggle", ({ target }) => {
    if (!(target instanceof HTMLDetailsElement)) return;
    if (target.id) remember(target);
    const isWanted = target.open && target.matches(".subagent[data-agent]");
    if (isWanted && session && !session.isFile && !target.dataset.done) {
      fetchSubagent(session, target);
    }
  }, true);

  return { applyToolDefaults, setToolDefault, restore };
}
