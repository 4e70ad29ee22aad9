// @ts-check
// The text of a session comes in pieces. Only those near the screen are filled; the others are
// empty sections of about the right height, so that the longest session stays light.
import { $, $$, make, setHtml } from "./dom.js";
/** @import { Session } from "./session.js" */

const MAX_FILLED = 14;
/** How far outside the screen pieces are filled. */
const FILL_MARGIN = "1200px 0px";
/** The height of a record, until some have been measured. */
const USUAL_RECORD_PX = 90;

/**
 * @typedef {object} PieceHooks
 * @property {(section: HTMLElement) => boolean} isInUse whether a piece has to stay filled
 * @property {(section: HTMLElement) => void} onFilled after a piece has got its content
 * @property {() => void} onMoved after pieces have come near or gone away
 */
/** @typedef {ReturnType<typeof initPieces>} Pieces */

/** @param {HTMLElement} section */
export const isFilled = (section) => section.hasAttribute("data-full");

/** @param {string} base64 of raw deflate */
async function inflate(base64) {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).text();
}

/**
 * @param {Session} session
 * @param {PieceHooks} hooks
 */
export function initPieces(session, hooks) {
  const sections = $$("section.piece", session.column);
  /** @type {WeakMap<HTMLElement, number>} */
  const heights = new WeakMap();
  /** @type {Map<HTMLElement, Promise<void>>} */
  const loading = new Map();
  /** @type {Map<number, Promise<string>>} */
  const inflated = new Map();
  /** @type {Set<Element>} */
  const near = new Set();
  let recordPx = USUAL_RECORD_PX;

  /**
   * The HTML of a piece: from the server, or from the file that the page is in.
   * @param {number} at
   */
  async function htmlOf(at) {
    if (!session.isFile) return (await session.fetchPart("/piece/" + at)).text();
    const html = inflated.get(at) ?? inflate($("#data-" + at)?.textContent ?? "");
    inflated.set(at, html);
    return html;
  }

  /** @param {HTMLElement} section */
  function measure(section) {
    const height = section.offsetHeight;
    const records = Number(section.dataset.records);
    if (height > 0 && records > 0) recordPx = recordPx * 0.8 + (height / records) * 0.2;
  }

  /** @param {HTMLElement} section */
  async function load(section) {
    try {
      setHtml(section, await htmlOf(Number(section.dataset.piece)));
      setFilled(section);
      hooks.onFilled(section);
      measure(section);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const textContent = "This part could not be read: " + why;
      section.replaceChildren(make("p", { className: "notes", textContent }));
    } finally {
      loading.delete(section);
    }
  }

  /** @param {HTMLElement} section */
  function setFilled(section) {
    section.setAttribute("data-full", "");
    section.style.minHeight = "";
  }

  /** @param {HTMLElement} section */
  function fill(section) {
    if (isFilled(section)) return Promise.resolve();
    const loaded = loading.get(section) ?? load(section);
    if (!loading.has(section)) loading.set(section, loaded);
    return loaded;
  }

  /** Keeps nothing of a piece but its height. @param {HTMLElement} section */
  function empty(section) {
    if (!isFilled(section) || hooks.isInUse(section)) return;
    heights.set(section, section.offsetHeight);
    section.style.minHeight = section.offsetHeight + "px";
    section.removeAttribute("data-full");
    section.replaceChildren();
  }

  /** Empties the pieces that are furthest away. */
  function emptyFarPieces() {
    const filled = filledSections();
    if (filled.length <= MAX_FILLED) return;
    const middle = sections.findIndex((section) => near.has(section));
    /** @param {HTMLElement} section */
    const distance = (section) => Math.abs(Number(section.dataset.piece) - middle);
    filled.sort((a, b) => distance(b) - distance(a));
    const tooMany = filled.slice(0, filled.length - MAX_FILLED);
    tooMany.filter((section) => !near.has(section)).forEach(empty);
  }

  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) {
        near.add(target);
        fill(/** @type {HTMLElement} */ (target));
      } else {
        near.delete(target);
      }
    }
    emptyFarPieces();
    hooks.onMoved();
  }, { rootMargin: FILL_MARGIN });

  /** @param {HTMLElement} section */
  function reserveHeight(section) {
    if (isFilled(section)) return;
    const height = heights.get(section) ?? Number(section.dataset.records) * recordPx;
    section.style.minHeight = height + "px";
  }

  const filledSections = () => sections.filter(isFilled);

  /**
   * The piece that an entry is in, or the last one that begins before it.
   * @param {number} entry
   */
  function sectionWith(entry) {
    const before = sections.filter((section) => Number(section.dataset.first) <= entry);
    return before.find((section) => entry <= Number(section.dataset.last)) ?? before.at(-1);
  }

  return {
    sections,
    filledSections,
    fill,
    setFilled,
    htmlOf,
    sectionWith,

    /** Frees the unpacked HTML of a piece. @param {number} at */
    forgetHtml(at) {
      inflated.delete(at);
    },

    /** A piece that is new at the end, already in the page. @param {HTMLElement} section */
    append(section) {
      sections.push(section);
      observer.observe(section);
    },

    start() {
      sections.forEach(reserveHeight);
      sections.forEach((section) => observer.observe(section));
    },
  };
}
