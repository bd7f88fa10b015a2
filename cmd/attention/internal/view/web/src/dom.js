// Elements. Texts are always text nodes, never markup.

/** h makes an HTML element: attributes, properties that begin with a dot, listeners that begin with on. */
export function h(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) e.addEventListener(name.slice(2), value);
    else if (name.startsWith('.')) e[name.slice(1)] = value;
    else e.setAttribute(name, value === true ? '' : value);
  }
  e.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
  return e;
}

/** svg makes an SVG element. */
export function svg(tag, attributes = {}, ...children) {
  const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) e.setAttribute(name, value);
  e.append(...children.flat());
  return e;
}

/** fill replaces the children of an element. */
export function fill(e, ...children) {
  e.replaceChildren(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
  return e;
}

/** keepFocus makes an element anew and gives the focus to the control that has the place of the one that had it. */
export function keepFocus(e, make) {
  const controls = () => [...e.querySelectorAll('button, select, input, canvas')];
  const at = controls().indexOf(document.activeElement);
  make();
  if (at >= 0) controls()[at]?.focus({ preventScroll: true });
}

/** choice is a labelled select of [value, text] pairs. */
export function choice(label, options, value, onchange) {
  const select = h('select', { onchange: () => onchange(select.value) },
    options.map(([v, text]) => h('option', { value: v, '.selected': String(v) === String(value) }, text)));
  return h('label', { class: 'choice' }, label + ' ', select);
}

/** button is a button with a text. */
export function button(text, onclick, attributes = {}) {
  return h('button', { type: 'button', onclick, ...attributes }, text);
}

/** bar is a bar of which a part, of 1, is filled: no picture, of which hundreds would slow the page. */
export function bar(part) {
  const e = h('span', { class: 'bar', 'aria-hidden': 'true' });
  e.style.setProperty('--part', part);
  return e;
}

/** visible shows blanks and line ends of a token, and an empty token. */
export function visible(text) {
  if (text === '') return '∅';
  return text.replaceAll('\n', '⏎').replaceAll('\t', '⇥').replaceAll(' ', '·');
}

/** shown is a token as text; one that is a part of a character has its bytes between ‹ and ›. */
export function shown(token) {
  return token.part ? `‹${token.text.replaceAll('\\x', ' ').trim()}›` : visible(token.text);
}

/** number writes a number with some digits. */
export function number(v, digits = 4) {
  if (v === undefined || v === null || Number.isNaN(v)) return '–';
  if (v === Infinity || v === -Infinity) return v > 0 ? '∞' : '−∞';
  const a = Math.abs(v);
  const places = a >= 100 ? Math.max(0, digits - 2) : digits;
  const text = a !== 0 && (a >= 1e5 || a < 1e-4) ? v.toExponential(2) : v.toFixed(places);
  return text.replace('-', '−');
}
