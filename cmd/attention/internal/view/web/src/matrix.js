// A step as a table of coloured numbers. The arrow keys move between the cells.
import { largestOf, Scale } from './colours.js';
import { all, fill, h, number } from './dom.js';
import { arrows, isPlain } from './keys.js';
import { flat, indexOf, matrices } from './tensor.js';

/** @typedef {import('./tensor.js').Tensor} Tensor */
/** @typedef {'blocks' | 'rows' | 'columns'} Axis */

/** @type {Axis[]} */
const axes = ['blocks', 'rows', 'columns'];

/** @type {Record<string, [number, number]>} */
const moves = { ...arrows, Home: [0, -1e9], End: [0, 1e9] };

/**
 * Matrix shows a value of up to three axes. onpoint(index) is called for the cell under the pointer or with the focus,
 * and onchoose(index) for a focused cell.
 */
export class Matrix {
  /**
   * @param {string} label
   * @param {Partial<Record<Axis, string[]>>} names
   * @param {import('./formula.js').Window | undefined} window all without it
   * @param {(index: number[]) => void} onpoint
   * @param {(index: number[]) => void} onchoose
   */
  constructor(label, names, window, onpoint, onchoose = () => {}) {
    this.label = label;
    this.names = names;
    this.window = window ?? {};
    this.onpoint = onpoint;
    this.element = h('div', { class: 'blocks' });
    /** @type {Map<EventTarget | null, { index: number[], at: number }>} the numbers of cells, and their places */
    this.cells = new Map();
    /** @type {Map<number, HTMLElement>} the cell of each place */
    this.places = new Map();
    /** @type {HTMLElement[]} */
    this.marked = [];
    /** @type {Tensor} */
    this.value = { shape: [], data: new Float64Array(0) };
    this.integers = false;
    this.isHidden = (/** @type {number} */ _at) => false;
    this.element.addEventListener('pointerover', (e) => this.point(e.target));
    this.element.addEventListener('focusin', (e) => {
      this.point(e.target);
      const found = this.cells.get(e.target);
      if (found) onchoose(found.index);
    });
    this.element.addEventListener('keydown', (e) => this.key(e));
  }

  /**
   * show shows a value, in the existing cells if they have its shape. Numbers for which isHidden(at) is true are grey.
   * @param {Tensor} value
   * @param {boolean | undefined} integers
   * @param {((at: number) => boolean) | undefined} isHidden
   */
  show(value, integers = false, isHidden = () => false) {
    Object.assign(this, { integers, isHidden });
    const isOther = !this.cells.size || String(this.value.shape) !== String(value.shape);
    this.value = value;
    if (isOther) this.build();
    this.paint();
  }

  /** paint writes the numbers and their colours. */
  paint() {
    const { integers } = this;
    const most = this.value.data.filter(Number.isFinite).reduce((a, b) => Math.max(a, Math.abs(b)), 0);
    const share = this.isShare();
    const coloured = !integers && this.value.shape.length > 0;
    const scale = new Scale(share ? 1 : most, !share);
    const { cols } = matrices(this.value);
    const rowOf = (/** @type {number} */ at) => this.value.data.subarray(at - (at % cols), at - (at % cols) + cols);
    const largest = (/** @type {number} */ at) => largestOf(rowOf(at)) || 1;
    for (const [at, cell] of this.places) {
      const v = this.value.data[at];
      const part = share ? v / largest(at) : v;
      cell.textContent = integers ? String(v) : number(v);
      const grey = !Number.isFinite(v) || this.isHidden(at);
      const { css, ink } = coloured ? scale.colour(part) : { css: '', ink: '' };
      cell.style.background = grey ? 'var(--hidden)' : css;
      cell.style.color = grey ? '' : ink;
    }
  }

  /** isShare reports whether the numbers are shares: none is negative, and each row adds up to 1. */
  isShare() {
    const { data } = this.value;
    const { cols } = matrices(this.value);
    if (cols === 1 || data.some((v) => !(v >= 0))) return false;
    for (let at = 0; at < data.length; at += cols) {
      if (Math.abs(data.subarray(at, at + cols).reduce((a, b) => a + b, 0) - 1) > 1e-4) return false;
    }
    return true;
  }

