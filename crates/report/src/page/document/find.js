// @ts-check
// Find in this session, also in pieces that are empty and rows that are closed. A server searches
// for the page; a page in a file has all text in it and searches itself.
import { make, makeButton, parseHtml } from "./dom.js";
import { openAround } from "./records.js";
/** @import { Minimap } from "./minimap.js" */
/** @import { Pieces } from "./pieces.js" */
/** @import { Records } from "./records.js" */
/** @import { Session } from "./session.js" */

const MIN_QUERY_CHARS = 2;
const TYPING_PAUSE_MS = 120;
/** For so long a page in a file reads its text before it lets the browser draw. */
const READING_MS = 30;
/** In one element no more matches than this are highlighted. */
const MAX_RANGES = 200;

/**
 * The piece and the id of a record that has the text, and how often.
 * @typedef {[piece: number, id: string, count: number]} Hit
 */
/** @typedef {{ places: Hit[], count: number, is_cut: boolean }} FindAnswer */
/** @typedef {{ id: string, text: string }} RecordText */
/** @typedef {ReturnType<typeof initFind>} Find */

/**
 * The text of each record of a piece, in lower case. The text of a record ends where the next one
 * begins, also if that one is inside it.
 * @param {Node} piece
 * @returns {RecordText[]}
 */
export function textsOf(piece) {
  /** @type {RecordText[]} */
  const texts = [];
  const walker = document.createTreeWalker(piece, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const last = texts.at(-1);
    if (node instanceof Element) {
      if (node.id && node.matches("article, details, div")) texts.push({ id: node.id, text: "" });
    } else if (last) {
      last.text += node.nodeValue;
    }
  }
  return texts.map(({ id, text }) => ({ id, text: text.toLowerCase() }));
}

/**
 * Where a text occurs in another, without overlaps.
 * @param {string} text
 * @param {string} wanted
 */
export function positionsOf(text, wanted) {
  const positions = [];
  let at = wanted ? text.indexOf(wanted) : -1;
  for (; at >= 0; at = text.indexOf(wanted, at + wanted.length)) positions.push(at);
  return positions;
}

/**
 * The places in an element at which a text can be seen, whatever its case.
 * @param {Node} element
 * @param {string} query
 */
export function rangesOf(element, query) {
  const wanted = query.toLowerCase();
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  /** @type {Range[]} */
  const ranges = [];
  while (walker.nextNode() && ranges.length < MAX_RANGES) {
    const node = /** @type {Text} */ (walker.currentNode);
    for (const at of positionsOf(node.data.toLowerCase(), wanted)) {
      const range = new Range();
      // Some letters have another length in lower case.
      range.setStart(node, Math.min(at, node.data.length));
      range.setEnd(node, Math.min(at + wanted.length, node.data.length));
      ranges.push(range);
    }
  }
  return ranges;
}

/**
 * Searches the text that a page in a file has in it. It is read once, in several steps.
 * @param {Pieces} pieces
 * @param {(percent: number) => void} onProgress
 */
function initFileSearch(pieces, onProgress) {
  /** @type {Promise<(RecordText & { piece: number })[]> | undefined} */
  let texts;

  async function readAll() {
    const all = [];
    let drawnAt = performance.now();
    for (const piece of pieces.sections.keys()) {
      const html = parseHtml(await pieces.htmlOf(piece));
      for (const text of textsOf(html)) all.push({ piece, ...text });
      pieces.forgetHtml(piece);
      if (performance.now() - drawnAt < READING_MS) continue;
      onProgress(Math.round((100 * piece) / pieces.sections.length));
      await new Promise((resume) => setTimeout(resume));
      drawnAt = performance.now();
    }
    return all;
  }

  const prepare = () => (texts ??= readAll());

  /**
   * @param {string} query
   * @returns {Promise<FindAnswer>}
   */
  async function search(query) {
    const wanted = query.toLowerCase();
    /** @type {Hit[]} */
    const places = [];
    let count = 0;
    for (const { piece, id, text } of await prepare()) {
      const found = positionsOf(text, wanted).length;
      if (found > 0) places.push([piece, id, found]);
      count += found;
    }
    return { places, count, is_cut: false };
  }

  return { prepare, search };
}

/**
 * @param {Session} session
 * @param {Pieces} pieces
 * @param {Records} records
 * @param {Minimap} minimap
 */
