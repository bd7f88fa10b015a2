// A step as a table of coloured numbers, which the arrow keys walk.
import { largestOf, Scale } from './colours.js';
import { fill, h, number } from './dom.js';
import { flat, indexOf } from './explain.js';

/**
 * Matrix shows a value of up to three axes; onpoint(index) is called for the cell that is pointed at or focused, and
 * onchoose(index) for one that is focused.
 */
export class Matrix {
  /** names: {blocks, rows, columns}; window: {rows: [from, to], columns: [from, to]}, all without it */
  constructor(label, names, window, onpoint, onchoose = (/** @type {number[]} */ _index) => {}) {
    this.label = label;
    this.names = names;
    this.window = window ?? {};
    this.onpoint = onpoint;
    this.element = h('div', { class: 'blocks' });
    this.cells = new Map(); // the index of each cell’s number and its place in the value
    this.places = new Map(); // the cell of each place
    this.marked = [];
    this.element.addEventListener('pointerover', (e) => this.point(e.target));
    this.element.addEventListener('focusin', (e) => {
      this.point(e.target);
      const found = this.cells.get(e.target);
      if (found) onchoose(found.index);
    });
    this.element.addEventListener('keydown', (e) => this.key(e));
  }

  /** show shows a value: in the cells that are there, if it has their shape. What isHidden(at) is so in grey. */
  show(value, integers = false, isHidden = (/** @type {number} */ _at) => false) {
    this.isHidden = isHidden;
    if (String(this.value?.shape) !== String(value.shape)) {
      this.value = value;
      this.build();
    }
    this.value = value;
    this.paint(integers);
  }

  /** paint writes the numbers and their colours. */
  paint(integers = this.integers) {
    this.integers = integers;
    const most = this.value.data.filter(Number.isFinite).reduce((a, b) => Math.max(a, Math.abs(b)), 0);
    const share = this.isShare();
    const coloured = !integers && this.value.shape.length > 0;
    const scale = new Scale(share ? 1 : most, !share);
    const columns = this.value.shape.at(-1) ?? 1;
    const rowOf = (at) => this.value.data.subarray(at - (at % columns), at - (at % columns) + columns);
    const largest = (at) => largestOf(rowOf(at)) || 1;
    for (const [cell, { at }] of this.cells) {
      const v = this.value.data[at];
      const part = share ? v / largest(at) : v;
      cell.textContent = integers ? String(v) : number(v);
      const grey = !Number.isFinite(v) || this.isHidden(at);
      const colour = coloured ? scale.css(part) : '';
      cell.style.background = grey ? 'var(--hidden)' : colour;
      cell.style.color = grey || !coloured ? '' : scale.ink(part);
    }
  }

  /** isShare reports whether the numbers are shares: none negative, and those of each row together 1. */
  isShare() {
    const { shape, data } = this.value;
    const columns = shape.at(-1) ?? 1;
    if (columns === 1 || data.some((v) => !(v >= 0))) return false;
    for (let at = 0; at < data.length; at += columns) {
      if (Math.abs(data.subarray(at, at + columns).reduce((a, b) => a + b, 0) - 1) > 1e-6) return false;
    }
    return true;
  }

  build() {
    const { shape } = this.value;
    this.cells.clear();
    this.places.clear();
    this.marked = [];
    const range = (axis, n) => {
      const [from, to] = this.window[axis] ?? [0, n];
      return Array.from({ length: to - from }, (_, i) => from + i);
    };
    const rows = shape.length > 1 ? range('rows', shape.at(-2)) : [null];
    const columns = shape.length ? range('columns', shape.at(-1)) : [null];
    const blocks = shape.length > 2 ? Array.from({ length: shape[0] }, (_, i) => i) : [null];
    fill(
      this.element,
      blocks.map((b) => this.table(b, rows, columns)),
    );
    this.element.querySelector('tbody td')?.setAttribute('tabindex', '0');
  }

  table(block, rows, columns) {
    const name = (axis, i) => (i === null ? '' : (this.names[axis]?.[i] ?? String(i)));
    const of = block === null ? '' : name('blocks', block);
    const cell = (i, j) => {
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

  point(target) {
    const found = this.cells.get(target);
    if (found) this.onpoint(found.index, target);
  }

  /** title names the number at an index. */
  title(index) {
    if (!index.length) return this.label;
    const axes = ['blocks', 'rows', 'columns'].slice(3 - index.length);
    return `${this.label}[${index.map((i, at) => this.names[axes[at]]?.[i] ?? String(i)).join(', ')}]`;
  }

  /** place is the names of the block, the row and the column of a number. */
  place(shape, at) {
    const index = indexOf(shape, at);
    return ['blocks', 'rows', 'columns'].map((axis, i) => {
      const n = index[i - 3 + index.length];
      return n === undefined ? '' : (this.names[axis]?.[n] ?? n);
    });
  }

  key(e) {
    const moves = {
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
      Home: [0, -1e9],
      End: [0, 1e9],
    };
    if (!(e.key in moves) || e.ctrlKey || e.altKey || e.metaKey || !this.cells.has(e.target)) return;
    e.preventDefault();
    const row = e.target.parentElement;
    const [down, right] = moves[e.key];
    const rows = [...this.element.querySelectorAll('tbody tr')];
    const clamp = (v, n) => Math.max(0, Math.min(n - 1, v));
    const to = rows[clamp(rows.indexOf(row) + down, rows.length)].querySelectorAll('td');
    const next = to[clamp([...row.querySelectorAll('td')].indexOf(e.target) + right, to.length)];
    this.element.querySelector('td[tabindex="0"]')?.setAttribute('tabindex', '-1');
    next.setAttribute('tabindex', '0');
    next.focus();
  }

  /** mark outlines the cells at some places. */
  mark(places) {
    for (const cell of this.marked) cell.classList.remove('used');
    this.marked = [...places].map((at) => this.places.get(at)).filter(Boolean);
    for (const cell of this.marked) cell.classList.add('used');
  }

  /** rows are the numbers as a table, with names. */
  rows() {
    const { shape, data } = this.value;
    const columns = shape.at(-1) ?? 1;
    const head = ['', ...Array.from({ length: columns }, (_, j) => this.names.columns?.[j] ?? j)];
    const out = [head];
    for (let at = 0; at < data.length; at += columns) {
      const i = (at / columns) % (shape.at(-2) ?? 1);
      const block = shape.length > 2 ? `${this.names.blocks?.[Math.floor(at / columns / shape[1])] ?? ''} ` : '';
      out.push([block + (this.names.rows?.[i] ?? (shape.length > 1 ? i : '')), ...data.subarray(at, at + columns)]);
    }
    return out;
  }
}
