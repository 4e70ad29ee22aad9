// @ts-check
// The menu of a record, opened at its number.
import { $, make, makeButton } from "./dom.js";
import { toolOf } from "./folds.js";
import { linkTo } from "./records.js";
import { entryOf } from "./selection.js";
/** @import { Folds } from "./folds.js" */
/** @import { Session } from "./session.js" */
/** @import { Status } from "./status.js" */

export function closeMenu() {
  $("#record")?.remove();
}

/**
 * @param {Session} session
 * @param {Folds} folds
 * @param {Status} status
 */
export function initMenu(session, folds, status) {
  /**
   * What only a server can tell: the entry as it was written, and its line in the file.
   * @param {HTMLElement} box
   * @param {HTMLElement} place
   * @param {HTMLElement} record
   */
  function addServed(box, place, record) {
    const entry = entryOf(record);
    if (entry === undefined || session.isFile) return;
    const { agent } = record.dataset;
    const query = agent ? { agent } : {};
    const href = String(session.address("/raw/" + entry, query));
    const link = { textContent: "Raw JSON", href, target: "_blank", rel: "noopener" };
    box.append(make("a", link));
    const position = place.textContent;
    session.fetchPart("/where/" + entry, query)
      .then((response) => response.json())
      .then(({ file, line }) => { place.textContent = `line ${line}, ${position}, ${file}`; })
      .catch(() => {});
  }

  /** @param {HTMLElement} anchor the number of the record */
  function open(anchor) {
    closeMenu();
    /** @type {HTMLElement} */
    const record = anchor.closest("article, .row, .band") ?? anchor;
    const place = make("p", { textContent: anchor.title });
    const box = make("div", { id: "record", className: "menu" }, place);
    /**
     * @param {string} text
     * @param {() => void} run
     */
    const add = (text, run) => box.append(makeButton(text, () => { run(); box.remove(); }));
    add("Copy link", () => status.copy(linkTo(record.id)));
    add("Copy text", () => status.copy(record.innerText));
    const tool = record.localName === "details" && toolOf(record);
    if (tool) {
      add(`${tool}: always open`, () => folds.setToolDefault(tool, true));
      add(`${tool}: always closed`, () => folds.setToolDefault(tool, false));
    }
    addServed(box, place, record);
    anchor.after(box);
    $("button", box)?.focus();
  }

  return { open };
}
