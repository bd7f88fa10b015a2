// A matrix as colours: zoom, pan, tiles computed when they are seen, labels, and a cell that is chosen.

import { hidden } from './colours.js';
import { select, zoom, zoomIdentity } from './d3.js';
import { fill, h, shown, svg } from './dom.js';

const tileSide = 128; // cells, or blocks of cells
const maxTiles = 400;
const frame = 40; // ms of work at a time
const moving = 8; // ms of it while somebody zooms or pans
const mostNamed = 64; // tokens that all stand at the axes
const around = 40; // tokens on each side of the one that is told

/** short writes a number in a cell. */
function short(v) {
  const a = Math.abs(v);
  if (a > 0 && a < 0.005) return v < 0 ? '>−.01' : '<.01';
  return v.toFixed(2).replace('0.', '.').replace('-', '−');
}

/** HeatMap draws a field: {T, S, row(t, s0, s1, out)}, NaN for hidden pairs; perhaps with an overview of blocks,
 * {level, rows, cols, weights}. */
export class HeatMap {
  /** options: rows and cols (tokens), label, onhover(t, s), onselect(t, s), ondetail(t, s), height */
  constructor(options) {
    this.options = options;
    this.canvas = h('canvas', {
      tabindex: 0,
      role: 'application',
      'aria-roledescription': 'heat map',
      'aria-label': options.label,
    });
    this.beside = h('div', { class: 'beside', 'aria-hidden': 'true' });
    this.element = h('div', { class: 'heatmap' }, this.canvas, this.beside);
    this.tiles = new Map();
    this.queue = [];
    this.cell = null;
    this.zoom = zoom().on('zoom', (e) => {
      this.transform = e.transform;
      if (e.sourceEvent) this.moved = performance.now();
      this.draw();
    });
    this.moved = -Infinity;
    this.transform = zoomIdentity;
    select(this.canvas).call(this.zoom).on('dblclick.zoom', null);
    this.canvas.addEventListener('pointermove', (e) => this.hover(e));
    this.canvas.addEventListener('pointerleave', () => {
      this.options.onhover?.(null);
      this.tell(this.cell);
    });
    this.canvas.addEventListener('click', (e) => {
      const at = this.at(e);
      if (at) this.options.onselect?.(...at);
    });
    this.canvas.addEventListener('dblclick', (e) => {
      const at = this.at(e);
      if (at) this.options.ondetail?.(...at);
    });
    this.canvas.addEventListener('keydown', (e) => this.key(e));
    this.resized = new ResizeObserver(() => this.resize());
    this.resized.observe(this.element);
  }

  /** show draws a field with a scale. */
  show(field, scale, cell) {
    this.field = field;
    this.scale = scale;
    this.cell = cell ?? null;
    this.tiles.clear();
    this.queue = [];
    this.job = null;
    this.resize();
    this.tell(this.cell);
  }

  /** choose marks a cell. */
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
    this.left = this.margin(this.options.rows, T);
    this.top = this.margin(this.options.cols, S);
    const fit = (width - this.left - 1) / S;
    const most = this.options.height ?? Math.max(240, Math.min(620, innerHeight - 300));
    this.fit = Math.min(fit, 48, Math.max((most - this.top) / T, 0.02));
    const height = Math.ceil(Math.min(most, this.top + T * this.fit + 1));
    const cssWidth = Math.ceil(Math.min(width, this.left + S * this.fit + 1));
    const ratio = devicePixelRatio || 1;
    this.canvas.width = Math.round(cssWidth * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.width = `${cssWidth}px`;
    this.canvas.style.height = `${height}px`;
    this.width = cssWidth;
    this.height = height;
    /** @type {[[number, number], [number, number]]} */
    const limits = [
      [this.left, this.top],
      [cssWidth, height],
    ];
    this.zoom
      .extent(limits)
      .scaleExtent([1, Math.max(1, 64 / this.fit)])
      .translateExtent([
        [this.left, this.top],
        [this.left + S * this.fit, this.top + T * this.fit],
      ]);
    select(this.canvas).call(this.zoom.transform, this.transform);
  }

  /** margin returns the room for labels. */
  margin(tokens, n) {
    const longest = Math.min(10, Math.max(...tokens.slice(0, 2000).map((t) => shown(t).length), String(n).length));
    return 14 + 7 * longest;
  }

  /** geometry returns the size of a cell and the place of the first. */
  geometry() {
    const { k, x, y } = this.transform;
    return { cell: this.fit * k, x: this.left * k + x, y: this.top * k + y };
  }

