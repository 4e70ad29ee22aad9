// The code of all pages. What comes from a transcript enters a page only as text, or as HTML that
// the program has written and escaped, through `markup`.
const $ = (selector, from = document) => from.querySelector(selector);
const $$ = (selector, from = document) => [...from.querySelectorAll(selector)];
const policy = globalThis.trustedTypes?.createPolicy("recount", { createHTML: (html) => html });

// The only place where HTML enters: it was escaped by the program that wrote it.
function markup(element, html) {
  element.innerHTML = policy ? policy.createHTML(html) : html;
}

function make(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

// What is remembered between visits; in a file of its own there may be no place for it.
const memory = {
  get(key) { try { return localStorage.getItem("recount-" + key); } catch { return null; } },
  set(key, value) { try { localStorage.setItem("recount-" + key, value); } catch { /* not kept */ } },
};

// ---- light and dark, size of the letters ----
const themes = ["", "light", "dark"];
function theme(name) {
  if (name) document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
  memory.set("theme", name);
}
theme(memory.get("theme") ?? "");
function nextTheme() {
  const now = document.documentElement.dataset.theme ?? "";
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  theme(now === "" ? (isDark ? "light" : "dark") : themes[(themes.indexOf(now) + 1) % 3]);
  say("Theme: " + (document.documentElement.dataset.theme ?? "as the system has it"));
}
let scale = Number(memory.get("scale")) || 1;
function resize(step) {
  scale = Math.min(1.4, Math.max(0.9, Math.round((scale + step) * 10) / 10));
  document.documentElement.style.setProperty("--scale", scale);
  memory.set("scale", scale);
}
resize(0);

// ---- what is said to whoever can't see it ----
const status = make("div", { className: "said" });
status.setAttribute("aria-live", "polite");
let saidAt = 0;
function say(text) {
  status.textContent = text;
  status.dataset.on = "";
  clearTimeout(saidAt);
  saidAt = setTimeout(() => delete status.dataset.on, 2000);
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    say("Copied");
  } catch {
    say("The browser did not let it be copied");
  }
}

// ---- a session ----
const main = $("main.session");
const column = $("#text");
const isFile = column?.dataset.source === "file";
const FULL_MOST = 14;

const address = (path, query = {}) => {
  const url = new URL(location.origin + location.pathname.replace(/\/a\/[^/]*$/, "") + path);
  const look = { d: main.dataset.d, branch: main.dataset.branch, agent: main.dataset.agent, ...query };
  for (const [key, value] of Object.entries(look)) if (value !== "" && value !== undefined) url.searchParams.set(key, value);
  return url;
};
async function ask(path, query) {
  const answer = await fetch(address(path, query));
  if (!answer.ok) throw new Error(String(answer.status));
  return answer;
}

let sections = main ? $$("section.piece", column) : [];
const heights = new WeakMap();
const loading = new Map();
const inflated = new Map();
let perRecord = 90;

// The HTML of a piece: from the server, or from the file that the page is in.
async function source(at) {
  if (!isFile) return (await ask("/piece/" + at)).text();
  if (!inflated.has(at)) inflated.set(at, inflate($("#data-" + at).textContent));
  return inflated.get(at);
}
async function inflate(base64) {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).text();
}

function reserve(section) {
  if (section.hasAttribute("data-full")) return;
  const height = heights.get(section) ?? Number(section.dataset.records) * perRecord;
  section.style.minHeight = height + "px";
}

function fill(section) {
  if (section.hasAttribute("data-full")) return Promise.resolve(section);
  const at = Number(section.dataset.piece);
  if (!loading.has(section)) {
    loading.set(section, source(at).then((html) => {
      markup(section, html);
      section.setAttribute("data-full", "");
      section.style.minHeight = "";
      loading.delete(section);
      filled(section);
      return section;
    }).catch((error) => {
      loading.delete(section);
      section.replaceChildren(make("p", { className: "notes", textContent: "This part could not be read: " + error.message }));
      return section;
    }));
  }
  return loading.get(section);
}

