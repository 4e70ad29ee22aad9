// @ts-check
// A page of a server stays up to date: what is new appears at the end, and the reader is not moved
// unless the page follows the session.
import { $, $$, make, makeButton, setHtml } from "./dom.js";
import { RECORD, entryOf } from "./selection.js";
/** @import { Pieces } from "./pieces.js" */
/** @import { Position } from "./position.js" */
/** @import { Session } from "./session.js" */
/** @import { Status } from "./status.js" */

/** So near to the end the reader is at the end. */
const END_PX = 120;

/**
 * What has changed since the page was made.
 * @typedef {object} News
 * @property {string} before names what stands before the sections
 * @property {string} sections the HTML of the sections that were asked for
 * @property {string | null} turns the HTML of the turn list, if it has changed
 * @property {string} state
 * @property {number} entries
 */
/**
 * @typedef {object} LiveMessage
 * @property {number | null} sync how much of the store is up to date, from 0 to 1; null if all is
 * @property {string | null} problem
 * @property {number | null} size of the session in bytes
 * @property {number} shelf how often the list of sessions has changed
 */

const scrollToEnd = () => scrollTo({ top: document.documentElement.scrollHeight });
const isAtEnd = () => scrollY + innerHeight > document.documentElement.scrollHeight - END_PX;

/**
 * Gives a piece the content of a newer version of it. Nodes that have not changed stay, and rows
 * stay open or closed.
 * @param {HTMLElement} section
 * @param {HTMLElement} newer
 */
export function mergePiece(section, newer) {
  /** @type {HTMLDetailsElement[]} */
  const rows = $$("details[id]", section);
  for (const row of rows) {
    const other = $("#" + CSS.escape(row.id), newer);
    if (other instanceof HTMLDetailsElement) other.open = row.open;
  }
  const [nodes, newerNodes] = [[...section.childNodes], [...newer.childNodes]];
  const changed = nodes.findIndex((node, at) => !node.isEqualNode(newerNodes[at] ?? null));
  const same = changed < 0 ? nodes.length : changed;
  nodes.slice(same).forEach((node) => node.remove());
  section.append(...newerNodes.slice(same));
}

/**
 * @param {Session} session
 * @param {Pieces} pieces
 * @param {Position} position
 * @param {Status} status
 */
export function initLive(session, pieces, position, status) {
  const { main, column } = session;
  const { sections } = pieces;
  let isFollowing = false;
  /** Records that have come and were not seen yet. */
  let unseen = 0;
  let isRefreshing = false;
  let isRefreshWanted = false;

  const pill = makeButton("", () => follow(true), { className: "pill", hidden: true });
  document.body.append(pill);

  function clearUnseen() {
    unseen = 0;
    pill.hidden = true;
  }

  /** @param {boolean} isOn */
  function follow(isOn) {
    isFollowing = isOn;
    $("#follow")?.setAttribute("aria-pressed", String(isOn));
    if (isOn) {
      scrollToEnd();
      clearUnseen();
    }
    status.announce(isOn ? "Following" : "Not following");
  }
  const toggleFollow = () => follow(!isFollowing);

  /**
   * Puts new sections into the page, of which the first is a newer version of the last one there.
   * @param {HTMLElement[]} newSections
   * @returns {number} how many records are new
   */
  function addSections(newSections) {
    const known = Number(sections.at(-1)?.dataset.last ?? -1);
    const last = sections.at(-1);
    const [newer, ...more] = newSections;
    const changed = [];
    if (last && newer) {
      Object.assign(last.dataset, { last: newer.dataset.last, records: newer.dataset.records });
      mergePiece(last, newer);
      pieces.setFilled(last);
      changed.push(last);
    }
    for (const section of last ? more : newSections) {
      const before = sections.at(-1) ?? $(".levels:last-of-type", column) ?? $("header", column);
      before?.after(section);
      pieces.append(section);
      changed.push(section);
    }
    const isNew = (/** @type {HTMLElement} */ record) => (entryOf(record) ?? -1) > known;
    return changed.flatMap((section) => $$(RECORD, section)).filter(isNew).length;
  }

  /** @param {number} from the first section that is asked for */
  async function fetchNews(from) {
    const turns = $$(".turns li[data-entry]").length;
    /** @type {News} */
    const news = await (await session.fetchPart("/news", { from, turns })).json();
    return news;
  }

  /** @param {News} news */
  function showState(news) {
    const turns = $(".turns");
    if (news.turns !== null && turns) setHtml(turns, news.turns);
    main.dataset.state = news.state;
    const state = $("#state");
    if (state) state.textContent = news.state;
    document.documentElement.dataset.entries = String(news.entries);
  }

  async function showNews() {
    const news = await fetchNews(Math.max(0, sections.length - 1));
    if (news.before !== main.dataset.before) {
      location.reload();
      return;
    }
    const staysAtEnd = isFollowing || (isAtEnd() && scrollY > 0);
    const known = sections.length;
    const parsed = make("div");
    setHtml(parsed, news.sections);
    const added = addSections($$("section.piece", parsed));
    if (sections.length > Math.max(1, known)) {
      main.dataset.before = (await fetchNews(sections.length - 1)).before;
    }
    showState(news);
    if (staysAtEnd) {
      scrollToEnd();
    } else if (added > 0) {
      unseen += added;
      pill.textContent = `${unseen} new`;
      pill.hidden = false;
    }
    position.update();
  }

  async function refresh() {
    if (isRefreshing) {
      isRefreshWanted = true;
      return;
    }
    isRefreshing = true;
    try {
      await showNews();
    } catch {
      status.announce("The page could not be brought up to date");
    } finally {
      isRefreshing = false;
    }
    if (isRefreshWanted) {
      isRefreshWanted = false;
      refresh();
    }
  }

  addEventListener("scroll", () => {
    position.update();
    if (isAtEnd()) clearUnseen();
    else isFollowing = false;
  }, { passive: true });
  if (!session.isFile) {
    const properties = { id: "follow", title: "Stay at the end (.)" };
    $("#state")?.after(makeButton("Follow", toggleFollow, properties));
  }

  return { refresh, toggleFollow };
}

/**
 * Listens to what the server says of the store and of the session.
 * @param {Session | null} session
 * @param {() => void} onGrown when the session has been written to
 */
export function listenToServer(session, onGrown) {
  const sync = $("#sync");
  if (!sync) return;
  /** @type {number | null | undefined} */
  let size;
  const url = new URL("/live", location.origin);
  if (session) {
    url.searchParams.set("session", session.id);
    if (session.main.dataset.agent) url.searchParams.set("agent", session.main.dataset.agent);
  }
  const stream = new EventSource(url);
  stream.onmessage = ({ data }) => {
    /** @type {LiveMessage} */
    const message = JSON.parse(data);
    const percent = Math.round((message.sync ?? 0) * 100);
    const progress = message.sync === null ? "" : `Keeping what is new: ${percent} %`;
    sync.hidden = message.sync === null && !message.problem;
    sync.textContent = message.problem ?? progress;
    sync.style.setProperty("--part", `${(message.sync ?? 0) * 100}%`);
    if (session && size !== undefined && message.size !== size) onGrown();
    // A page that was opened before the files were read shows nothing yet.
    if (message.shelf > 0 && $("[data-reload]")) location.reload();
    size = message.size;
  };
  stream.onerror = () => {
    sync.hidden = false;
    sync.textContent = "The server does not answer any more";
  };
  stream.onopen = () => { sync.hidden = true; };
}
