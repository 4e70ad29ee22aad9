// @ts-check
// Light or dark, and the size of the text.
import { preferences } from "./storage.js";
/** @import { Status } from "./status.js" */

const THEMES = ["", "light", "dark"];
const MIN_SCALE = 0.9;
const MAX_SCALE = 1.4;

/** @param {Status} status */
export function initTheme(status) {
  const root = document.documentElement;
  let scale = Number(preferences.get("scale")) || 1;

  /** @param {string} name empty: as the system has it */
  function setTheme(name) {
    if (name) root.dataset.theme = name;
    else delete root.dataset.theme;
    preferences.set("theme", name);
  }

  /** The first press changes what is seen, whatever the system has. */
  function switchTheme() {
    const theme = root.dataset.theme ?? "";
    const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    if (theme === "") setTheme(isDark ? "light" : "dark");
    else setTheme(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "");
    status.announce("Theme: " + (root.dataset.theme ?? "as the system has it"));
  }

  /** @param {number} step */
  function changeTextSize(step) {
    const rounded = Math.round((scale + step) * 10) / 10;
    scale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, rounded));
    root.style.setProperty("--scale", String(scale));
    preferences.set("scale", String(scale));
  }

  setTheme(preferences.get("theme") ?? "");
  changeTextSize(0);
  return { switchTheme, changeTextSize };
}
