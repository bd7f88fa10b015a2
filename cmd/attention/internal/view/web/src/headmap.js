// A large map of all weights of one head, with their scale. One pair can be pointed at or chosen.
import { headOf, nameOf, scaleChoice, scaleOf, sharing, textsOf } from './choose.js';
import { button, fill, h, keepFocus, number, shown } from './dom.js';
import { HeatMap } from './heatmap.js';
import { impliedNote, isSigned, Norms } from './implied.js';
import { problem } from './panel.js';
import { legend } from './picture.js';
import { saveMenu } from './save.js';
import * as state from './state.js';

/** @typedef {import('./choose.js').HeadName} HeadName */
/** @typedef {import('./heatmap.js').Cell} Cell */
/** @typedef {import('./pass.js').Pass} Pass */
/** @typedef {{ pass: Pass, layer: number, of: import('./head.js').Head | import('./mean.js').Mean }} Shown */

const mostSaved = 1 << 20; // pairs of a table

const hint =
  'Point at or tap a cell, or focus the picture and move with the arrow keys; + and − zoom, 0 shows all, Enter shows ' +
  'the pair.';

/** HeadMap shows a head of a pass, or the mean of a layer's. */
export class HeadMap {
  constructor() {
    this.title = h('h2', { class: 'head' });
    this.texts = h('div', {});
    this.readout = h('p', { class: 'readout', 'aria-live': 'polite' });
    this.place = h('div', {});
    this.scalePlace = h('div', {});
    this.norms = new Norms();
    this.tools = h('div', { class: 'tools' });
    this.element = h(
      'section',
      { 'aria-label': 'one head', class: 'wide' },
      this.title,
      this.texts,
      this.tools,
      this.readout,
      this.place,
      this.scalePlace,
      this.norms.element,
    );
    this.wanted = {};
    this.drawn = '';
    this.closed = false;
    this.scale = scaleOf();
    /** @type {HeatMap | null} */
    this.map = null;
    /** @type {Shown | null} */
    this.shown = null;
  }

  /**
   * show shows a head; with anew it replaces the head's earlier weights if these are shown. It returns false if another
   * head was requested meanwhile.
   * @param {Pass} pass
   * @param {number} layer
   * @param {HeadName} head
   * @param {boolean} anew
   */
  async show(pass, layer, head, anew) {
    const wanted = (this.wanted = {});
    try {
      const of = await headOf(pass, layer, head);
      if (this.closed || this.wanted !== wanted) return false;
      this.shown = { pass, layer, of };
    } catch (e) {
      if (this.wanted === wanted) this.refuse(nameOf(pass, layer, head), e.message);
      return false;
    }
    fill(this.title, nameOf(pass, layer, head));
    fill(this.texts, textsOf(pass, layer), sharing(pass, layer, head), impliedNote(pass.layers[layer]));
    this.norms.show(this.shown.of);
    const drawn = `${layer} ${head}`;
    if (!anew || !this.map || this.drawn !== drawn) {
      const { shown } = this;
      const map = this.frame(pass, layer, head);
      keepFocus(this.tools, () => this.showTools(shown, head, map));
    }
    this.drawn = drawn;
    this.scale = scaleOf(isSigned(this.shown.of));
    this.map?.show(this.shown.of, this.scale, this.cell());
    fill(this.scalePlace, legend(this.scale, 'weight'));
    this.read(this.cell());
    return true;
  }

  /**
   * refuse shows the reason why a head cannot be shown, and removes the previous head.
   * @param {string} name
   * @param {string} why
   */
  refuse(name, why) {
    this.map?.close();
    [this.map, this.shown] = [null, null];
    this.norms.close();
    fill(this.title, name);
    for (const e of [this.texts, this.tools, this.readout, this.scalePlace, this.norms.element]) fill(e);
    fill(this.place, problem(why));
  }

  /**
   * showTools shows the choice of the scale, the menu for saving, and the link to the numbers of a pair.
   * @param {Shown} shown
   * @param {HeadName} head
   * @param {HeatMap} map
   */
  showTools(shown, head, map) {
    const { layer, of } = shown;
    fill(
      this.tools,
      scaleChoice(),
      saveMenu(() => `layer-${layer}-head-${head}`, map.picture, of.T * of.S <= mostSaved && (() => tableOf(shown))),
      head !== 'mean' ? button('One pair', () => state.set({ panel: 'pair' })) : null,
    );
  }

  /**
   * frame makes a new map.
   * @param {Pass} pass
   * @param {number} layer
   * @param {HeadName} head
   */
  frame(pass, layer, head) {
    this.map?.close();
    this.map = new HeatMap({
      rows: pass.queries(layer),
      cols: pass.keys(layer),
      label: `weights of ${nameOf(pass, layer, head).toLowerCase()}`,
      onhover: (at) => this.read(at ?? this.cell()),
      onselect: (q, k) => state.set({ q, k }),
      ondetail: (q, k) => state.set({ q, k, panel: 'pair' }),
    });
    fill(this.place, this.map.element);
    return this.map;
  }

  repaint() {
    this.map?.repaint();
  }

  /**
   * cell is the pair of the state.
   * @returns {Cell | null}
   */
  cell() {
    if (!state.get('q') || !this.shown) return null;
    const { T, S } = this.shown.of;
    return [state.int('q', T), state.int('k', S)];
  }

  /** choose marks the pair of the state. */
  choose() {
    const cell = this.cell();
    if (cell) this.map?.choose(...cell);
    this.read(cell);
  }

  /** read describes the weight of a pair. */
  read(/** @type {Cell | null} */ at) {
    if (!at || !this.shown) {
      fill(this.readout, hint);
      return;
    }
    const { pass, layer, of } = this.shown;
    const [t, s] = at;
    const w = of.weight(t, s);
    const [query, key] = [pass.queries(layer)[t], pass.keys(layer)[s]];
    const pair = `query ${t} “${shown(query)}” → key ${s} “${shown(key)}”: `;
    const score = 'score' in of ? `, score ${number(of.score(t, s))}` : '';
    fill(this.readout, pair, Number.isNaN(w) ? 'hidden by the mask' : `weight ${number(w)}${score}`);
  }

  close() {
    this.closed = true;
    this.map?.close();
    this.norms.close();
  }
}

/** tableOf is all weights of a head, with the tokens. */
function tableOf(/** @type {Shown} */ { pass, layer, of }) {
  const row = new Float32Array(of.S);
  return [
    ['query \\ key', ...pass.keys(layer).map((t) => t.text)],
    ...pass.queries(layer).map((token, t) => {
      of.row(t, 0, row.length, row);
      return [token.text, ...row];
    }),
  ];
}
