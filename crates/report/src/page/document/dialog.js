// @ts-check
// The two dialogs: help on keys, and a palette to go to a turn, a page or a session by its words.
import { $, $$, make, makeButton } from "./dom.js";
/** @import { KeyRow } from "./keys.js" */
/** @import { Session } from "./session.js" */

const MAX_CHOICES = 12;

/** @typedef {{ name: string, go: () => void }} Choice */

/**
 * @param {readonly KeyRow[]} rows
 */
export function initHelp(rows) {
  const list = make("dl");
  for (const { label, keys, help } of rows) {
    list.append(make("dt", { textContent: label ?? Object.keys(keys).join(" / ") }));
    list.append(make("dd", { textContent: help }));
  }
  const title = make("h2", { textContent: "Keys" });
  const dialog = make("dialog", { id: "keys" }, title, list);
  dialog.append(makeButton("Close", () => dialog.close()));

  function open() {
    if (!dialog.isConnected) document.body.append(dialog);
    dialog.showModal();
  }

  return { open };
}

/**
 * @param {Session | null} session
 * @param {(id: string) => void} reveal
 */
export function initPalette(session, reveal) {
  const field = make("input", { type: "search", placeholder: "Go to\u2026" });
  field.setAttribute("aria-label", "Go to");
  const list = make("ul", { className: "choices" });
  const dialog = make("dialog", { id: "palette" }, field, list);

  /** @returns {Choice[]} */
  function allChoices() {
    /** @type {HTMLAnchorElement[]} */
    const pages = $$(".top a, table.list td:first-child a");
    /** @type {HTMLAnchorElement[]} */
    const turns = $$(".turns a");
    const choices = pages.map(({ textContent, href }) =>
      ({ name: textContent, go: () => { location.href = href; } }));
    choices.push(...turns.map(({ textContent, hash }) =>
      ({ name: textContent, go: () => reveal(hash.slice(1)) })));
    if (session && !session.isFile) {
      const href = "/errors?session=" + encodeURIComponent(session.id);
      choices.push({ name: "Facts: errors of this session", go: () => { location.href = href; } });
    }
    return choices;
  }

  function showChoices() {
    const words = field.value.toLowerCase().split(/\s+/);
    const fits = ({ name = "" }) => words.every((word) => name.toLowerCase().includes(word));
    const choices = allChoices().filter(fits).slice(0, MAX_CHOICES);
    list.replaceChildren(...choices.map(({ name, go }) =>
      make("li", {}, makeButton(name, () => { dialog.close(); go(); }))));
  }

  field.oninput = showChoices;
  field.onkeydown = (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      $("button", list)?.click();
    }
    event.stopPropagation();
  };

  function open() {
    if (!dialog.isConnected) document.body.append(dialog);
    dialog.showModal();
    field.value = "";
    showChoices();
    field.focus();
  }

  return { open };
}