// Which tools are always open, or never: what the reader chose.
const wished = JSON.parse(memory.get("tools") ?? "{}");
function wish(tool, isOpen) {
  wished[tool] = isOpen;
  memory.set("tools", JSON.stringify(wished));
  sections.forEach(grant);
  say(`${tool}: ${isOpen ? "always open" : "always closed"}`);
}
function grant(section) {
  for (const row of $$("details.row", section)) {
    const isOpen = wished[$("summary > b", row)?.textContent];
    if (isOpen !== undefined && !opened.has(row.id)) row.open = isOpen;
  }
}

// What a piece needs when it is in the page.
function filled(section) {
  grant(section);
  const height = section.offsetHeight;
  const records = Number(section.dataset.records);
  if (height > 0 && records > 0) perRecord = perRecord * 0.8 + (height / records) * 0.2;
  for (const id of opened) { const row = document.getElementById(id); if (row?.localName === "details") row.open = true; }
  if (finding.query) mark(section);
}

// Far from what is seen nothing is kept but its height.
function empty(section) {
  if (!section.hasAttribute("data-full") || section.contains(document.activeElement) || section.contains(current)) return;
  heights.set(section, section.offsetHeight);
  section.style.minHeight = section.offsetHeight + "px";
  section.removeAttribute("data-full");
  section.replaceChildren();
}

const near = new Set();
const watcher = main && new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (isIntersecting) { near.add(target); fill(target); } else near.delete(target);
  }
  const full = sections.filter((section) => section.hasAttribute("data-full"));
  if (full.length > FULL_MOST) {
    const middle = sections.findIndex((section) => near.has(section));
    full.sort((a, b) => Math.abs(b.dataset.piece - middle) - Math.abs(a.dataset.piece - middle));
    full.slice(0, full.length - FULL_MOST).filter((section) => !near.has(section)).forEach(empty);
  }
  seen();
}, { rootMargin: "1200px 0px" });

// The piece that an entry is in.
function sectionOf(id) {
  const number = Number(/e(\d+)$/.exec(id)?.[1] ?? NaN);
  if (Number.isNaN(number)) return undefined;
  let found;
  for (const section of sections) if (Number(section.dataset.first) <= number) found = section;
  return sections.find((s) => Number(s.dataset.first) <= number && number <= Number(s.dataset.last)) ?? found;
}

// Shows an entry: what it is in is filled and unfolded.
async function reveal(id, { focus = true } = {}) {
  let element = document.getElementById(id);
  if (!element) {
    const section = sectionOf(id);
    if (!section) return undefined;
    await fill(section);
    element = document.getElementById(id);
    if (!element) { section.scrollIntoView(); return undefined; }
  }
  for (let up = element; up; up = up.parentElement) if (up.localName === "details" && !up.open) up.open = true;
  element.scrollIntoView({ block: "start" });
  // What is above may just have been filled.
  requestAnimationFrame(() => element.scrollIntoView({ block: "start" }));
  if (focus) select(element.closest(RECORD) ?? element, false);
  return element;
}

// ---- records and keys ----
const RECORD = "article, .row, .band, details.sentence";
let current = null;
const opened = new Set(JSON.parse(sessionStorage_("opened") ?? "[]"));
function sessionStorage_(key, value) {
  try {
    const name = "recount-" + key + location.pathname;
    if (value === undefined) return sessionStorage.getItem(name);
    sessionStorage.setItem(name, value);
  } catch { return null; }
}
const records = () => $$(RECORD, column).filter((element) => element.offsetParent !== null);

function select(element, scroll = true) {
  current?.classList.remove("current");
  current = element;
  if (!element) return;
  element.classList.add("current");
  const target = element.localName === "details" ? $("summary", element) : element;
  if (!target.hasAttribute("tabindex") && target.localName !== "summary") target.tabIndex = -1;
  target.focus({ preventScroll: true });
  if (scroll) element.scrollIntoView({ block: "nearest" });
  if (element.id && !isFile) history.replaceState(null, "", "#" + element.id);
  described(element);
}

// The facts of the record that is selected, above those of the session.
const chosen = make("section", { id: "chosen", hidden: true });
function described(element) {
  const facts = $("#facts");
  const at = $("a.at", element);
  if (!facts || !at?.title) return;
  const words = [$("time", element)?.textContent, ...at.title.split(", ")].filter(Boolean);
  const close = make("button", { type: "button", textContent: "\u2715", title: "Close", onclick: () => { chosen.hidden = true; } });
  chosen.replaceChildren(make("h2", { textContent: `This record ${at.textContent}` }), close, make("ul", {}, ...words.map((word) => make("li", { textContent: word }))));
  chosen.hidden = false;
  facts.prepend(chosen);
}