export function initFind(session, pieces, records, minimap) {
  let query = "";
  /** @type {FindAnswer} */
  let answer = { places: [], count: 0, is_cut: false };
  /** The hit that the reader is at, or -1. */
  let at = -1;

  const field = make("input", { type: "search", id: "find", placeholder: "Find in this session" });
  field.setAttribute("aria-label", "Find in this session");
  const result = make("span", { className: "soft" });
  const bar = make("div", { className: "find", hidden: true }, field, result,
    makeButton("\u2191", () => goToHit(-1), { title: "Previous (N)" }),
    makeButton("\u2193", () => goToHit(1), { title: "Next (n)" }),
    makeButton("\u2715", close, { title: "Close (Escape)" }));
  bar.setAttribute("role", "search");

  const fileSearch = initFileSearch(pieces, (percent) => {
    if (query) result.textContent = `reading ${percent} %`;
  });

  function open() {
    if (!bar.isConnected) document.body.append(bar);
    bar.hidden = false;
    // The text is made ready while the reader types.
    if (session.isFile) fileSearch.prepare();
    else session.fetchPart("/find", { q: "" }).catch(() => {});
    field.focus();
    field.select();
  }

  function close() {
    bar.hidden = true;
    query = "";
    answer = { ...answer, places: [] };
    at = -1;
    CSS.highlights?.clear();
    minimap.showHits([]);
    session.column.focus();
  }

  function showResult() {
    const { places, count, is_cut: isCut } = answer;
    if (query.length < MIN_QUERY_CHARS) result.textContent = "";
    else if (places.length === 0) result.textContent = "nothing";
    else {
      const times = `${count}\u00d7${isCut ? ", at least" : ""}`;
      result.textContent = `${at + 1} of ${places.length} (${times})`;
    }
  }

  /** @param {string} wanted */
  async function search(wanted) {
    query = wanted;
    at = -1;
    if (wanted.length < MIN_QUERY_CHARS) {
      answer = { ...answer, places: [] };
      showResult();
      return;
    }
    const startedAt = performance.now();
    /** @type {FindAnswer} */
    const found = session.isFile
      ? await fileSearch.search(wanted)
      : await (await session.fetchPart("/find", { q: wanted })).json();
    // The reader may have typed on.
    if (query !== wanted) return;
    answer = found;
    document.documentElement.dataset.findMs = (performance.now() - startedAt).toFixed(1);
    highlight();
    minimap.showHits(answer.places);
    showResult();
  }

  /** Marks the text in all filled pieces. */
  function highlight() {
    if (!globalThis.Highlight || query.length < MIN_QUERY_CHARS) return;
    const ranges = pieces.filledSections().flatMap((section) => rangesOf(section, query));
    CSS.highlights.set("found", new Highlight(...ranges));
  }

  /** @param {Range} range */
  function showRange(range) {
    openAround(range.startContainer.parentElement);
    CSS.highlights?.set("here", new Highlight(range));
    const { top, bottom } = range.getBoundingClientRect();
    if (top < 80 || bottom > innerHeight - 40) scrollTo({ top: scrollY + top - innerHeight / 3 });
  }

  /** @param {1 | -1} step */
  async function goToHit(step) {
    const { places } = answer;
    if (places.length === 0) return;
    at = (at + step + places.length) % places.length;
    const [piece, id] = places[at] ?? [];
    const section = piece === undefined ? undefined : pieces.sections[piece];
    if (!section || id === undefined) return;
    await pieces.fill(section);
    const element = await records.reveal(id, { focus: false });
    const range = element && rangesOf(element, query)[0];
    if (range) showRange(range);
    showResult();
  }

  let timer = 0;
  field.oninput = () => {
    clearTimeout(timer);
    timer = setTimeout(() => search(field.value), TYPING_PAUSE_MS);
  };

  /** @param {1 | -1} step */
  async function submit(step) {
    clearTimeout(timer);
    if (field.value !== query) await search(field.value);
    await goToHit(step);
    field.blur();
  }

  field.onkeydown = (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      submit(event.shiftKey ? -1 : 1);
    }
    if (event.key === "Escape") close();
    event.stopPropagation();
  };

  return {
    open,
    highlight,
    goToHit,

    /** Opens with a text. @param {string} wanted */
    async openWith(wanted) {
      open();
      field.value = wanted;
      await search(wanted);
      highlight();
    },

    closeIfOpen() {
      if (!bar.hidden) close();
    },
  };
}
