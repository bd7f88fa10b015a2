// A matrix as colours: zoom, pan, and a cell that is chosen.
import { drawCell, drawLabels, drawNumbers, isNamed, margin } from './axes.js';
import { Beside } from './beside.js';
import { select, zoom, zoomIdentity } from './d3.js';
import { h } from './dom.js';
import { arrows, isPlain } from './keys.js';
import { mapSVG } from './mapsvg.js';
import { cellAt, levelOf, Tiles } from './tiles.js';

/** @typedef {import('./colours.js').Scale} Scale */
/** @typedef {import('./dom.js').Named} Named */
/** @typedef {import('./tiles.js').Field} Field */
/** @typedef {[number, number]} Cell a row and a column */
/**
 * Options are the tokens of rows and columns, or numbered ones, which need no text beside the map; the name of the map;
 * its height in pixels; and three functions. They are called with the cell under the pointer or null, with the chosen
 * cell, and with a cell whose numbers the reader requests.
 * @typedef {{ rows: Named[], cols: Named[], numbered?: boolean, label: string, height?: number,
 *   onhover?(at: Cell | null): void, onselect?(t: number, s: number): void,
 *   ondetail?(t: number, s: number): void }} Options
 */

/** @type {Record<string, Cell>} */
const moves = { ...arrows, PageUp: [-10, 0], PageDown: [10, 0] };

/** HeatMap draws a field. */
export class HeatMap {
  /** @param {Options} options */
  constructor(options) {
    this.options = options;
    this.canvas = h('canvas', {
      tabindex: 0,
      role: 'application',
      'aria-roledescription': 'heat map',
      'aria-label': options.label,
    });
    this.beside = new Beside();
    this.element = h('div', { class: 'heatmap' }, this.canvas, this.beside.element);
    /** @type {Tiles | null} */
    this.tiles = null;
    /** @type {Cell | null} */
    this.cell = null;
    this.left = this.top = this.width = this.height = this.fit = 0;
    this.transform = zoomIdentity;
    /** @type {import('d3-zoom').ZoomBehavior<HTMLCanvasElement, unknown>} */
    this.zoom = zoom();
    this.zoom.on('zoom', (e) => {
      this.transform = e.transform;
      if (e.sourceEvent && this.tiles) this.tiles.moved = performance.now();
      this.draw();
    });
    select(this.canvas).call(this.zoom).on('dblclick.zoom', null);
    this.listen();
    this.resized = new ResizeObserver(() => this.resize());
    this.resized.observe(this.element);
  }

  listen() {
    const { canvas, options } = this;
    canvas.addEventListener('pointermove', (e) => {
      const at = this.at(e);
      options.onhover?.(at);
      this.tell(at ?? this.cell);
    });
    canvas.addEventListener('pointerleave', () => {
      options.onhover?.(null);
      this.tell(this.cell);
    });
    const calls = (/** @type {'click' | 'dblclick'} */ event, /** @type {((...at: Cell) => void) | undefined} */ act) =>
      canvas.addEventListener(event, (e) => {
        const at = this.at(e);
        if (at) act?.(...at);
      });
    calls('click', options.onselect);
    calls('dblclick', options.ondetail);
    canvas.addEventListener('keydown', (e) => this.key(e));
  }

  /** field is the matrix that is drawn. */
  get field() {
    return this.tiles?.field ?? null;
  }

  /**
   * show draws a field with a scale, and marks a cell.
   * @param {Field} field
   * @param {Scale} scale
   * @param {Cell | null} cell
   */
  show(field, scale, cell = null) {
    this.tiles?.close();
    this.tiles = new Tiles(field, scale, () => this.draw());
    this.cell = cell;
    this.resize();
    this.tell(this.cell);
  }

  /**
   * choose marks a cell.
   * @param {number} t
   * @param {number} s
   */
  choose(t, s) {
    this.cell = [t, s];
    this.tell(this.cell);
    this.reveal();
    this.draw();
  }