  /** at returns the query and the key under the pointer. */
  at(e) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [e.clientX - box.left, e.clientY - box.top];
    if (!this.field || x < this.left || y < this.top) return null;
    const g = this.geometry();
    const t = Math.floor((y - g.y) / g.cell);
    const s = Math.floor((x - g.x) / g.cell);
    return t >= 0 && s >= 0 && t < this.field.T && s < this.field.S ? [t, s] : null;
  }

  hover(e) {
    const at = this.at(e);
    this.over = at;
    this.options.onhover?.(at);
    this.tell(at ?? this.cell);
  }

  /** isNamed reports whether all tokens stand at the axes. Else the text around a cell stands beside the picture. */
  isNamed() {
    return Math.max(this.field.T, this.field.S) <= mostNamed;
  }

  /** tell writes the text around the query and the key of a cell, if the axes have no room for it. */
  tell(cell) {
    if (!this.field || this.isNamed() || this.options.numbered) {
      fill(this.beside);
      return;
    }
    const [t, s] = cell ?? [0, 0];
    const line = (name, tokens, at) => {
      const part = (from, to) =>
        tokens
          .slice(Math.max(0, from), to)
          .map((token) => shown(token))
          .join('');
      return h(
        'p',
        {},
        h('span', { class: 'rowname' }, name),
        at > around ? '…' : '',
        part(at - around, at),
        cell ? h('b', {}, part(at, at + 1)) : part(at, at + 1),
        part(at + 1, at + around),
        at + around < tokens.length ? '…' : '',
      );
    };
    fill(this.beside, line('query', this.options.rows, t), line('key', this.options.cols, s));
  }

  key(e) {
    const moves = {
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
      PageUp: [-10, 0],
      PageDown: [10, 0],
    };
    const { T, S } = this.field ?? {};
    if (!T) return;
    this.moved = performance.now();
    if (e.key in moves && !e.ctrlKey && !e.altKey && !e.metaKey) {
      const [dt, ds] = moves[e.key];
      const far = e.shiftKey ? 10 : 1;
      const [t, s] = this.cell ?? [0, 0];
      const clamp = (v, n) => Math.max(0, Math.min(n - 1, v));
      this.choose(clamp(t + dt * far, T), clamp(s + ds * far, S));
      this.options.onselect?.(...this.cell);
    } else if (e.key === '+' || e.key === '=') select(this.canvas).call(this.zoom.scaleBy, 1.5);
    else if (e.key === '-') select(this.canvas).call(this.zoom.scaleBy, 1 / 1.5);
    else if (e.key === '0') select(this.canvas).call(this.zoom.transform, zoomIdentity);
    else if (e.key === 'Enter' && this.cell) this.options.ondetail?.(...this.cell);
    else return;
    e.preventDefault();
  }

  /** reveal pans so that the chosen cell is seen. */
  reveal() {
    if (!this.field || !this.fit) return;
    const g = this.geometry();
    const [t, s] = this.cell;
    const [x, y] = [g.x + s * g.cell, g.y + t * g.cell];
    const isBelow = x >= this.left - 0.5 && y >= this.top - 0.5;
    if (isBelow && x + g.cell <= this.width + 1 && y + g.cell <= this.height + 1) return;
    const k = this.transform.k;
    select(this.canvas).call(this.zoom.translateTo, this.left + (s + 0.5) * this.fit, this.top + (t + 0.5) * this.fit, [
      (this.left + this.width) / 2,
      (this.top + this.height) / 2,
    ]);
    if (this.transform.k !== k) this.draw();
  }

  /** level is how often cells are halved so that a block is a pixel or more. */
  level(cell) {
    return Math.max(0, Math.ceil(-Math.log2(cell * (devicePixelRatio || 1)) - 1e-9));
  }

  draw() {
    if (!this.field || !this.width) return;
    const c = this.canvas.getContext('2d');
    const ratio = devicePixelRatio || 1;
    const styles = getComputedStyle(document.documentElement);
    const paper = styles.getPropertyValue('--paper');
    const ink = styles.getPropertyValue('--ink');
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.fillStyle = paper;
    c.fillRect(0, 0, this.width, this.height);
    const g = this.geometry();
    Object.assign(this.canvas.dataset, { cell: g.cell, x: g.x, y: g.y, level: this.level(g.cell) });
    c.save();
    c.beginPath();
    c.rect(this.left, this.top, this.width - this.left, this.height - this.top);
    c.clip();
    this.drawTiles(c, g);
    if (g.cell >= 34) this.drawNumbers(c, g);
    this.drawCell(c, g);
    c.restore();
    c.fillStyle = ink;
    this.drawLabels(c, g);
    this.work();
  }

  drawTiles(c, g) {
    const level = this.level(g.cell);
    const block = 2 ** level;
    const { T, S } = this.field;
    const side = tileSide * block;
    c.imageSmoothingEnabled = false;
    let missing = false;
    this.queue = [];
    if (this.job && this.jobLevel !== level) this.job = null;
    const first = (origin, low) => Math.max(0, Math.floor((low - origin) / g.cell / side));
    for (let i = first(g.y, this.top); i * side < T && g.y + i * side * g.cell < this.height; i++) {
      for (let j = first(g.x, this.left); j * side < S && g.x + j * side * g.cell < this.width; j++) {
        const tile = this.tiles.get(`${level} ${i} ${j}`);
        if (!tile) {
          missing = true;
          if (!this.job || this.jobKey !== `${level} ${i} ${j}`) this.queue.push([level, i, j]);
          continue;
        }
        const size = block * g.cell;
        // Whole device pixels for the edges of tiles, so that no seam shows.
        const x = Math.round((g.x + j * side * g.cell) * 8) / 8;
        const y = Math.round((g.y + i * side * g.cell) * 8) / 8;
        c.drawImage(tile, 0, 0, tile.width, tile.height, x, y, tile.width * size, tile.height * size);
      }
    }
    this.canvas.dataset.ready = missing ? '' : 'yes';
  }

  drawNumbers(c, g) {
    const { T, S } = this.field;
    c.font = '11px system-ui, sans-serif';
    c.textAlign = 'center';
    c.textBaseline = 'middle';
    const row = new Float32Array(S);
    const s0 = Math.max(0, Math.floor((this.left - g.x) / g.cell));
    const s1 = Math.min(S, Math.ceil((this.width - g.x) / g.cell));
    const t1 = Math.min(T, Math.ceil((this.height - g.y) / g.cell));
    for (let t = Math.max(0, Math.floor((this.top - g.y) / g.cell)); t < t1; t++) {
      this.field.row(t, s0, s1, row);
      for (let s = s0; s < s1; s++) {
        const v = row[s - s0];
        if (Number.isNaN(v)) continue;
        c.fillStyle = this.scale.ink(this.scale.part(v, this.field, t));
        c.globalAlpha = Math.abs(v) < 0.005 ? 0.4 : 1; // what is nothing is quiet
        c.fillText(short(v), g.x + (s + 0.5) * g.cell, g.y + (t + 0.5) * g.cell);
      }
    }
    c.globalAlpha = 1;
  }

  drawCell(c, g) {
    if (!this.cell) return;
    const [t, s] = this.cell;
    const size = Math.max(g.cell, 4);
    c.lineWidth = 3;
    c.strokeStyle = '#000';
    c.strokeRect(g.x + s * g.cell - 1, g.y + t * g.cell - 1, size + 2, size + 2);
    c.lineWidth = 1.5;
    c.strokeStyle = '#fff';
    c.strokeRect(g.x + s * g.cell - 1, g.y + t * g.cell - 1, size + 2, size + 2);
  }

  drawLabels(c, g) {
    const isNamed = this.isNamed();
    const size = isNamed ? Math.max(6, Math.min(12, g.cell + 1)) : 12;
    c.font = `${size}px ui-monospace, monospace`;
    c.textBaseline = 'middle';
    const every = isNamed ? 1 : Math.max(1, Math.ceil(13 / g.cell));
    const step = every === 1 ? 1 : ([2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000].find((n) => n >= every) ?? every);
    const text = (tokens, i) => (step === 1 ? shown(tokens[i]).slice(0, 10) : String(i));
    const { T, S } = this.field;
    c.textAlign = 'right';
    for (let t = 0; t < T; t += step) {
      const y = g.y + (t + 0.5) * g.cell;
      if (y > this.top && y < this.height) c.fillText(text(this.options.rows, t), this.left - 4, y);
    }
    c.textAlign = 'left';
    for (let s = 0; s < S; s += step) {
      const x = g.x + (s + 0.5) * g.cell;
      if (x <= this.left || x >= this.width) continue;
      c.save();
      c.translate(x, this.top - 4);
      c.rotate(-Math.PI / 2);
      c.fillText(text(this.options.cols, s), 0, 0);
      c.restore();
    }
  }

  /** work computes missing tiles, a little at a time. */
  work() {
    if (this.working || (!this.queue.length && !this.job)) return;
    this.working = true;
    requestAnimationFrame(() => {
      this.working = false;
      const until = performance.now() + (performance.now() - this.moved < 200 ? moving : frame);
      let done = 0;
      while (performance.now() < until) {
        if (!this.job) {
          const next = this.queue.shift();
          if (!next) break;
          this.job = this.tile(...next);
          this.jobLevel = next[0];
          this.jobKey = next.join(' ');
        }
        if (this.job.next().done) {
          this.job = null;
          done++;
        }
      }
      if (done)
        this.draw(); // which asks for the tiles that are still missing
      else this.work();
    });
  }

  /** tile computes a tile row by row. */
  *tile(level, i, j) {
    const { field, scale } = this;
    const block = 2 ** level;
    const side = tileSide * block;
    const [t0, s0] = [i * side, j * side];
    const t1 = Math.min(field.T, t0 + side);
    const s1 = Math.min(field.S, s0 + side);
    const rows = Math.ceil((t1 - t0) / block);
    const cols = Math.ceil((s1 - s0) / block);
    const values = new Float32Array(rows * cols).fill(NaN);
    const add = (row, t, down) => {
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
    if (scale.perRow) this.divide(values, level, t0, cols);
    const canvas = document.createElement('canvas');
    canvas.width = cols;
    canvas.height = rows;
    const c = canvas.getContext('2d');
    const image = c.createImageData(cols, rows);
    scale.paint(values, image);
    c.putImageData(image, 0, 0);
    if (this.field !== field || this.scale !== scale) return;
    if (this.tiles.size >= maxTiles) this.tiles.delete(this.tiles.keys().next().value);
    this.tiles.set(`${level} ${i} ${j}`, canvas);
  }

  /** divide divides blocks of weights by the largest weight of their rows. */
  divide(values, level, t0, cols) {
    for (let i = 0; i * cols < values.length; i++) {
      let most = 0;
      const to = Math.min(this.field.T, t0 + ((i + 1) << level));
      for (let t = t0 + (i << level); t < to; t++) most = Math.max(most, this.field.largest(t));
      for (let at = i * cols; at < (i + 1) * cols; at++) values[at] /= most || 1;
    }
  }

  /** svg returns the whole matrix as SVG: cells as rectangles, or, of many, as one picture. */
  svg() {
    const { T, S } = this.field;
    const many = T * S > 1 << 14;
    const cell = many ? Math.max(1, Math.round(600 / Math.max(T, S))) : 18;
    const [left, top] = [this.left, this.top];
    const root = svg('svg', { viewBox: `0 0 ${left + S * cell} ${top + T * cell}`, class: 'offscreen' });
    const text = (tokens, i) => shown(tokens[i]).slice(0, 10);
    const row = new Float32Array(S);
    const canvas = h('canvas', { width: S, height: T });
    const image = many ? canvas.getContext('2d').createImageData(S, T) : null;
    for (let t = 0; t < T; t++) {
      this.field.row(t, 0, S, row);
      for (let s = 0; s < S; s++) {
        const colour = Number.isNaN(row[s]) ? hidden() : this.scale.colour(this.scale.part(row[s], this.field, t));
        if (many) image.data.set([...colour, 255], 4 * (t * S + s));
        else {
          root.append(
            svg('rect', { x: left + s * cell, y: top + t * cell, width: cell, height: cell, fill: `rgb(${colour})` }),
          );
        }
      }
    }
    if (many) {
      canvas.getContext('2d').putImageData(image, 0, 0);
      root.append(
        svg('image', {
          x: left,
          y: top,
          width: S * cell,
          height: T * cell,
          href: canvas.toDataURL(),
          preserveAspectRatio: 'none',
        }),
      );
    }
    const step = Math.max(1, Math.ceil(13 / cell));
    for (let t = 0; t < T; t += step) {
      root.append(
        svg('text', { x: left - 4, y: top + (t + 0.7) * cell, 'text-anchor': 'end' }, text(this.options.rows, t)),
      );
    }
    for (let s = 0; s < S; s += step) {
      root.append(
        svg(
          'text',
          { transform: `translate(${left + (s + 0.7) * cell},${top - 4}) rotate(-90)` },
          text(this.options.cols, s),
        ),
      );
    }
    document.body.append(root); // for its computed style
    setTimeout(() => root.remove());
    return root;
  }

  /** repaint draws all anew, as when light turns to dark. */
  repaint() {
    this.tiles.clear();
    this.draw();
  }

  close() {
    this.resized.disconnect();
  }
}
