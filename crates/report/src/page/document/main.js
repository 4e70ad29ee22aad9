// @ts-check
// Puts the parts of a page together. It begins at `start`, at the end.
import { initHelp, initPalette } from "./dialog.js";
import { $, closestTo } from "./dom.js";
import { initFind } from "./find.js";
import { initFolds } from "./folds.js";
import { KEYS, listenToKeys } from "./keys.js";
import { initLive, listenToServer } from "./live.js";
import { closeMenu, initMenu } from "./menu.js";
import { initMinimap } from "./minimap.js";
import { initPanel } from "./panel.js";
import { initPieces } from "./pieces.js";
import { initPosition } from "./position.js";
import { initRecords } from "./records.js";
import { RECORD, initSelection } from "./selection.js";
import { readSession } from "./session.js";
import { initStatus } from "./status.js";
import { initTheme } from "./theme.js";
import { initTurns } from "./turns.js";
/** @import { Folds } from "./folds.js" */
/** @import { Session } from "./session.js" */
/** @import { Status } from "./status.js" */

/** @typedef {ReturnType<typeof initPage>} Page */
/** @typedef {ReturnType<typeof initSession>} SessionView */

/**
 * @param {Session} session
 * @param {Status} status
 * @param {Folds} folds
 */
function initSession(session, status, folds) {
  const pieces = initPieces(session, {
    isInUse: (section) =>
      section.contains(document.activeElement) || section.contains(selection.current()),
    onFilled: (section) => {
      folds.restore(section);
      find.highlight();
    },
    onMoved: () => position.update(),
  });
  const position = initPosition(() => {
    turns.markCurrent();
    panel.updateTodos();
    minimap.showView();
  });
  const live = initLive(session, pieces, position, status);
  const turns = initTurns(session);
  const panel = initPanel(session, pieces);
  const selection = initSelection((record) => {
    if (record.id && !session.isFile) history.replaceState(null, "", "#" + record.id);
    panel.showRecord(record);
  });
  const records = initRecords(session, pieces, selection, status);
  const minimap = initMinimap(session, pieces);
  const find = initFind(session, pieces, records, minimap);
  const menu = initMenu(session, folds, status);

  function start() {
    pieces.filledSections().forEach(folds.applyToolDefaults);
    pieces.start();
    const { hash, search } = location;
    if (hash.length > 1) records.reveal(decodeURIComponent(hash.slice(1)));
    else position.restore();
    const wanted = new URLSearchParams(search).get("find");
    if (wanted) find.openWith(wanted);
    if (!session.isFile) panel.load().then(position.update);
    position.update();
    document.documentElement.dataset.ready = performance.now().toFixed(0);
  }

  return { session, status, selection, records, find, menu, live, start };
}

/** A page that is not about one session can select records, too. */
function initPlainSelection() {
  return initSelection((record) => {
    if (record.id) history.replaceState(null, "", "#" + record.id);
  });
}

function initPage() {
  const session = readSession();
  const status = initStatus();
  const theme = initTheme(status);
  const folds = initFolds(session, status);
  const view = session && initSession(session, status, folds);
  return {
    view,
    selection: view?.selection ?? initPlainSelection(),
    theme,
    help: initHelp(KEYS),
    palette: initPalette(session, (id) => view?.records.reveal(id)),

    closeAll() {
      closeMenu();
      view?.find.closeIfOpen();
    },
  };
}

/** @param {Page} page */
function listenToClicks({ view, selection, theme, help }) {
  addEventListener("click", (event) => {
    const number = closestTo(event, "a.at");
    if (number && view && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      view.menu.open(number);
      return;
    }
    if (!closestTo(event, "#record")) closeMenu();
    /** @type {HTMLAnchorElement | null} */
    const link = closestTo(event, "a[href^='#']");
    if (link && view) {
      event.preventDefault();
      view.records.reveal(decodeURIComponent(link.hash.slice(1)));
      history.replaceState(null, "", link.hash);
      return;
    }
    if (closestTo(event, "#theme")) theme.switchTheme();
    if (closestTo(event, "#help")) help.open();
    const record = closestTo(event, RECORD);
    const isNew = record !== selection.current() && $("#text")?.contains(record);
    // A click that ends a selection of text selects no record.
    if (record && isNew && !getSelection()?.toString()) selection.select(record, { scroll: false });
  });
}

function start() {
  const page = initPage();
  const { view } = page;
  listenToKeys(page);
  listenToClicks(page);
  // Without code these buttons would do nothing.
  for (const id of ["theme", "help"]) $("#" + id)?.removeAttribute("hidden");
  view?.start();
  if (!view?.session.isFile) listenToServer(view?.session ?? null, () => view?.live.refresh());
}

start();
