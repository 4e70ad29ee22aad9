// @ts-check
// The side panel: details of the session, of the selected record, and the todos at this point.
import { $, $$, make, makeButton, parseHtml, setHtml } from "./dom.js";
import { RECORD, entryOf } from "./selection.js";
import { preferences } from "./storage.js";
/** @import { Pieces } from "./pieces.js" */
/** @import { Session } from "./session.js" */

/**
 * @param {Session} session
 * @param {Pieces} pieces
 */
export function initPanel(session, pieces) {
  const { main, column } = session;
  const panel = $("#facts");
  const recordBox = make("section", { id: "chosen", hidden: true });
  const todoBox = make("section", { id: "todos", hidden: true });
  /** The entry whose list of todos is shown; 0 for none. */
  let listEntry = 0;

  /** @param {HTMLElement} record */
  function showRecord(record) {
    const link = $("a.at", record);
    if (!panel || !link?.title) return;
    const details = [$("time", record)?.textContent, ...link.title.split(", ")].filter(Boolean);
    const items = details.map((text) => make("li", { textContent: text ?? "" }));
    recordBox.replaceChildren(
      make("h2", { textContent: `This record ${link.textContent}` }),
      makeButton("\u2715", () => { recordBox.hidden = true; }, { title: "Close" }),
      make("ul", {}, ...items));
    recordBox.hidden = false;
    panel.prepend(recordBox);
  }

  /** The last entry with a list of todos above the middle of the screen. */
  function todoEntryHere() {
    const entries = (panel?.dataset.todos ?? "").split(" ").filter(Boolean).map(Number);
    if (entries.length === 0) return undefined;
    const isAbove = (/** @type {HTMLElement} */ record) =>
      record.getBoundingClientRect().top < innerHeight / 2;
    const record = $$(RECORD, column).filter(isAbove).at(-1);
    // Entries of a subagent are numbered anew.
    const here = record?.dataset.agent === undefined ? (entryOf(record) ?? 0) : 0;
    return entries.filter((entry) => entry <= here).at(-1) ?? 0;
  }

  /** The list of todos of an entry, which may be in an empty piece. @param {number} entry */
  async function todoList(entry) {
    const selector = `[id="e${entry}"] ul.todos`;
    const shown = $$(selector, column).at(-1);
    const section = entry > 0 && !shown ? pieces.sectionWith(entry) : undefined;
    if (!section) return shown;
    const html = await pieces.htmlOf(Number(section.dataset.piece)).catch(() => "");
    return $$(selector, parseHtml(html)).at(-1);
  }

  async function updateTodos() {
    const entry = todoEntryHere();
    if (entry === undefined || (entry === listEntry && todoBox.isConnected)) return;
    listEntry = entry;
    const list = await todoList(entry);
    // The reader may have moved on.
    if (entry !== listEntry) return;
    todoBox.hidden = !list;
    if (list) {
      const title = make("h2", { textContent: "Todos at this point" });
      todoBox.replaceChildren(title, list.cloneNode(true));
    }
    panel?.prepend(todoBox);
  }

  function togglePanel() {
    main.dataset.facts = main.dataset.facts ? "" : "closed";
    preferences.set("facts", main.dataset.facts);
  }

  main.dataset.facts = preferences.get("facts") ?? "";
  const title = "Show or hide the facts";
  const button = makeButton("Facts", togglePanel, { id: "close", title });
  if (panel) $("header.head", column)?.prepend(button);

  return {
    showRecord,
    updateTodos,

    /** Fetches what takes the server longer to count. */
    async load() {
      const response = await fetch(session.address("/facts"));
      const html = response.ok ? await response.text() : "";
      if (html && panel) setHtml(panel, html);
    },
  };
}
