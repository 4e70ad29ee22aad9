// @ts-check
// Where the reader is. What depends on it is updated at most once per frame.
import { preferences } from "./storage.js";

/** @typedef {ReturnType<typeof initPosition>} Position */

/** @param {() => void} onMoved */
export function initPosition(onMoved) {
  const key = "place" + location.pathname;
  let isScheduled = false;

  function update() {
    if (isScheduled) return;
    isScheduled = true;
    requestAnimationFrame(() => {
      isScheduled = false;
      onMoved();
      preferences.set(key, String(Math.round(scrollY)));
    });
  }

  return {
    update,

    /** Goes to where the reader was at the last visit. */
    restore() {
      const top = preferences.get(key);
      if (top) scrollTo({ top: Number(top) });
    },
  };
}
