// @ts-check
// The session that a page shows, and how more of it is fetched.
import { $ } from "./dom.js";

/** @typedef {Record<string, string | number | undefined>} Query */
/** @typedef {NonNullable<ReturnType<typeof readSession>>} Session */

/** The session of this page; null on all other pages. */
export function readSession() {
  const main = $("main.session");
  const column = $("#text");
  if (!main || !column) return null;
  const isFile = column.dataset.source === "file";

  /**
   * The address of something that belongs to the session, for the view that the page shows.
   * @param {string} path
   * @param {Query} [query]
   */
  function address(path, query = {}) {
    const base = location.pathname.replace(/\/a\/[^/]*$/, "");
    const url = new URL(location.origin + base + path);
    const { d, branch, agent } = /** @type {HTMLElement} */ (main).dataset;
    for (const [key, value] of Object.entries({ d, branch, agent, ...query })) {
      if (value !== "" && value !== undefined) url.searchParams.set(key, String(value));
    }
    return url;
  }

  /**
   * @param {string} path
   * @param {Query} [query]
   */
  async function fetchPart(path, query) {
    const response = await fetch(address(path, query));
    if (!response.ok) throw new Error(String(response.status));
    return response;
  }

  // A page in a file says the id only in its head.
  const id = main.dataset.session ?? $("#id")?.textContent ?? "";
  return { main, column, isFile, id, address, fetchPart };
}