function step(by, is = () => true) {
  const all = records();
  const at = current && all.includes(current) ? all.indexOf(current) : all.findIndex((e) => e.getBoundingClientRect().top >= 60) - (by > 0 ? 1 : 0);
  for (let next = at + by; next >= 0 && next < all.length; next += by) {
    if (is(all[next])) { select(all[next]); return true; }
  }
  return false;
}

// The next of a kind may be in a piece that is not in the page.
async function far(by, is, label) {
  if (step(by, is)) return;
  const shown = sections.filter((s) => s.hasAttribute("data-full"));
  let at = current ? sections.indexOf(current.closest("section.piece")) : sections.indexOf(shown[0]);
  for (at += by; at >= 0 && at < sections.length; at += by) {
    await fill(sections[at]);
    const all = $$(RECORD, sections[at]).filter(is);
    if (all.length > 0) { select(by > 0 ? all[0] : all.at(-1)); return; }
  }
  say("No " + (by > 0 ? "further " : "earlier ") + label);
}
const isPrompt = (element) => element.matches("article.prompt");
const isError = (element) => element.matches("[data-failed], .band[data-kind=bad]");

function toggle(element) {
  const details = element?.localName === "details" ? element : element && $("details", element);
  if (details) details.open = !details.open;
}
function toggleTurn() {
  const all = $$("details.row, details.sentence", column);
  const turn = [];
  let isIn = false;
  for (const element of records()) {
    if (isPrompt(element)) { if (isIn) break; }
    if (element === current) isIn = true;
    if (isIn && all.includes(element)) turn.push(element);
  }
  const isOpen = turn.some((element) => !element.open);
  turn.forEach((element) => { element.open = isOpen; });
}

const linkTo = (id) => location.origin + location.pathname + location.search + "#" + id;

// What can be done with a record, where its number stands.
function menu(anchor) {
  $("#record")?.remove();
  const record = anchor.closest("article, .row, .band") ?? anchor;
  const id = record.id;
  const number = /e(\d+)$/.exec(id)?.[1];
  const agent = id.includes("-e") ? id.slice(0, id.lastIndexOf("-e")) : undefined;
  const button = (text, act) => make("button", { type: "button", textContent: text, onclick: () => { act(); box.remove(); } });
  const where = make("p", { textContent: anchor.title });
  const box = make("div", { id: "record", className: "menu" },
    where,
    button("Copy link", () => copy(linkTo(id))),
    button("Copy text", () => copy(record.innerText)));
  const tool = record.localName === "details" && $("summary > b", record)?.textContent;
  if (tool) box.append(button(`${tool}: always open`, () => wish(tool, true)), button(`${tool}: always closed`, () => wish(tool, false)));
  if (number && !isFile) box.append(make("a", { textContent: "Raw JSON", href: address("/raw/" + number, agent ? { agent } : {}), target: "_blank", rel: "noopener" }));
  if (number && !isFile) ask("/where/" + number, agent ? { agent } : {}).then((answer) => answer.json())
    .then(({ file, line }) => { where.textContent = `line ${line}, ${anchor.title}, ${file}`; }).catch(() => {});
  anchor.after(box);
  box.querySelector("button").focus();
}