  resize() {
    if (!this.field) return;
    const width = Math.max(200, this.element.clientWidth);
    const { T, S } = this.field;
    this.left = margin(this.options.rows, T);
    this.top = margin(this.options.cols, S);
    const fit = (width - this.left - 1) / S;
    const most = this.options.height ?? Math.max(240, Math.min(620, innerHeight - 300));
    this.fit = Math.min(fit, 48, Math.max((most - this.top) / T, 0.02));
    this.height = Math.ceil(Math.min(most, this.top + T * this.fit + 1));
    this.width = Math.ceil(Math.min(width, this.left + S * this.fit + 1));
    const ratio = devicePixelRatio || 1;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${this.height}px`;
    this.zoom
      .extent([
        [this.left, this.top],
        [this.width, this.height],
      ])
      .scaleExtent([1, Math.max(1, 64 / this.fit)])
      .translateExtent([
        [this.left, this.top],
        [this.left + S * this.fit, this.top + T * this.fit],
      ]);
    select(this.canvas).call(this.zoom.transform, this.transform);
  }

  /**
   * view returns the visible part of the field.
   * @returns {import('./tiles.js').View}
   */
  view() {
    const { k, x, y } = this.transform;
    const { left, top, width, height } = this;
    return { cell: this.fit * k, x: left * k + x, y: top * k + y, left, top, width, height };
  }

  /** at returns the cell under the pointer. */
  at(/** @type {MouseEvent} */ e) {
    const box = this.canvas.getBoundingClientRect();
    return this.field && cellAt(this.view(), this.field, e.clientX - box.left, e.clientY - box.top);
  }

  /**
   * tell writes the text around a cell if the axes have no space for it.
   * @param {Cell | null} cell
   */
  tell(cell) {
    const { rows, cols, numbered } = this.options;
    if (!this.field || isNamed(this.field) || numbered) this.beside.clear();
    else this.beside.tell(rows, cols, cell);
  }

  /** key moves the chosen cell, zooms, or requests the numbers of the cell. */
  key(/** @type {KeyboardEvent} */ e) {
    if (!this.field || !this.tiles) return;
    this.tiles.moved = performance.now();
    const canvas = select(this.canvas);
    if (e.key in moves && isPlain(e)) this.move(moves[e.key], e.shiftKey ? 10 : 1);
    else if (e.key === '+' || e.key === '=') canvas.call(this.zoom.scaleBy, 1.5);
    else if (e.key === '-') canvas.call(this.zoom.scaleBy, 1 / 1.5);
    else if (e.key === '0') canvas.call(this.zoom.transform, zoomIdentity);
    else if (e.key === 'Enter' && this.cell) this.options.ondetail?.(...this.cell);
    else return;
    e.preventDefault();
  }

  /**
   * move chooses a cell that is some cells away.
   * @param {Cell} by
   * @param {number} times
   */
  move(by, times) {
    const { T, S } = /** @type {Field} */ (this.field);
    const [t, s] = this.cell ?? [0, 0];
    const clamp = (/** @type {number} */ v, /** @type {number} */ n) => Math.max(0, Math.min(n - 1, v));
    this.choose(clamp(t + by[0] * times, T), clamp(s + by[1] * times, S));
    if (this.cell) this.options.onselect?.(...this.cell);
  }

  /** reveal pans until the chosen cell is visible. */
  reveal() {
    if (!this.cell || !this.fit) return;
    const view = this.view();
    const [t, s] = this.cell;
    const [x, y] = [view.x + s * view.cell, view.y + t * view.cell];
    const isBelow = x >= this.left - 0.5 && y >= this.top - 0.5;
    if (isBelow && x + view.cell <= this.width + 1 && y + view.cell <= this.height + 1) return;
    select(this.canvas).call(this.zoom.translateTo, this.left + (s + 0.5) * this.fit, this.top + (t + 0.5) * this.fit, [
      (this.left + this.width) / 2,
      (this.top + this.height) / 2,
    ]);
  }

  draw() {
    const c = this.canvas.getContext('2d');
    if (!this.tiles || !this.width || !c) return;
    const { field, scale } = this.tiles;
    const ratio = devicePixelRatio || 1;
    const styles = getComputedStyle(document.documentElement);
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.fillStyle = styles.getPropertyValue('--paper');
    c.fillRect(0, 0, this.width, this.height);
    const view = this.view();
    const { cell, x, y } = view;
    Object.assign(this.canvas.dataset, { cell, x, y, level: levelOf(cell) });
    c.save();
    c.beginPath();
    c.rect(this.left, this.top, this.width - this.left, this.height - this.top);
    c.clip();
    this.canvas.dataset.ready = this.tiles.draw(c, view) ? 'yes' : '';
    drawNumbers(c, view, field, scale);
    drawCell(c, view, this.cell);
    c.restore();
    c.fillStyle = styles.getPropertyValue('--ink');
    drawLabels(c, view, field, this.options);
  }

  /** picture returns two forms for a file: the canvas, and the whole matrix as SVG. */
  picture = () => ({
    canvas: this.canvas,
    svg: () => {
      const { field, scale } = /** @type {Tiles} */ (this.tiles);
      return mapSVG(field, scale, this.options, this.left, this.top);
    },
  });

  /** repaint draws everything again, for example after a change from light to dark. */
  repaint() {
    this.tiles?.tiles.clear();
    this.draw();
  }

  close() {
    this.resized.disconnect();
    this.tiles?.close();
  }
}
