// Elements. Texts are always text nodes, never markup.
import { arrows, isPlain } from './keys.js';

/** @typedef {{ text: string, part?: boolean, of?: string, at?: number }} Named a token, or another named thing */
/** @typedef {Node | string | number | false | null | undefined} Child */

/**
 * h makes an HTML element: attributes, properties that begin with a dot, listeners that begin with on.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Child | Child[] | Child[][])} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) e.addEventListener(name.slice(2), value);
    else if (name.startsWith('.')) Object.assign(e, { [name.slice(1)]: value });
    else e.setAttribute(name, value === true ? '' : value);
  }
  e.append(...shownOf(children));
  return e;
}

/**
 * all returns the HTML elements of a selector below an element.
 * @param {ParentNode} root
 * @param {string} selector
 */
export function all(root, selector) {
  return /** @type {HTMLElement[]} */ ([...root.querySelectorAll(selector)]);
}

/**
 * focused returns the focused element, or the closest element around it that matches a selector.
 * @param {string} selector
 */
export function focused(selector) {
  return /** @type {HTMLElement | null} */ (document.activeElement?.closest(selector) ?? null);
}

/**
 * one returns the first HTML element of a selector below an element, where there is one.
 * @template {keyof HTMLElementTagNameMap} K
 * @overload
 * @param {ParentNode} root
 * @param {K} selector
 * @returns {HTMLElementTagNameMap[K]}
 */
/**
 * @overload
 * @param {ParentNode} root
 * @param {string} selector
 * @returns {HTMLElement}
 */
/**
 * @param {ParentNode} root
 * @param {string} selector
 */
export function one(root, selector) {
  return /** @type {HTMLElement} */ (root.querySelector(selector));
}

/**
 * byId returns the element of an ID.
 * @param {string} id
 */
