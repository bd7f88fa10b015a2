// The texts on and beside a map: the tokens of its rows and columns, the numbers in its cells, and the chosen cell.
import { shown } from './dom.js';

/** @typedef {import('./colours.js').Scale} Scale */
/** @typedef {import('./dom.js').Named} Named */
/** @typedef {import('./tiles.js').Field} Field */
/** @typedef {import('./tiles.js').View} View */

export const mostNamed = 64; // largest number of tokens that can all be written at the axes
const longest = 10; // visible characters of a token there
const roomy = 34; // size in pixels of a cell that has space for its number

/** isNamed reports whether all tokens of a field are written at its axes. */
export function isNamed(/** @type {Field} */ { T, S }) {
  return Math.max(T, S) <= mostNamed;
}

/** nameOf returns the text for an axis. */
export function nameOf(/** @type {Named} */ token) {
  return shown(token).slice(0, longest);
}

/**
 * margin returns the room for the names of an axis.
 * @param {Named[]} tokens
 * @param {number} n
 */
export function margin(tokens, n) {
  const most = Math.max(...tokens.slice(0, 2000).map((t) => shown(t).length), String(n).length);
  return 14 + 7 * Math.min(longest, most);
}

/** short formats a number for a cell: with two decimals, so that a larger number never looks smaller. */
export function short(/** @type {number} */ v) {
  const a = Math.abs(v);
  if (a > 0 && a < 0.005) return v < 0 ? '>−.01' : '<.01';
  return v
    .toFixed(2)
    .replace(/^(-?)0\./, '$1.')
    .replace('-', '−');
}

/**
 * drawNumbers writes numbers into the visible cells if the cells are large enough.
 * @param {CanvasRenderingContext2D} c
 * @param {View} view
 * @param {Field} field
 * @param {Scale} scale
 */
export function drawNumbers(c, view, field, scale) {
  if (view.cell < roomy) return;
  c.font = '11px system-ui, sans-serif';
  c.textAlign = 'center';
  c.textBaseline = 'middle';
  const row = new Float32Array(field.S);
  const s0 = Math.max(0, Math.floor((view.left - view.x) / view.cell));
  const s1 = Math.min(field.S, Math.ceil((view.width - view.x) / view.cell));
  const t1 = Math.min(field.T, Math.ceil((view.height - view.y) / view.cell));
  for (let t = Math.max(0, Math.floor((view.top - view.y) / view.cell)); t < t1; t++) {
    field.row(t, s0, s1, row);
    for (let s = s0; s < s1; s++) {
      const v = row[s - s0];
      if (Number.isNaN(v)) continue;
      c.fillStyle = scale.colour(scale.part(v, field, t)).ink;
      c.globalAlpha = Math.abs(v) < 0.005 ? 0.4 : 1; // zeros are pale
      c.fillText(short(v), view.x + (s + 0.5) * view.cell, view.y + (t + 0.5) * view.cell);
    }
  }
  c.globalAlpha = 1;
}

/**
 * drawCell marks a cell.
 * @param {CanvasRenderingContext2D} c
 * @param {View} view
 * @param {number[] | null} cell
 */
export function drawCell(c, view, cell) {
  if (!cell) return;
  const [t, s] = cell;
  const size = Math.max(view.cell, 4);
  for (const [width, colour] of /** @type {[number, string][]} */ ([
    [3, '#000'],
    [1.5, '#fff'],
  ])) {
    c.lineWidth = width;
    c.strokeStyle = colour;
    c.strokeRect(view.x + s * view.cell - 1, view.y + t * view.cell - 1, size + 2, size + 2);
  }
}

/**
 * drawLabels writes the tokens of rows and columns, or the numbers of some of them if there are too many.
 * @param {CanvasRenderingContext2D} c
 * @param {View} view
 * @param {Field} field
 * @param {{ rows: Named[], cols: Named[], numbered?: boolean }} names
 */
export function drawLabels(c, view, field, { rows, cols, numbered }) {
  const named = isNamed(field) && !numbered;
  const size = named ? Math.max(6, Math.min(12, view.cell + 1)) : 12;
  c.font = `${size}px ui-monospace, monospace`;
  c.textBaseline = 'middle';
  const every = named ? 1 : Math.max(1, Math.ceil(13 / view.cell));
  const step = every === 1 ? 1 : ([2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000].find((n) => n >= every) ?? every);
  const text = (/** @type {Named[]} */ tokens, /** @type {number} */ i) => (step === 1 ? nameOf(tokens[i]) : String(i));
  c.textAlign = 'right';
  for (let t = 0; t < field.T; t += step) {
    const y = view.y + (t + 0.5) * view.cell;
    if (y > view.top && y < view.height) c.fillText(text(rows, t), view.left - 4, y);
  }
  const upright = step === 1 && cols.every((t) => nameOf(t).length === 1);
  c.textAlign = upright ? 'center' : 'left';
  for (let s = 0; s < field.S; s += step) {
    const x = view.x + (s + 0.5) * view.cell;
    if (x <= view.left || x >= view.width) continue;
    c.save();
    c.translate(x, view.top - (upright ? 4 + size / 2 : 4));
    if (!upright) c.rotate(-Math.PI / 2);
    c.fillText(text(cols, s), 0, 0);
    c.restore();
  }
}
