// @ts-check
// The record that is selected.
import { $ } from "./dom.js";

/** What can be selected. */
export const RECORD = "article, .row, .band, details.sentence";

/** @typedef {ReturnType<typeof initSelection>} Selection */

/**
 * The number of a record's entry in its file.
 * @param {HTMLElement | undefined} record
 */
export function entryOf(record) {
  const entry = record?.dataset.entry;
  return entry === undefined ? undefined : Number(entry);
}

/**
 * The number of the entry that a link leads to: all that is known of one in an empty piece.
 * @param {string} id of its record
 */
export function entryOfLink(id) {
  const number = /e(\d+)$/.exec(id)?.[1];
  return number === undefined ? undefined : Number(number);
}

/** @param {(record: HTMLElement) => void} onSelected */
export function initSelection(onSelected) {
  /** @type {HTMLElement | null} */
  let current = null;

  /**
   * @param {HTMLElement} record
   * @param {{ scroll?: boolean }} [options]
   */
  function select(record, { scroll = true } = {}) {
    current?.classList.remove("current");
    current = record;
    record.classList.add("current");
    const target = (record.localName === "details" && $("summary", record)) || record;
    if (!target.hasAttribute("tabindex") && target.localName !== "summary") target.tabIndex = -1;
    target.focus({ preventScroll: true });
    if (scroll) record.scrollIntoView({ block: "nearest" });
    onSelected(record);
  }

  return { select, current: () => current };
}