// ---- find in this session ----
const finding = { query: "", places: [], at: -1, count: 0 };
let bar;
function openFind() {
  if (!bar) {
    const field = make("input", { type: "search", id: "find", placeholder: "Find in this session" });
    field.setAttribute("aria-label", "Find in this session");
    const count = make("span", { className: "soft" });
    bar = make("div", { className: "find" }, field, count,
      make("button", { type: "button", textContent: "\u2191", title: "Previous (N)", onclick: () => hop(-1) }),
      make("button", { type: "button", textContent: "\u2193", title: "Next (n)", onclick: () => hop(1) }),
      make("button", { type: "button", textContent: "\u2715", title: "Close (Escape)", onclick: closeFind }));
    bar.setAttribute("role", "search");
    let wait;
    field.oninput = () => { clearTimeout(wait); wait = setTimeout(() => find(field.value), 120); };
    field.onkeydown = (event) => {
      if (event.key === "Enter") { event.preventDefault(); clearTimeout(wait); (field.value === finding.query ? Promise.resolve() : find(field.value)).then(() => hop(event.shiftKey ? -1 : 1)).then(() => field.blur()); }
      if (event.key === "Escape") closeFind();
      event.stopPropagation();
    };
    document.body.append(bar);
  }
  bar.hidden = false;
  // What is looked through is made ready while somebody types.
  if (isFile) read(); else ask("/find", { q: "" }).catch(() => {});
  $("input", bar).focus();
  $("input", bar).select();
}
function closeFind() {
  if (bar) bar.hidden = true;
  Object.assign(finding, { query: "", places: [], at: -1 });
  CSS.highlights?.clear();
  hitsOnMap([]);
  column.focus?.();
}
async function find(query) {
  finding.query = query;
  finding.at = -1;
  if (query.length < 2) { finding.places = []; told(); return; }
  const begun = performance.now();
  const found = isFile ? await findHere(query) : await (await ask("/find", { q: query })).json();
  if (finding.query !== query) return;
  Object.assign(finding, { places: found.places, count: found.count, isCut: found.is_cut, took: performance.now() - begun });
  document.documentElement.dataset.findMs = finding.took.toFixed(1);
  sections.filter((s) => s.hasAttribute("data-full")).forEach(mark);
  hitsOnMap(finding.places);
  told();
}
function told() {
  const { places, at, count, query, isCut } = finding;
  $("span", bar).textContent = query.length < 2 ? "" : places.length === 0 ? "nothing" : `${at + 1} of ${places.length} (${count}\u00d7${isCut ? ", at least" : ""})`;
}
// In a file everything is here: all pieces as text, made once, some at a time. The program writes
// records one after the other, each from its id on; so nothing has to be built to read them.
const MEANS = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", "#13": "\r" };
function words(at, html) {
  const text = html.replace(/<[^>]*>/g, (tag) => {
    const id = /^<(?:article|details|div)\b.* id="([^"]*)"/.exec(tag)?.[1];
    return id === undefined ? "" : `\u0001${id}\u0002`;
  });
  return text.split("\u0001").slice(1).map((part) => {
    const end = part.indexOf("\u0002");
    return [at, part.slice(0, end), part.slice(end + 1).replace(/&(\w+|#\d+);/g, (all, name) => MEANS[name] ?? all).toLowerCase()];
  });
}
let texts;
function read() {
  texts ??= (async () => {
    const all = [];
    let rested = performance.now();
    for (const [at] of sections.entries()) {
      all.push(...words(at, await source(at)));
      inflated.delete(at);
      if (performance.now() - rested < 30) continue;
      if (finding.query) $("span", bar).textContent = `reading ${Math.round((100 * at) / sections.length)} %`;
      await new Promise((go) => setTimeout(go));
      rested = performance.now();
    }
    return all;
  })();
  return texts;
}
async function findHere(query) {
  const all = await read();
  const wanted = query.toLowerCase();
  const places = [];
  let count = 0;
  for (const [at, id, text] of all) {
    let found = 0;
    for (let from = text.indexOf(wanted); from >= 0; from = text.indexOf(wanted, from + wanted.length)) found++;
    if (found > 0) { places.push([at, id, found]); count += found; }
  }
  return { places, count, is_cut: false };
}
async function hop(by) {
  const { places } = finding;
  if (places.length === 0) return;
  finding.at = (finding.at + by + places.length) % places.length;
  const [piece, id] = places[finding.at];
  await fill(sections[piece]);
  const element = await reveal(id, { focus: false });
  const range = element && ranges(element, finding.query)[0];
  if (range) {
    for (let up = range.startContainer.parentElement; up && up !== column; up = up.parentElement) if (up.localName === "details") up.open = true;
    CSS.highlights?.set("here", new Highlight(range));
    const box = range.getBoundingClientRect();
    if (box.top < 80 || box.bottom > innerHeight - 40) scrollTo({ top: scrollY + box.top - innerHeight / 3 });
  }
  told();
}
function ranges(element, query) {
  const wanted = query.toLowerCase();
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const all = [];
  while (walker.nextNode() && all.length < 200) {
    const text = walker.currentNode.data.toLowerCase();
    for (let from = text.indexOf(wanted); from >= 0; from = text.indexOf(wanted, from + wanted.length)) {
      const range = new Range();
      range.setStart(walker.currentNode, from);
      range.setEnd(walker.currentNode, Math.min(from + wanted.length, walker.currentNode.data.length));
      all.push(range);
    }
  }
  return all;
}
function mark() {
  if (!globalThis.Highlight || finding.query.length < 2) return;
  const all = sections.filter((s) => s.hasAttribute("data-full")).flatMap((s) => ranges(s, finding.query));
  CSS.highlights.set("found", new Highlight(...all));
}

// ---- margins ----
const map = $("#minimap");
function hitsOnMap(places) {
  if (!map) return;
  $$(".m-hit", map).forEach((hit) => hit.remove());
  const rows = map.viewBox.baseVal.height;
  for (const [piece] of places.slice(0, 300)) {
    const hit = document.createElementNS(map.namespaceURI, "rect");
    const y = (piece / Math.max(1, sections.length)) * rows;
    for (const [name, value] of Object.entries({ class: "m-hit", x: 6, y, width: 6, height: Math.max(0.6, rows / 150) })) hit.setAttribute(name, value);
    map.append(hit);
  }
}
// Where the reader is: in the turn list, and on the map.
let asked = false;
function seen() {
  if (asked || !main) return;
  asked = true;
  requestAnimationFrame(() => {
    asked = false;
    const top = $$("article.prompt", column).filter((prompt) => prompt.getBoundingClientRect().top < innerHeight / 2).at(-1);
    const entry = /e(\d+)$/.exec(top?.id ?? "")?.[1];
    const now = entry && $(`.turns li[data-entry="${entry}"]`);
    const before = $(".turns li[aria-current]");
    if (now && now !== before) {
      before?.removeAttribute("aria-current");
      now.setAttribute("aria-current", "true");
      const list = now.closest("nav");
      if (now.offsetTop < list.scrollTop || now.offsetTop > list.scrollTop + list.clientHeight - 40) list.scrollTop = now.offsetTop - list.clientHeight / 2;
    }
    todos();
    if (map) {
      const box = column.getBoundingClientRect();
      const rows = map.viewBox.baseVal.height;
      let view = $(".m-view", map);
      if (!view) {
        view = document.createElementNS(map.namespaceURI, "rect");
        view.setAttribute("class", "m-view");
        map.append(view);
      }
      const from = Math.max(0, -box.top / box.height) * rows;
      for (const [name, value] of Object.entries({ x: 0, width: 12, y: from, height: Math.max(rows / 60, (innerHeight / box.height) * rows) })) view.setAttribute(name, value);
    }
    memory.set("place" + location.pathname, String(Math.round(scrollY)));
  });
}

// The list of todos as it was where the reader is.
const box = make("section", { id: "todos", hidden: true });
let listed = 0;
async function todos() {
  const all = ($("#facts")?.dataset.todos ?? "").split(" ").filter(Boolean).map(Number);
  if (all.length === 0) return;
  const above = $$(RECORD, column).filter((record) => record.getBoundingClientRect().top < innerHeight / 2).at(-1);
  const here = Number(/^e(\d+)$/.exec(above?.id ?? "")?.[1] ?? 0);
  const entry = all.filter((number) => number <= here).at(-1) ?? 0;
  if (entry === listed && box.isConnected) return;
  listed = entry;
  let list = $$(`[id="e${entry}"] ul.todos`, column).at(-1);
  const section = !list && entry > 0 && sectionOf("e" + entry);
  if (section) {
    const piece = make("div");
    markup(piece, await source(Number(section.dataset.piece)).catch(() => ""));
    list = $$(`[id="e${entry}"] ul.todos`, piece).at(-1);
  }
  if (entry !== listed) return;
  box.hidden = !list;
  if (list) box.replaceChildren(make("h2", { textContent: "Todos at this point" }), list.cloneNode(true));
  $("#facts").prepend(box);
}

function filterTurns(text) {
  const wanted = text.toLowerCase();
  for (const line of $$(".turns li")) line.hidden = wanted !== "" && !line.textContent.toLowerCase().includes(wanted);
}

// ---- live ----
let isFollowing = false;
let fresh = 0;
const pill = make("button", { type: "button", className: "pill", hidden: true, onclick: () => follow(true) });
function follow(on) {
  isFollowing = on;
  $("#follow")?.setAttribute("aria-pressed", String(on));
  if (on) { scrollTo({ top: document.documentElement.scrollHeight }); fresh = 0; pill.hidden = true; }
  say(on ? "Following" : "Not following");
}
const atEnd = () => scrollY + innerHeight > document.documentElement.scrollHeight - 120;

// What was already in the page stays as it is, opened or not, and nothing moves.
function merge(section, html) {
  const next = make("section");
  markup(next, html);
  for (const row of $$("details[id]", section)) if (row.open) { const other = next.querySelector("#" + CSS.escape(row.id)); if (other) other.open = true; }
  for (const row of $$("details:not([open])[id]", section)) { const other = next.querySelector("#" + CSS.escape(row.id)); if (other) other.open = false; }
  const [old, now] = [[...section.childNodes], [...next.childNodes]];
  let same = 0;
  while (same < old.length && same < now.length && old[same].isEqualNode(now[same])) same++;
  old.slice(same).forEach((node) => node.remove());
  section.append(...now.slice(same));
  section.setAttribute("data-full", "");
  section.style.minHeight = "";
}

let size;
let isAsking = false;
let isAgain = false;
async function refresh() {
  if (isAsking) { isAgain = true; return; }
  isAsking = true;
  try {
    const from = Math.max(0, sections.length - 1);
    const news = await (await ask("/news", { from, turns: $$(".turns li[data-entry]").length })).json();
    if (news.before !== main.dataset.before) { location.reload(); return; }
    const stays = isFollowing || (atEnd() && scrollY > 0);
    const known = Number(sections.at(-1)?.dataset.last ?? -1);
    const later = (section) => $$(RECORD, section).filter((record) => Number(/e(\d+)$/.exec(record.id)?.[1]) > known).length;
    const next = make("div");
    markup(next, news.sections);
    const [first, ...more] = $$("section.piece", next);
    let added = 0;
    if (first && sections.at(-1)) {
      const last = sections.at(-1);
      Object.assign(last.dataset, { last: first.dataset.last, records: first.dataset.records });
      merge(last, first.innerHTML);
      added += later(last);
    }
    for (const section of first && sections.length === 0 ? [first, ...more] : more) {
      (sections.at(-1) ?? $(".levels:last-of-type", column) ?? $("header", column)).after(section);
      sections.push(section);
      watcher.observe(section);
      added += later(section);
    }
    if (more.length > 0) main.dataset.before = (await (await ask("/news", { from: sections.length - 1 })).json()).before;
    if (news.turns !== null) markup($(".turns"), news.turns);
    main.dataset.state = news.state;
    if ($("#state")) $("#state").textContent = news.state;
    document.documentElement.dataset.entries = news.entries;
    if (stays) scrollTo({ top: document.documentElement.scrollHeight });
    else if (added > 0) {
      fresh += added;
      pill.textContent = `${fresh} new`;
      pill.hidden = false;
    }
    seen();
  } catch {
    say("The page could not be brought up to date");
  } finally {
    isAsking = false;
    if (isAgain) { isAgain = false; refresh(); }
  }
}

const sync = $("#sync");
function hear() {
  if (!sync) return;
  const url = new URL("/live", location.origin);
  if (main) { url.searchParams.set("session", main.dataset.session); if (main.dataset.agent) url.searchParams.set("agent", main.dataset.agent); }
  const stream = new EventSource(url);
  stream.onmessage = ({ data }) => {
    const told = JSON.parse(data);
    sync.hidden = told.sync === null && !told.problem;
    sync.textContent = told.problem ?? (told.sync === null ? "" : `Keeping what is new: ${Math.round(told.sync * 100)} %`);
    sync.style.setProperty("--part", `${(told.sync ?? 0) * 100}%`);
    if (main && size !== undefined && told.size !== size) refresh();
    // Who came before the files were read has seen nothing yet.
    if (told.shelf > 0 && $("[data-reload]")) location.reload();
    size = told.size;
  };
  stream.onerror = () => { sync.hidden = false; sync.textContent = "The server does not answer any more"; };
  stream.onopen = () => { sync.hidden = true; };
}

// ---- everything that can be pressed ----
const KEYS = [
  ["j / k", "next / previous record"], ["J / K", "next / previous prompt"], ["e / E", "next / previous error"],
  ["o, Enter", "open or close"], ["O", "open or close all of the turn"], ["1 \u2026 5", "detail"],
  ["/", "find in this session"], ["n / N", "next / previous hit"], ["f", "filter turns"],
  ["t", "light or dark"], ["+ / -", "size of the letters"], ["y / Y", "copy text / link"],
  ["r", "copy the resume command"], ["g g / G", "beginning / end"], [".", "follow"], ["Ctrl K", "go to\u2026"], ["?", "this help"],
];
function help() {
  let dialog = $("#keys");
  if (!dialog) {
    const list = make("dl");
    for (const [key, what] of KEYS) list.append(make("dt", { textContent: key }), make("dd", { textContent: what }));
    const close = make("button", { type: "button", textContent: "Close", onclick: () => dialog.close() });
    dialog = make("dialog", { id: "keys" }, make("h2", { textContent: "Keys" }), list, close);
    document.body.append(dialog);
  }
  dialog.showModal();
}
// Go to a turn, a page or a session by some of its words.
function palette() {
  let dialog = $("#palette");
  if (!dialog) {
    const field = make("input", { type: "search", placeholder: "Go to\u2026" });
    field.setAttribute("aria-label", "Go to");
    const list = make("ul", { className: "choices" });
    dialog = make("dialog", { id: "palette" }, field, list);
    const all = () => [
      ...$$(".top a, table.list td:first-child a").map((a) => [a.textContent, () => { location.href = a.href; }]),
      ...$$(".turns a").map((a) => [a.textContent, () => reveal(a.hash.slice(1))]),
      ...(main && !isFile ? [["Facts: errors of this session", () => { location.href = "/errors?session=" + encodeURIComponent(main.dataset.session); }]] : []),
    ];
    const show = () => {
      const wanted = field.value.toLowerCase().split(/\s+/);
      const fits = all().filter(([name]) => wanted.every((word) => name.toLowerCase().includes(word))).slice(0, 12);
      list.replaceChildren(...fits.map(([name, act]) => make("li", {}, make("button", { type: "button", textContent: name, onclick: () => { dialog.close(); act(); } }))));
    };
    field.oninput = show;
    field.onkeydown = (event) => { if (event.key === "Enter") { event.preventDefault(); $("button", list)?.click(); } event.stopPropagation(); };
    dialog.addEventListener("toggle", show);
    document.body.append(dialog);
  }
  dialog.showModal();
  const field = $("input", dialog);
  field.value = "";
  field.dispatchEvent(new Event("input"));
  field.focus();
}

let lastKey = "";
const keys = {
  j: () => step(1) || far(1, () => true, "record"), k: () => step(-1) || far(-1, () => true, "record"),
  J: () => far(1, isPrompt, "prompt"), K: () => far(-1, isPrompt, "prompt"),
  e: () => far(1, isError, "error"), E: () => far(-1, isError, "error"),
  o: () => toggle(current), O: toggleTurn,
  "/": openFind, n: () => hop(1), N: () => hop(-1),
  f: () => $("#filter")?.focus(), y: () => current && copy(current.innerText), Y: () => current && copy(linkTo(current.id)),
  r: () => copy("claude --resume " + main.dataset.session),
  G: () => { scrollTo({ top: document.documentElement.scrollHeight }); },
  g: () => { if (lastKey === "g") scrollTo({ top: 0 }); },
  ".": () => follow(!isFollowing),
};
const everywhere = { t: nextTheme, "+": () => resize(0.1), "-": () => resize(-0.1), "?": help };
addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "k") { event.preventDefault(); palette(); return; }
  if (event.key === "Escape") { $("#record")?.remove(); if (bar && !bar.hidden) closeFind(); return; }
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog")) return;
  const act = everywhere[event.key] ?? (main && (keys[event.key] ?? (/^[1-5]$/.test(event.key) && !isFile && (() => $(`[data-level="${event.key}"]`)?.click()))));
  if (act) { event.preventDefault(); act(); }
  else if (event.key === "/" && !main) { event.preventDefault(); $("#search")?.focus(); }
  lastKey = event.key;
});

