// Heads: all heads as thumbnails with their statistics, and one of them large.
import { busy } from '../busy.js';
import {
  chosen,
  headOf,
  layerName,
  modelChoice,
  nameOf,
  requestOf,
  scaleChoice,
  scaleOf,
  sharing,
  textsOf,
  wrong,
} from '../choose.js';
import { button, fill, h, keepFocus, number, shown } from '../dom.js';
import { HeatMap } from '../heatmap.js';
import { impliedNote, Norms } from '../implied.js';
import { forget, see } from '../look.js';
import { Newer } from '../newer.js';
import { legend } from '../picture.js';
import { saveMenu } from '../save.js';
import * as state from '../state.js';
import { Statistics } from '../statistics.js';
import { paintThumbnail, thumbnail } from '../thumbnails.js';

export const heads = {
  name: 'heads',
  title: 'Heads',
  needs: (view) => view.models?.length > 0,
  show(element, view) {
    const panel = new Heads(element, view);
    busy(panel.start());
    return () => panel.close();
  },
};

class Heads {
  constructor(element, view) {
    this.element = element;
    this.view = view;
    this.ends = [];
  }

  async start() {
    this.ends.push(
      state.onChange((changed) => {
        if (['model', 'text', 'then'].some(changed)) busy(this.load());
        else if (!this.look) return;
        else if (['layer', 'head', 'scale'].some(changed)) busy(this.showHead());
        else if (['q', 'k'].some(changed)) this.choose();
      }),
    );
    const repaint = () => {
      this.map?.repaint();
      this.paintThumbnails();
      this.paintLegend();
    };
    addEventListener('theme', repaint);
    this.ends.push(() => removeEventListener('theme', repaint));
    await this.load();
  }

  async load() {
    const { element, view } = this;
    const request = requestOf(view);
    this.look = this.wanted = null; // what is on its way is of another text or model
    this.map?.close();
    this.map = null;
    const wanted = (this.loading = {});
    const isOver = () => this.closed || this.loading !== wanted; // another text or model was chosen meanwhile
    fill(
      element,
      modelChoice(view),
      h(
        'p',
        { class: 'note', role: 'status' },
        `${view.models[request.model].name} reads the text. Here come all its heads ` +
          'as small pictures with statistics, and the weights of one of them, pair by pair.',
      ),
    );
    let look;
    try {
      look = await see(request);
    } catch (e) {
      if (!isOver()) fill(element, modelChoice(view), wrong(e.message));
      return;
    }
    if (isOver()) return;
    this.look = look;
    this.frame();
    await this.showHead();
    for (let layer = 0; layer < look.layers.length && this.shows(look); layer++) await this.loadThumbnails(layer);
  }

  frame() {
    const { look, view } = this;
    this.thumbnails = look.layers.map((layer, i) =>
      Array.from({ length: layer.heads }, (_, head) => thumbnail(i, head, () => state.set({ layer: i, head }))),
    );
    const means = look.layers.map(
      (layer, i) =>
        layer.heads > 1 &&
        button('mean', () => state.set({ layer: i, head: 'mean' }), {
          class: 'mean',
          'data-layer': i,
          'data-head': 'mean',
          'aria-label': `mean of the heads of layer ${i}`,
        }),
    );
    const grid = h(
      'div',
      {
        class: look.sequences.length > 1 ? 'grid named' : 'grid',
        role: 'group',
        tabindex: 0,
        'aria-label': 'layers and heads',
      },
      this.thumbnails.map((row, i) =>
        h(
          'div',
          { class: 'gridrow' },
          h('span', { class: 'rowname', title: look.layers[i].path }, layerName(look.layers[i], i)),
          row,
          means[i],
        ),
      ),
    );
    grid.addEventListener('keydown', (e) => this.gridKey(e));
    this.means = means.filter(Boolean);
    this.problem = h('div', {});
    this.statistics = new Statistics((layer, head) => state.set({ layer, head }));
    this.title = h('h2', { class: 'head' });
    this.texts = h('div', {});
    this.readout = h('p', { class: 'readout', 'aria-live': 'polite' });
    this.place = h('div', {});
    this.scalePlace = h('div', {});
    this.norms?.close();
    this.norms = new Norms();
    this.tools = h('div', { class: 'tools' });
    const model = view.models[look.model];
    fill(
      this.element,
      h(
        'div',
        { class: 'columns heads' },
        h(
          'section',
          { 'aria-label': 'all heads', class: 'side' },
          h('h2', {}, model.name),
          h('p', { class: 'note' }, model.title),
          modelChoice(view),
          model.live ? this.newerOf(look) : null,
          look.cut
            ? h(
                'p',
                { class: 'note' },
                `The text is longer than the model’s window: its first ${look.cut} tokens are not seen.`,
              )
            : null,
          grid,
          this.problem,
          this.statistics.element,
        ),
        h(
          'section',
          { 'aria-label': 'one head', class: 'wide' },
          this.title,
          this.texts,
          this.tools,
          this.readout,
          this.place,
          this.scalePlace,
          this.norms.element,
        ),
      ),
    );
  }

