// The state of the page is the part of its URL after the #, so that a view can be shared and survives a reload.

/** @typedef {Record<string, string>} Values */
/** @typedef {(changed: (name: string) => boolean) => void} Listener */

/** @type {Set<Listener>} */
const listeners = new Set();
let values = read();

/** @returns {Values} */
function read() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

/** get returns a value of the state as text. */
export function get(/** @type {string} */ name, otherwise = '') {
  return values[name] ?? otherwise;
}

/**
 * int returns a value of the state as a number from 0 to below n, or otherwise if it is not such a number.
 * @param {string} name
 * @param {number} n
 * @param {number} otherwise
 */
export function int(name, n, otherwise = 0) {
  const v = Number.parseInt(values[name], 10);
  return v >= 0 && v < n ? v : otherwise;
}

/**
 * set changes values, removes undefined ones, and calls all listeners.
 * @param {Record<string, string | number | undefined>} changes
 * @param {boolean} quiet
 */
export function set(changes, quiet = false) {
  const before = values;
  values = { ...values };
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') delete values[name];
    else values[name] = String(value);
  }
  history.replaceState(null, '', '#' + new URLSearchParams(values));
  if (!quiet) tell(before);
}

/** restore takes all values from the text of a URL, without calling listeners. */
export function restore(/** @type {string} */ text) {
  history.replaceState(null, '', `#${text}`);
  values = read();
}

function tell(/** @type {Values} */ before) {
  for (const f of [...listeners]) {
    // a copy, because a listener may remove another one
    if (listeners.has(f)) f((name) => before[name] !== values[name]);
  }
}

/** onChange calls f at each change, with a test for changed values, until the returned function is called. */
export function onChange(/** @type {Listener} */ f) {
  listeners.add(f);
  return () => {
    listeners.delete(f);
  };
}

addEventListener('hashchange', () => {
  const before = values;
  values = read();
  tell(before);
});