addEventListener("click", (event) => {
  const at = event.target.closest("a.at");
  if (at && !event.ctrlKey && !event.metaKey) { event.preventDefault(); menu(at); return; }
  if (!event.target.closest("#record")) $("#record")?.remove();
  const link = event.target.closest("a[href^='#']");
  if (link && main) { event.preventDefault(); reveal(decodeURIComponent(link.hash.slice(1))); history.replaceState(null, "", link.hash); return; }
  if (event.target.closest("#theme")) nextTheme();
  if (event.target.closest("#help")) help();
  const record = event.target.closest(RECORD);
  if (record && column?.contains(record) && record !== current && !getSelection().toString()) select(record, false);
});

addEventListener("toggle", (event) => {
  const details = event.target;
  if (details.localName !== "details") return;
  if (details.id) { details.open ? opened.add(details.id) : opened.delete(details.id); sessionStorage_("opened", JSON.stringify([...opened].slice(-200))); }
  if (details.open && details.matches(".subagent[data-agent]") && !details.dataset.done && !isFile) {
    details.dataset.done = "1";
    const inside = $(".inside", details);
    inside.textContent = "Reading\u2026";
    ask("/inside/" + encodeURIComponent(details.dataset.agent), { agent: "" }).then((answer) => answer.text()).then((html) => markup(inside, html))
      .catch(() => { inside.textContent = "It could not be read"; delete details.dataset.done; });
  }
}, true);

