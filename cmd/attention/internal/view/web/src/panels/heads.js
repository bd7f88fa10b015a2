// Heads: all heads as thumbnails, and one of them large.
import { HeatMap } from '../heatmap.js';
import { hidden, Scale } from '../colours.js';
import { choice, fill, h, number, visible } from '../dom.js';
import { legend } from '../picture.js';
import { see } from '../look.js';
import * as state from '../state.js';

export const heads = {
  name: 'heads',
  title: 'Heads',
  needs: (view) => view.models?.length > 0,
  show(element, view) {
    const panel = new Heads(element, view);
    panel.start();
    return () => panel.close();
  },
};

class Heads {
  constructor(element, view) {
    this.element = element;
    this.view = view;
  }

  async start() {
    const { element, view } = this;
    fill(element, h('p', { class: 'note', role: 'status' }, 'The model reads the text …'));
    try {
      this.look = await see({ model: 0, text: view.text });
    } catch (e) {
      fill(element, h('p', { class: 'error', role: 'alert' }, e.message));
      return;
    }
    if (this.closed) return;
    this.frame();
    this.ends = [state.onChange((changed) => {
      if (['layer', 'head', 'colour'].some(changed)) this.showHead();
      else if (['q', 'k'].some(changed)) this.choose();
    })];
    const repaint = () => { this.map?.repaint(); this.paintThumbnails(); };
    addEventListener('theme', repaint);
    this.ends.push(() => removeEventListener('theme', repaint));
    this.showHead();
    for (let layer = 0; layer < this.look.layers.length && !this.closed; layer++) await this.loadThumbnails(layer);
  }

  frame() {
    const { look } = this;
    this.thumbnails = look.layers.map((layer, i) => Array.from({ length: layer.heads }, (_, head) =>
      h('button', { type: 'button', class: 'thumbnail', 'aria-label': `layer ${i} head ${head}`,
        'data-layer': i, 'data-head': head, onclick: () => state.set({ layer: i, head }) },
      h('canvas', { width: 48, height: 48 }))));
    const grid = h('div', { class: 'grid', role: 'group', 'aria-label': 'layers and heads' },
      this.thumbnails.map((row, i) => h('div', { class: 'gridrow' },
        h('span', { class: 'rowname', title: look.layers[i].path }, String(i)), row)));
    this.title = h('h2', { class: 'head' });
    this.readout = h('p', { class: 'readout', 'aria-live': 'polite' });
    this.place = h('div', {});
    this.scalePlace = h('div', {});
    fill(this.element,
      h('div', { class: 'columns' },
        h('section', { 'aria-label': 'all heads' }, h('h2', {}, 'Layers and heads'), grid),
        h('section', { 'aria-label': 'one head', class: 'wide' }, this.title,
          h('div', { class: 'tools' }, choice('scale', [['1', 'to 1'], ['most', 'to the largest weight']],
            state.get('colour', '1'), (v) => state.set({ colour: v }))),
          this.readout, this.place, this.scalePlace)));
  }

  chosen() {
    const layer = state.int('layer', this.look.layers.length);
    return [layer, state.int('head', this.look.layers[layer].heads)];
  }

  async showHead() {
    const [layer, head] = this.chosen();
    for (const b of this.thumbnails.flat()) {
      b.setAttribute('aria-pressed', Number(b.dataset.layer) === layer && Number(b.dataset.head) === head);
    }
    const wanted = (this.wanted = `${layer} ${head}`);
    let loaded;
    try {
      loaded = await this.look.head(layer, head);
    } catch (e) {
      fill(this.place, h('p', { class: 'error', role: 'alert' }, e.message));
      return;
    }
    if (this.closed || this.wanted !== wanted) return; // another head was chosen meanwhile
    this.head = loaded;
    fill(this.title, `Layer ${layer}, head ${head}`);
    this.map?.close();
    this.map = new HeatMap({
      rows: this.look.queries(layer), cols: this.look.keys(layer), label: `weights of layer ${layer}, head ${head}`,
      onhover: (at) => this.read(at ?? this.cell()), onselect: (q, k) => state.set({ q, k }),
    });
    fill(this.place, this.map.element);
    const scale = new Scale(state.get('colour') === 'most' ? this.most() : 1);
    this.map.show(this.head, scale, this.cell());
    fill(this.scalePlace, legend(scale, 'weight'));
    this.read(this.cell());
  }

  most() {
    const row = new Float32Array(this.head.S);
    let most = 0;
    for (let t = 0; t < this.head.T; t++) {
      this.head.row(t, 0, row.length, row);
      for (const v of row) if (v > most) most = v;
    }
    return most;
  }

  cell() {
    if (!state.get('q')) return null;
    return [state.int('q', this.head.T), state.int('k', this.head.S)];
  }

  choose() {
    const cell = this.cell();
    if (cell) this.map.choose(...cell);
    this.read(cell);
  }

  read(at) {
    if (!at) {
      fill(this.readout, 'Point at a cell, or move with the arrow keys.');
      return;
    }
    const [t, s] = at;
    const [layer] = this.chosen();
    const w = this.head.weight(t, s);
    const pair = `${t} “${visible(this.look.queries(layer)[t].text)}” → ${s} “${visible(this.look.keys(layer)[s].text)}”: `;
    fill(this.readout, pair, Number.isNaN(w) ? 'hidden by the mask' :
      `weight ${number(w)}, score ${number(this.head.score(t, s))}`);
  }

  async loadThumbnails(layer) {
    try {
      const t = await this.look.thumbnails(layer);
      this.look.layers[layer].pictures = t;
      this.paintThumbnails(layer);
    } catch (e) {
      for (const b of this.thumbnails[layer]) b.title = e.message;
    }
  }

  paintThumbnails(only) {
    const scale = new Scale(1);
    this.look?.layers.forEach((layer, i) => {
      if (!layer.pictures || (only !== undefined && only !== i)) return;
      const { rows, cols, thumbnails } = layer.pictures;
      this.thumbnails[i].forEach((b, head) => {
        const canvas = b.querySelector('canvas');
        canvas.width = cols;
        canvas.height = rows;
        const c = canvas.getContext('2d');
        const image = c.createImageData(cols, rows);
        for (let p = 0; p < rows * cols; p++) {
          const v = thumbnails[head * rows * cols + p];
          const [r, g, bl] = v < 0 ? hidden() : scale.colour(v);
          image.data.set([r, g, bl, 255], 4 * p);
        }
        c.putImageData(image, 0, 0);
      });
    });
  }

  close() {
    this.closed = true;
    this.map?.close();
    for (const f of this.ends ?? []) f();
  }
}
