// The state of the page is its URL after the #, so that a view can be shared and survives a reload.

const listeners = new Set();
let values = read();

function read() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

/** get returns a value of the state as text. */
export function get(name, otherwise = '') {
  return values[name] ?? otherwise;
}

/** int returns a value of the state as a number from 0 to below n; otherwise if it is none. */
export function int(name, n, otherwise = 0) {
  const v = Number.parseInt(values[name], 10);
  return v >= 0 && v < n ? v : otherwise;
}

/** set changes values, of which undefined ones are removed, and tells everybody. */
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

/** restore takes all values from a text as the URL has them, and tells nobody. */
export function restore(text) {
  history.replaceState(null, '', `#${text}`);
  values = read();
}

function tell(before) {
  for (const f of [...listeners]) {
    // of which one may remove another
    if (listeners.has(f)) f((name) => before[name] !== values[name]);
  }
}

/** onChange calls f, with a function that says what has changed, until the returned function is called. */
export function onChange(f) {
  listeners.add(f);
  return () => listeners.delete(f);
}

addEventListener('hashchange', () => {
  const before = values;
  values = read();
  tell(before);
});