document.body.append(status);
for (const id of ["theme", "help"]) $("#" + id)?.removeAttribute("hidden");
if (main) {
  document.body.append(pill);
  sections.forEach(reserve);
  sections.filter((section) => section.hasAttribute("data-full")).forEach(grant);
  sections.forEach((section) => watcher.observe(section));
  addEventListener("scroll", () => { seen(); if (atEnd()) { fresh = 0; pill.hidden = true; } else if (isFollowing) isFollowing = false; }, { passive: true });
  map?.addEventListener("click", (event) => {
    const box = map.getBoundingClientRect();
    scrollTo({ top: column.offsetTop + ((event.clientY - box.top) / box.height) * column.offsetHeight - innerHeight / 2 });
  });
  // On a narrow screen the turns are a sheet.
  main.dataset.sheet = "";
  const sheet = make("button", { type: "button", id: "sheet", textContent: "Turns", onclick: () => { main.dataset.sheet = main.dataset.sheet ? "" : "open"; } });
  document.body.append(sheet);
  // The right margin can be closed, and stays so.
  main.dataset.facts = memory.get("facts") ?? "";
  const close = make("button", { type: "button", id: "close", textContent: "Facts", title: "Show or hide the facts", onclick: () => { main.dataset.facts = main.dataset.facts ? "" : "closed"; memory.set("facts", main.dataset.facts); } });
  if ($("#facts")) $("header.head", column)?.prepend(close);
  if (!isFile) $("#state")?.after(make("button", { type: "button", id: "follow", textContent: "Follow", title: "Stay at the end (.)", onclick: () => follow(!isFollowing) }));
  $(".turns")?.addEventListener("click", () => { main.dataset.sheet = ""; });
  $("#filter")?.addEventListener("input", (event) => filterTurns(event.target.value));
  const wanted = new URLSearchParams(location.search).get("find");
  const place = memory.get("place" + location.pathname);
  if (location.hash.length > 1) reveal(decodeURIComponent(location.hash.slice(1)));
  else if (place) scrollTo({ top: Number(place) });
  if (wanted) { openFind(); $("input", bar).value = wanted; find(wanted).then(() => { mark(); }); }
  if (!isFile) fetch(address("/facts")).then((answer) => (answer.ok ? answer.text() : "")).then((html) => { if (html) markup($("#facts"), html); seen(); });
  seen();
  document.documentElement.dataset.ready = performance.now().toFixed(0);
}
if (!isFile) hear();
