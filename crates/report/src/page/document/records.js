// @ts-check
// Going from record to record, and opening them.
import { $, $$ } from "./dom.js";
import { RECORD, entryOfLink } from "./selection.js";
/** @import { Pieces } from "./pieces.js" */
/** @import { Selection } from "./selection.js" */
/** @import { Session } from "./session.js" */
/** @import { Status } from "./status.js" */

/** What is hidden behind the bar at the top. */
const TOP_BAR_PX = 60;

/** @typedef {ReturnType<typeof initRecords>} Records */
/** @typedef {{ label: string, matches: (record: HTMLElement) => boolean }} RecordKind */

/** @type {RecordKind} */
export const ANY_RECORD = { label: "record", matches: () => true };
/** @type {RecordKind} */
export const PROMPT = { label: "prompt", matches: (record) => record.matches("article.prompt") };
/** @type {RecordKind} */
export const ERROR = {
  label: "error",
  matches: (record) => record.matches("[data-failed], .band[data-kind=bad]"),
};

/**
 * The address of a record in this page.
 * @param {string} id
 */
export const linkTo = (id) => location.origin + location.pathname + location.search + "#" + id;

/**
 * @param {Session} session
 * @param {Pieces} pieces
 * @param {Selection} selection
 * @param {Status} status
 */
export function initRecords(session, pieces, selection, status) {
  const { column } = session;
  const visibleRecords = () =>
    $$(RECORD, column).filter((record) => record.offsetParent !== null);

  /**
   * Selects the next record of a kind among those in the page; false if there is none.
   * @param {1 | -1} step
   * @param {RecordKind} kind
   */
  function selectNext(step, kind) {
    const all = visibleRecords();
    const current = selection.current();
    const isBelowBar = (/** @type {HTMLElement} */ record) =>
      record.getBoundingClientRect().top >= TOP_BAR_PX;
    const from = current && all.includes(current)
      ? all.indexOf(current)
      : all.findIndex(isBelowBar) - (step > 0 ? 1 : 0);
    for (let at = from + step; at >= 0 && at < all.length; at += step) {
      const record = all[at];
      if (record && kind.matches(record)) {
        selection.select(record);
        return true;
      }
    }
    return false;
  }

  /**
   * Selects the next record of a kind, which may be in a piece that is empty.
   * @param {1 | -1} step
   * @param {RecordKind} kind
   */
  async function goTo(step, kind) {
    if (selectNext(step, kind)) return;
    const { sections } = pieces;
    const here = selection.current()?.closest("section.piece") ?? pieces.filledSections()[0];
    let at = sections.findIndex((section) => section === here);
    for (at += step; at >= 0 && at < sections.length; at += step) {
      const section = /** @type {HTMLElement} */ (sections[at]);
      await pieces.fill(section);
      const found = $$(RECORD, section).filter(kind.matches).at(step > 0 ? 0 : -1);
      if (found) {
        selection.select(found);
        return;
      }
    }
    status.announce("No " + (step > 0 ? "further " : "earlier ") + kind.label);
  }

  /**
   * The element with an id, after its piece has been filled.
   * @param {string} id
   */
  async function elementWith(id) {
    const entry = entryOfLink(id);
    const there = document.getElementById(id);
    if (there || entry === undefined) return there;
    const section = pieces.sectionWith(entry);
    if (!section) return null;
    await pieces.fill(section);
    const element = document.getElementById(id);
    if (!element) section.scrollIntoView();
    return element;
  }

  /**
   * Scrolls to a record and opens all that it is in.
   * @param {string} id
   * @param {{ focus?: boolean }} [options]
   */
  async function reveal(id, { focus = true } = {}) {
    const element = await elementWith(id);
    if (!element) return undefined;
    openAround(element);
    element.scrollIntoView({ block: "start" });
    // A piece above may just have been filled.
    requestAnimationFrame(() => element.scrollIntoView({ block: "start" }));
    /** @type {HTMLElement | null} */
    const record = element.closest(RECORD);
    if (focus) selection.select(record ?? element, { scroll: false });
    return element;
  }

  /** Opens or closes the selected record. */
  function toggle() {
    const current = selection.current();
    /** @type {HTMLElement | null} */
    const row = current?.localName === "details" ? current : current && $("details", current);
    if (row instanceof HTMLDetailsElement) row.open = !row.open;
  }

  /** Opens or closes what follows the selected record up to the next prompt. */
  function toggleTurn() {
    /** @type {HTMLDetailsElement[]} */
    const rows = [];
    let isInTurn = false;
    for (const record of visibleRecords()) {
      if (isInTurn && PROMPT.matches(record)) break;
      if (record === selection.current()) isInTurn = true;
      if (isInTurn && record instanceof HTMLDetailsElement) rows.push(record);
    }
    const isOpen = rows.some((row) => !row.open);
    for (const row of rows) row.open = isOpen;
  }

  return { goTo, reveal, toggle, toggleTurn };
}

/**
 * Opens all that an element is in, and the element itself.
 * @param {Element | null} element
 */
export function openAround(element) {
  for (let up = element; up; up = up.parentElement) {
    if (up instanceof HTMLDetailsElement && !up.open) up.open = true;
  }
}