export function byId(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/**
 * shownOf returns the children that exist.
 * @param {(Child | Child[] | Child[][])[]} children
 */
function shownOf(children) {
  const all = /** @type {Child[]} */ (children.flat(2));
  return /** @type {(Node | string)[]} */ (all.filter((c) => c !== null && c !== undefined && c !== false));
}

/**
 * svg makes an SVG element.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Node | string | (Node | string)[])} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function svg(tag, attributes = {}, ...children) {
  const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) e.setAttribute(name, value);
  e.append(...children.flat());
  return e;
}

/**
 * fill replaces the children of an element.
 * @template {Element} E
 * @param {E} e
 * @param {...(Child | Child[] | Child[][])} children
 * @returns {E}
 */
export function fill(e, ...children) {
  e.replaceChildren(...shownOf(children));
  return e;
}

/**
 * keepFocus replaces an element. If a control in it had the focus, the control in the same position gets the focus.
 * @param {Element} e
 * @param {() => void} make
 */
export function keepFocus(e, make) {
  const controls = () => all(e, 'button, select, input, canvas');
  const at = controls().indexOf(/** @type {HTMLElement} */ (document.activeElement));
  make();
  if (at >= 0) controls()[at]?.focus({ preventScroll: true });
}

/**
 * choice is a labelled select of [value, text] pairs.
 * @param {string} label
 * @param {any[][]} options
 * @param {string | number} value
 * @param {(v: string) => void} onchange
 */
export function choice(label, options, value, onchange) {
  const select = h(
    'select',
    { onchange: () => onchange(select.value) },
    options.map(([v, text]) => h('option', { value: v, '.selected': String(v) === String(value) }, text)),
  );
  return h('label', { class: 'choice' }, label + ' ', select);
}

/**
 * button is a button with a text, or other children.
 * @param {Child} text
 * @param {(e: MouseEvent) => void} onclick
 * @param {Record<string, any>} [attributes]
 * @param {...(Child | Child[])} children
 */
export function button(text, onclick, attributes = {}, ...children) {
  return h('button', { type: 'button', onclick, ...attributes }, text, ...children);
}

/**
 * bar returns a bar of which a share is filled. It is not a picture, because hundreds of pictures would slow the page.
 * @param {number} part
 */
export function bar(part) {
  const e = h('span', { class: 'bar', 'aria-hidden': 'true' });
  e.style.setProperty('--part', String(part));
  return e;
}

/**
 * visible shows blanks and line ends of a token, and an empty token. A character without a glyph is its number between
 * ‹ and ›: control characters, and blanks and marks that stand alone.
 * @param {string} text
 */
export function visible(text) {
  if (text === '') return '∅';
  const plain = text.replaceAll('\n', '⏎').replaceAll('\t', '⇥').replaceAll(' ', '·');
  const unseen = /^[\p{C}\p{Z}\p{M}\u115f\u1160\u3164\uffa0]+$/u.test(plain) ? /[\s\S]/gu : /\p{Cc}/gu;
  return plain.replace(unseen, (c) => `‹${(c.codePointAt(0) ?? 0).toString(16).padStart(2, '0')}›`);
}

/**
 * shown returns a token as text. A part of a character is shown as the whole character and the part's number or, if the
 * rest is missing, as bytes in ‹›.
 * @param {Named} token
 */
export function shown(token) {
  if (token.of) return `${visible(token.of)}${'₁₂₃₄'[(token.at ?? 1) - 1] ?? ''}`;
  return token.part ? `‹${token.text.replaceAll('\\x', ' ').trim()}›` : visible(token.text);
}

/** percent formats a share of 1 as a percentage with some digits. */
export function percent(/** @type {number} */ share, digits = 3) {
  const v = 100 * share;
  if (v > 0 && v < 1e-4) return '< 0.0001 %';
  const whole = Math.max(0, Math.floor(Math.log10(v || 1)));
  return `${v >= 1 ? v.toFixed(Math.max(0, digits - 1 - whole)) : Number(v.toPrecision(2))} %`;
}

/**
 * rove makes elements of a container one stop of the tab key, which the arrow keys move among, up and down to the
 * nearest one of the line above or below.
 * @param {HTMLElement} container
 * @param {string} selector
 */
export function rove(container, selector) {
  const elements = () => all(container, selector);
  const of = (/** @type {Event} */ e) =>
    /** @type {HTMLElement | null} */ (/** @type {Element} */ (e.target).closest(selector));
  container.addEventListener('focusin', (e) => {
    const to = of(e);
    if (to) for (const other of elements()) other.tabIndex = other === to ? 0 : -1;
  });
  container.addEventListener('keydown', (e) => {
    const from = of(e);
    if (!from || !isPlain(e)) return;
    const list = elements();
    const at = list.indexOf(from);
    /** @type {Record<string, number>} */
    const places = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: list.length - 1 };
    const [line] = arrows[e.key] ?? [0];
    const to = line ? nearest(list, from, line) : list[places[e.key]];
    if (!to) return;
    e.preventDefault();
    to.focus();
  });
}

/**
 * nearest returns the element of the next line up, -1, or down, 1, that is nearest to one.
 * @param {HTMLElement[]} list
 * @param {HTMLElement} from
 * @param {number} direction
 */
function nearest(list, from, direction) {
  const box = from.getBoundingClientRect();
  const places = list
    .map((element) => ({ element, box: element.getBoundingClientRect() }))
    .filter((other) => direction * (other.box.top - box.top) > box.height / 2);
  const line = Math.min(...places.map((other) => Math.abs(other.box.top - box.top)));
  return places
    .filter((other) => Math.abs(other.box.top - box.top) < line + box.height / 2)
    .sort((a, b) => Math.abs(a.box.left - box.left) - Math.abs(b.box.left - box.left))[0]?.element;
}

/**
 * number formats a number with some digits, but small ones with two, so that a larger number never looks smaller.
 * @param {number | null | undefined} v
 * @param {number} digits
 */
export function number(v, digits = 4) {
  if (v === undefined || v === null || Number.isNaN(v)) return '–';
  if (v === Infinity || v === -Infinity) return v > 0 ? '∞' : '−∞';
  const a = Math.abs(v);
  const places = a >= 100 ? Math.max(0, digits - 2) : digits;
  let text = v.toFixed(places);
  if (a !== 0 && (a >= 1e5 || a < 1e-4)) text = v.toExponential(2);
  else if (a !== 0 && a < 10 ** -places) text = v.toPrecision(2);
  return text.replaceAll('-', '−');
}