  build() {
    const { shape } = this.value;
    const size = matrices(this.value);
    this.cells.clear();
    this.places.clear();
    this.marked = [];
    const range = (/** @type {'rows' | 'columns'} */ axis, /** @type {number} */ n) => {
      const [from, to] = this.window[axis] ?? [0, n];
      return Array.from({ length: to - from }, (_, i) => from + i);
    };
    const rows = shape.length > 1 ? range('rows', size.rows) : [null];
    const columns = shape.length ? range('columns', size.cols) : [null];
    const blocks = shape.length > 2 ? Array.from({ length: shape[0] }, (_, i) => i) : [null];
    fill(
      this.element,
      blocks.map((b) => this.table(b, rows, columns)),
    );
    this.element.querySelector('tbody td')?.setAttribute('tabindex', '0');
  }

  /**
   * table makes the table of a matrix; axes that do not exist have null.
   * @param {number | null} block
   * @param {(number | null)[]} rows
   * @param {(number | null)[]} columns
   */
  table(block, rows, columns) {
    const name = (/** @type {Axis} */ axis, /** @type {number | null} */ i) =>
      i === null ? '' : (this.names[axis]?.[i] ?? String(i));
    const of = block === null ? '' : name('blocks', block);
    const cell = (/** @type {number | null} */ i, /** @type {number | null} */ j) => {
      const index = [block, i, j].filter((n) => n !== null);
      const td = h('td', { tabindex: -1 });
      const at = flat(this.value.shape, index);
      this.cells.set(td, { index, at });
      this.places.set(at, td);
      return td;
    };
    const label = `${this.label} ${of}`.trim();
    return h(
      'div',
      { class: 'scroll' },
      h(
        'table',
        { class: 'matrix', role: 'grid', 'aria-label': label },
        of ? h('caption', {}, of) : null,
        this.value.shape.length
          ? h(
              'thead',
              {},
              h(
                'tr',
                {},
                rows[0] === null ? null : h('td', {}),
                columns.map((j) => h('th', { scope: 'col' }, name('columns', j))),
              ),
            )
          : null,
        h(
          'tbody',
          {},
          rows.map((i) =>
            h(
              'tr',
              {},
              i === null ? null : h('th', { scope: 'row' }, name('rows', i)),
              columns.map((j) => cell(i, j)),
            ),
          ),
        ),
      ),
    );
  }

  point(/** @type {EventTarget | null} */ target) {
    const found = this.cells.get(target);
    if (found) this.onpoint(found.index);
  }

  /** title names the number at an index. */
  title(/** @type {number[]} */ index) {
    if (!index.length) return this.label;
    const of = axes.slice(3 - index.length);
    return `${this.label}[${index.map((i, at) => this.names[of[at]]?.[i] ?? String(i)).join(', ')}]`;
  }

  /**
   * place is the names of the block, the row and the column of a number.
   * @param {number[]} shape
   * @param {number} at
   */
  place(shape, at) {
    const index = indexOf(shape, at);
    return axes.map((axis, i) => {
      const n = index[i - 3 + index.length];
      return n === undefined ? '' : (this.names[axis]?.[n] ?? n);
    });
  }

  key(/** @type {KeyboardEvent} */ e) {
    const cell = /** @type {HTMLElement} */ (e.target);
    const row = cell.parentElement;
    if (!(e.key in moves) || !isPlain(e) || !this.cells.has(cell) || !row) return;
    e.preventDefault();
    const [down, right] = moves[e.key];
    const rows = all(this.element, 'tbody tr');
    const clamp = (/** @type {number} */ v, /** @type {number} */ n) => Math.max(0, Math.min(n - 1, v));
    const to = all(rows[clamp(rows.indexOf(row) + down, rows.length)], 'td');
    const next = to[clamp(all(row, 'td').indexOf(cell) + right, to.length)];
    this.element.querySelector('td[tabindex="0"]')?.setAttribute('tabindex', '-1');
    next.setAttribute('tabindex', '0');
    next.focus();
  }

  /** mark outlines the cells at some places. */
  mark(/** @type {Iterable<number>} */ places) {
    for (const cell of this.marked) cell.classList.remove('used');
    this.marked = [...places].flatMap((at) => this.places.get(at) ?? []);
    for (const cell of this.marked) cell.classList.add('used');
  }

  /** rows are the numbers as a table, with names. */
  rows() {
    const { shape, data } = this.value;
    const { rows, cols } = matrices(this.value);
    /** @type {(string | number)[][]} */
    const out = [['', ...Array.from({ length: cols }, (_, j) => this.names.columns?.[j] ?? j)]];
    for (let at = 0; at < data.length; at += cols) {
      const i = (at / cols) % rows;
      const block = shape.length > 2 ? `${this.names.blocks?.[Math.floor(at / cols / rows)] ?? ''} ` : '';
      out.push([block + (this.names.rows?.[i] ?? (shape.length > 1 ? i : '')), ...data.subarray(at, at + cols)]);
    }
    return out;
  }
}
