// @ts-check
// Short messages, shown for a moment and read out by screen readers.
import { make } from "./dom.js";

const SHOWN_MS = 2000;

/** @typedef {ReturnType<typeof initStatus>} Status */

export function initStatus() {
  const message = make("div", { className: "status" });
  message.setAttribute("aria-live", "polite");
  document.body.append(message);
  let timer = 0;

  /** @param {string} text */
  function announce(text) {
    message.textContent = text;
    message.dataset.on = "";
    clearTimeout(timer);
    timer = setTimeout(() => delete message.dataset.on, SHOWN_MS);
  }

  /** @param {string} text */
  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      announce("Copied");
    } catch {
      announce("The browser did not let it be copied");
    }
  }

  return { announce, copy };
}
