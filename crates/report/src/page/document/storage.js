// @ts-check
// What the browser remembers. A page in a file may have no storage: then nothing is kept.

/** Choices that hold for all pages, until they are changed. */
export const preferences = {
  /** @param {string} key */
  get(key) {
    try {
      return localStorage.getItem("recount-" + key);
    } catch {
      return null;
    }
  },

  /**
   * @param {string} key
   * @param {string} value
   */
  set(key, value) {
    try {
      localStorage.setItem("recount-" + key, value);
    } catch {
      // Not kept.
    }
  },
};

/** The state of this page in this tab. */
export const visit = {
  /** @param {string} key */
  get(key) {
    try {
      return sessionStorage.getItem("recount-" + key + location.pathname);
    } catch {
      return null;
    }
  },

  /**
   * @param {string} key
   * @param {string} value
   */
  set(key, value) {
    try {
      sessionStorage.setItem("recount-" + key + location.pathname, value);
    } catch {
      // Not kept.
    }
  },
};
