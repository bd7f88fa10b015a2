// A field as tiles of colours. Visible tiles are computed in small portions of time.

/** @typedef {import('./colours.js').Scale} Scale */
/**
 * Field is a matrix of numbers, NaN where a mask hides: row writes those of some columns of a row, weight returns one,
 * and largest the largest of a row. An overview has the largest weight of each block of 2^level rows and columns.
 * @typedef {{ T: number, S: number, row(t: number, s0: number, s1: number, out: Float32Array): void,
 *   weight?(t: number, s: number): number, largest?(t: number): number,
 *   overview?: { level: number, rows: number, cols: number, weights: Float32Array } | null }} Field
 */
/**
 * View is the visible part of a field: the size of a cell, the position of the first cell, and the frame around the
 * visible part.
 * @typedef {{ cell: number, x: number, y: number, left: number, top: number, width: number, height: number }} View
 */
/** @typedef {{ key: string, level: number, steps: Iterator<void, void> }} Job */

const tileSide = 128; // cells, or blocks of cells
const maxTiles = 400;
const frame = 40; // ms of work in one portion
const moving = 8; // ms while the reader zooms or pans

/** levelOf returns the number of halvings after which a block has at least one pixel. */
export function levelOf(/** @type {number} */ cell) {
  return Math.max(0, Math.ceil(-Math.log2(cell * (devicePixelRatio || 1)) - 1e-9));
}

/**
 * cellAt returns the row and the column at a point of a view, or null if no cell is there.
 * @param {View} view
 * @param {Field} field
 * @param {number} x
 * @param {number} y
 * @returns {[number, number] | null}
 */
export function cellAt(view, { T, S }, x, y) {
  if (x < view.left || y < view.top) return null;
  const t = Math.floor((y - view.y) / view.cell);
  const s = Math.floor((x - view.x) / view.cell);
  return t >= 0 && s >= 0 && t < T && s < S ? [t, s] : null;
}

/** Tiles draws the tiles of a field with a scale; again() is called when more tiles are available. */
export class Tiles {
  /**
   * @param {Field} field
   * @param {Scale} scale
   * @param {() => void} again
   */
  constructor(field, scale, again) {
    this.field = field;
    this.scale = scale;
    this.again = again;
    /** @type {Map<string, HTMLCanvasElement>} */
    this.tiles = new Map();
    /** @type {[number, number, number][]} the levels, rows and columns of tiles that are missing */
    this.queue = [];
    /** @type {Job | null} the tile that is being computed */
    this.job = null;
    this.moved = -Infinity;
    this.working = false;
    this.closed = false;
  }

  /**
   * draw draws the available visible tiles and requests the missing ones. It returns whether none is missing.
   * @param {CanvasRenderingContext2D} c
   * @param {View} view
   */
  draw(c, view) {
    const level = levelOf(view.cell);
    const block = 2 ** level;
    const { T, S } = this.field;
    const side = tileSide * block;
    c.imageSmoothingEnabled = false;
    let missing = false;
    this.queue = [];
    if (this.job?.level !== level) this.job = null;
    const first = (/** @type {number} */ origin, /** @type {number} */ low) =>
      Math.max(0, Math.floor((low - origin) / view.cell / side));
    for (let i = first(view.y, view.top); i * side < T && view.y + i * side * view.cell < view.height; i++) {
      for (let j = first(view.x, view.left); j * side < S && view.x + j * side * view.cell < view.width; j++) {
        const key = `${level} ${i} ${j}`;
        const tile = this.tiles.get(key);
        if (!tile) {
          missing = true;
          if (this.job?.key !== key) this.queue.push([level, i, j]);
          continue;
        }
        const size = block * view.cell;
        // Whole device pixels for the edges of tiles, so that no seam shows.
        const x = Math.round((view.x + j * side * view.cell) * 8) / 8;
        const y = Math.round((view.y + i * side * view.cell) * 8) / 8;
        c.drawImage(tile, 0, 0, tile.width, tile.height, x, y, tile.width * size, tile.height * size);
      }
    }
    this.work();
    return !missing;
  }

  /** work computes missing tiles. */
  work() {
    if (this.working || this.closed || (!this.queue.length && !this.job)) return;
    this.working = true;
    requestAnimationFrame(() => {
      this.working = false;
      if (this.closed) return;
      const until = performance.now() + (performance.now() - this.moved < 200 ? moving : frame);
      let done = 0;
      while (performance.now() < until) {
        if (!this.job) {
          const next = this.queue.shift();
          if (!next) break;
          this.job = { key: next.join(' '), level: next[0], steps: this.tile(...next) };
        }
        if (this.job.steps.next().done) {
          this.job = null;
          done++;
        }
      }
      if (done)
        this.again(); // which requests the missing tiles
      else this.work();
    });
  }

  /**
   * tile computes a tile row by row.
   * @param {number} level
   * @param {number} i
   * @param {number} j
   * @returns {Generator<void, void>}
   */
  *tile(level, i, j) {
    const { field } = this;
    const side = tileSide * 2 ** level;
    const [t0, s0] = [i * side, j * side];
    const t1 = Math.min(field.T, t0 + side);
    const s1 = Math.min(field.S, s0 + side);
    const rows = Math.ceil((t1 - t0) / 2 ** level);
    const cols = Math.ceil((s1 - s0) / 2 ** level);
    const values = new Float32Array(rows * cols).fill(NaN);
    const add = (/** @type {Float32Array} */ row, /** @type {number} */ t, /** @type {number} */ down) => {
      const base = ((t - (t0 >> down)) >> (level - down)) * cols;
      for (let s = 0; s < row.length; s++) {
        const v = row[s];
        const at = base + (s >> (level - down));
        const before = values[at];
        if (v === v && !(Math.abs(before) >= Math.abs(v))) values[at] = v;
      }
    };
    const { overview } = field;
    if (overview && overview.level <= level) {
      const o = overview.level;
      for (let t = t0 >> o; t < overview.rows && t << o < t1; t++) {
        const from = t * overview.cols;
        const to = Math.min(from + overview.cols, from + Math.ceil(s1 / 2 ** o));
        add(overview.weights.subarray(from + (s0 >> o), to), t, o);
      }
    } else {
      const row = new Float32Array(s1 - s0);
      for (let t = t0; t < t1; t++) {
        field.row(t, s0, s1, row);
        add(row, t, 0);
        if ((t & 7) === 7) yield;
      }
    }
    if (this.scale.perRow) this.divide(values, level, t0, cols);
    if (this.tiles.size >= maxTiles) this.tiles.delete([...this.tiles.keys()][0]);
    const canvas = document.createElement('canvas');
    this.scale.draw(canvas, values, rows, cols);
    this.tiles.set(`${level} ${i} ${j}`, canvas);
  }

  /**
   * divide divides blocks of weights by the largest weight of their rows.
   * @param {Float32Array} values
   * @param {number} level
   * @param {number} t0
   * @param {number} cols
   */
  divide(values, level, t0, cols) {
    for (let i = 0; i * cols < values.length; i++) {
      let most = 0;
      const to = Math.min(this.field.T, t0 + ((i + 1) << level));
      for (let t = t0 + (i << level); t < to; t++) most = Math.max(most, this.field.largest?.(t) ?? 0);
      for (let at = i * cols; at < (i + 1) * cols; at++) values[at] /= most || 1;
    }
  }

  /** close ends the work. */
  close() {
    this.closed = true;
  }
}