  /** newerOf is the line about the weights of a run that trains. */
  newerOf(look) {
    this.newer?.close();
    this.newer = new Newer(() => busy(this.lookAgain()), true);
    this.newer.show(look.steps);
    return this.newer.element;
  }

  /** lookAgain shows the heads of a run's weights of now, in the same place. */
  async lookAgain() {
    forget(this.look.request);
    const before = this.look;
    const look = await see(before.request);
    if (this.closed || this.look !== before) return;
    this.look = look;
    this.newer.show(look.steps);
    await this.showHead(true);
    const all = [];
    for (let layer = 0; layer < look.layers.length && this.shows(look); layer++) {
      all.push(...(await this.loadPictures(layer)));
    }
    if (this.shows(look)) this.statistics.replace(all);
  }

  /** shows reports whether a look is the one that is shown. */
  shows(look) {
    return !this.closed && this.look === look;
  }

  gridKey(e) {
    const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[e.key];
    const from = e.target.closest('.thumbnail');
    if (!move || !from) return;
    e.preventDefault();
    const to = this.thumbnails[Number(from.dataset.layer) + move[0]]?.[Number(from.dataset.head) + move[1]];
    to?.focus();
    to?.click();
  }

  /** showHead shows the chosen head; anew, in the place of its earlier weights if these are shown. */
  async showHead(anew = false) {
    const [layer, head] = chosen(this.look);
    for (const b of [...this.thumbnails.flat(), ...this.means]) {
      b.setAttribute('aria-pressed', String(Number(b.dataset.layer) === layer && b.dataset.head === String(head)));
    }
    this.statistics.choose(layer, head);
    const wanted = (this.wanted = {});
    let loaded;
    try {
      loaded = await headOf(this.look, layer, head);
    } catch (e) {
      if (this.wanted === wanted) fill(this.place, h('p', { class: 'error', role: 'alert' }, e.message));
      return;
    }
    if (this.closed || this.wanted !== wanted) return; // another head was chosen meanwhile
    this.head = loaded;
    if (this.newer && this.newer.steps !== this.look.steps) this.newer.show(this.look.steps);
    fill(this.title, nameOf(this.look, layer, head));
    const about = impliedNote(this.look.layers[layer]);
    fill(this.texts, textsOf(this.look, layer), sharing(this.look, layer, head), about);
    this.norms.show(loaded);
    const place = [layer, head].join(' ');
    const there = this.map && this.drawnAt === place;
    this.drawnAt = place;
    if (anew && there) {
      this.scale = scaleOf(loaded.signed);
      this.map.show(this.head, this.scale, this.cell());
      this.paintLegend();
      this.read(this.cell());
      return;
    }
    keepFocus(this.tools, () => this.showTools());
    this.map?.close();
    this.map = null;
    this.showMap(layer, head);
    this.read(this.cell());
  }

