// @ts-check
// All keys in one table: what each does, and what the help says of it.
import { $, closestTo } from "./dom.js";
import { ANY_RECORD, ERROR, PROMPT, linkTo } from "./records.js";
/** @import { Page, SessionView } from "./main.js" */

/**
 * Keys with one line of help. `label` is what the help calls them, where that is not their names.
 * @typedef {{ help: string, label?: string } & (PageKeys | SessionKeys)} KeyRow
 */
/** @typedef {{ where: "page", keys: Record<string, (page: Page) => void> }} PageKeys */
/** @typedef {{ where: "session", keys: Record<string, SessionAction> }} SessionKeys */
/** @typedef {(view: SessionView, previousKey: string) => void} SessionAction */

/** @param {string} level */
function openLevel(level) {
  $(`[data-level="${level}"]`)?.click();
}

/** @type {SessionAction} */
const copyResumeCommand = ({ session, status }) => status.copy("claude --resume " + session.id);

/** @type {SessionAction} */
const scrollToBeginning = (_, previousKey) => {
  if (previousKey === "g") scrollTo({ top: 0 });
};

/** @type {readonly KeyRow[]} */
export const KEYS = [
  {
    where: "session",
    help: "next / previous record",
    keys: {
      j: ({ records }) => records.goTo(1, ANY_RECORD),
      k: ({ records }) => records.goTo(-1, ANY_RECORD),
    },
  },
  {
    where: "session",
    help: "next / previous prompt",
    keys: {
      J: ({ records }) => records.goTo(1, PROMPT),
      K: ({ records }) => records.goTo(-1, PROMPT),
    },
  },
  {
    where: "session",
    help: "next / previous error",
    keys: {
      e: ({ records }) => records.goTo(1, ERROR),
      E: ({ records }) => records.goTo(-1, ERROR),
    },
  },
  {
    where: "session",
    help: "open or close",
    // The browser itself opens what has the focus.
    label: "o, Enter",
    keys: { o: ({ records }) => records.toggle() },
  },
  {
    where: "session",
    help: "open or close all of the turn",
    keys: { O: ({ records }) => records.toggleTurn() },
  },
  {
    where: "session",
    help: "detail",
    label: "1 \u2026 5",
    keys: {
      1: () => openLevel("1"),
      2: () => openLevel("2"),
      3: () => openLevel("3"),
      4: () => openLevel("4"),
      5: () => openLevel("5"),
    },
  },
  { where: "session", help: "find in this session", keys: { "/": ({ find }) => find.open() } },
  {
    where: "session",
    help: "next / previous hit",
    keys: { n: ({ find }) => find.goToHit(1), N: ({ find }) => find.goToHit(-1) },
  },
  { where: "session", help: "filter turns", keys: { f: () => $("#filter")?.focus() } },
  { where: "page", help: "light or dark", keys: { t: ({ theme }) => theme.switchTheme() } },
  {
    where: "page",
    help: "size of the letters",
    keys: {
      "+": ({ theme }) => theme.changeTextSize(0.1),
      "-": ({ theme }) => theme.changeTextSize(-0.1),
    },
  },
  {
    where: "session",
    help: "copy text / link",
    keys: {
      y: ({ selection, status }) => {
        const record = selection.current();
        if (record) status.copy(record.innerText);
      },
      Y: ({ selection, status }) => {
        const record = selection.current();
        if (record) status.copy(linkTo(record.id));
      },
    },
  },
  { where: "session", help: "copy the resume command", keys: { r: copyResumeCommand } },
  {
    where: "session",
    help: "beginning / end",
    label: "g g / G",
    keys: {
      g: scrollToBeginning,
      G: () => scrollTo({ top: document.documentElement.scrollHeight }),
    },
  },
  { where: "session", help: "follow", keys: { ".": ({ live }) => live.toggleFollow() } },
  {
    where: "page",
    help: "go to\u2026",
    label: "Ctrl K",
    keys: { "Ctrl k": ({ palette }) => palette.open() },
  },
  { where: "page", help: "this help", keys: { "?": ({ help }) => help.open() } },
];

/**
 * What a key does on this page.
 * @param {string} key
 * @param {Page} page
 * @returns {((previousKey: string) => void) | undefined}
 */
function actionOf(key, page) {
  for (const row of KEYS) {
    if (!Object.hasOwn(row.keys, key)) continue;
    if (row.where === "page") return () => row.keys[key]?.(page);
    const { view } = page;
    return view ? (previousKey) => row.keys[key]?.(view, previousKey) : undefined;
  }
  return undefined;
}

/** @param {Page} page */
export function listenToKeys(page) {
  let previousKey = "";

  addEventListener("keydown", (event) => {
    const isControl = event.ctrlKey || event.metaKey;
    const key = isControl ? "Ctrl " + event.key : event.key;
    // Not in the table: it closes what is open, and the browser closes its dialogs by it.
    if (event.key === "Escape") {
      page.closeAll();
      return;
    }
    const isTyping = closestTo(event, "input, textarea, select, dialog") !== null;
    if (!isControl && (event.altKey || isTyping)) return;
    const act = actionOf(key, page);
    if (act) {
      event.preventDefault();
      act(previousKey);
    } else if (key === "/" && !page.view) {
      event.preventDefault();
      $("#search")?.focus();
    }
    if (!isControl) previousKey = event.key;
  });
}
