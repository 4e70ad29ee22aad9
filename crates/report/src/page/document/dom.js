// @ts-check
// Finding, making and filling elements.
//
// Text from a transcript enters a page only as text, or as HTML that the program has written and
// escaped. That HTML goes through `setHtml`, the only place that writes `innerHTML`.

/**
 * The part of Trusted Types that is used here. Not every browser has them.
 * @typedef {object} TrustedTypes
 * @property {(name: string, rules: HtmlPolicy) => HtmlPolicy} createPolicy
 */
/** @typedef {{ createHTML: (html: string) => string }} HtmlPolicy */

/** @type {{ trustedTypes?: TrustedTypes }} */
const browser = /** @type {any} */ (globalThis);
const policy = browser.trustedTypes?.createPolicy("recount", { createHTML: (html) => html });

/**
 * The first element that matches a selector.
 * @template {Element} [E=HTMLElement]
 * @param {string} selector
 * @param {ParentNode} [within]
 * @returns {E | null}
 */
export function $(selector, within = document) {
  return within.querySelector(selector);
}

/**
 * All elements that match a selector.
 * @template {Element} [E=HTMLElement]
 * @param {string} selector
 * @param {ParentNode} [within]
 * @returns {E[]}
 */
export function $$(selector, within = document) {
  return Array.from(within.querySelectorAll(selector));
}

/**
 * @param {Element} element
 * @param {string} html escaped by the program that wrote it
 */
export function setHtml(element, html) {
  element.innerHTML = policy ? policy.createHTML(html) : html;
}

/**
 * HTML as nodes that are not part of the page: no image is loaded, no event is fired.
 * @param {string} html
 */
export function parseHtml(html) {
  const template = document.createElement("template");
  setHtml(template, html);
  return template.content;
}

/**
 * @template {keyof HTMLElementTagNameMap} N
 * @param {N} name
 * @param {Partial<HTMLElementTagNameMap[N]>} [properties]
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[N]}
 */
export function make(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

/**
 * @param {string} text
 * @param {() => void} onclick
 * @param {Partial<HTMLButtonElement>} [properties]
 */
export function makeButton(text, onclick, properties = {}) {
  return make("button", { type: "button", textContent: text, onclick, ...properties });
}

/**
 * The innermost element around the target of an event that matches a selector.
 * @template {Element} [E=HTMLElement]
 * @param {Event} event
 * @param {string} selector
 * @returns {E | null}
 */
export function closestTo(event, selector) {
  return event.target instanceof Element ? event.target.closest(selector) : null;
}

/**
 * @param {Element} element
 * @param {Record<string, string | number>} attributes
 */
export function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
}