  showTools() {
    const [layer, head] = chosen(this.look);
    const name = () => `layer-${layer}-head-${head}`;
    const picture = () => ({ canvas: this.map.canvas, svg: () => this.map.svg() });
    fill(
      this.tools,
      scaleChoice(),
      saveMenu(name, picture, this.head.T * this.head.S <= 1 << 20 && (() => this.table())),
      head !== 'mean' ? button('One pair', () => state.set({ panel: 'pair' })) : null,
    );
  }

  showMap(layer, head) {
    this.map = new HeatMap({
      rows: this.look.queries(layer),
      cols: this.look.keys(layer),
      label: `weights of ${nameOf(this.look, layer, head).toLowerCase()}`,
      onhover: (at) => this.read(at ?? this.cell()),
      onselect: (q, k) => state.set({ q, k }),
      ondetail: (q, k) => state.set({ q, k, panel: 'pair' }),
    });
    fill(this.place, this.map.element);
    this.scale = scaleOf(this.head.signed);
    this.map.show(this.head, this.scale, this.cell());
    this.paintLegend();
  }

  paintLegend() {
    if (this.map && this.scale) fill(this.scalePlace, legend(this.scale, 'weight'));
  }

  table() {
    const [layer] = chosen(this.look);
    const row = new Float32Array(this.head.S);
    return [
      ['query \\ key', ...this.look.keys(layer).map((t) => t.text)],
      ...this.look.queries(layer).map((token, t) => {
        this.head.row(t, 0, row.length, row);
        return [token.text, ...row];
      }),
    ];
  }

  cell() {
    if (!state.get('q')) return null;
    return [state.int('q', this.head.T), state.int('k', this.head.S)];
  }

  choose() {
    if (!this.head) return;
    const cell = this.cell();
    if (cell) this.map?.choose(...cell);
    this.read(cell);
  }

  read(at) {
    if (!at) {
      fill(
        this.readout,
        'Point at or tap a cell, or focus the picture and move with the arrow keys; ' +
          '+ and − zoom, 0 shows all, Enter shows the pair.',
      );
      return;
    }
    const [t, s] = at;
    const [layer] = chosen(this.look);
    const w = this.head.weight(t, s);
    const [query, key] = [this.look.queries(layer)[t], this.look.keys(layer)[s]];
    const pair = `query ${t} “${shown(query)}” → key ${s} “${shown(key)}”: `;
    const score = this.head.score ? `, score ${number(this.head.score(t, s))}` : '';
    fill(this.readout, pair, Number.isNaN(w) ? 'hidden by the mask' : `weight ${number(w)}${score}`);
  }

  async loadThumbnails(layer) {
    const { look } = this;
    const found = await this.loadPictures(layer);
    if (this.shows(look)) this.statistics.add(found);
  }

  /** loadPictures paints the thumbnails of a layer and returns its heads with their statistics. */
  async loadPictures(layer) {
    const { look } = this;
    try {
      const t = await look.thumbnails(layer);
      if (!this.shows(look)) return [];
      look.layers[layer].pictures = t;
      fill(this.problem);
      this.paintThumbnails(layer);
      return t.statistics.map((s, head) => ({ layer, head, statistics: s }));
    } catch (e) {
      if (this.shows(look)) fill(this.problem, h('p', { class: 'error', role: 'alert' }, e.message));
      return [];
    }
  }

  paintThumbnails(only) {
    this.look?.layers.forEach((layer, i) => {
      if (!layer.pictures || (only !== undefined && only !== i)) return;
      this.thumbnails[i].forEach((b, head) => paintThumbnail(b, layer.pictures, head));
    });
  }

  close() {
    this.closed = true;
    this.newer?.close();
    this.map?.close();
    this.norms?.close();
    for (const f of this.ends) f();
  }
}
