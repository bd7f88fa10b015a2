// Compare: a head of two models over one text, and the difference of their weights.
import {
  chosen,
  headChoice,
  headOf,
  modelChoice,
  nameOf,
  otherOf,
  requestOf,
  scaleChoice,
  scaleOf,
  textsOf,
  wrong,
} from '../choose.js';
import { Scale } from '../colours.js';
import { Difference, mostOf, mostRead } from '../difference.js';
import { fill, h, number, shown } from '../dom.js';
import { HeatMap } from '../heatmap.js';
import { isSigned } from '../implied.js';
import { hasModels, panel, Shown } from '../panel.js';
import { forward } from '../pass.js';
import { legend } from '../picture.js';
import { saveMenu } from '../save.js';
import * as state from '../state.js';

/** @typedef {import('../choose.js').HeadName} HeadName */
/** @typedef {import('../heatmap.js').Cell} Cell */
/** @typedef {import('../pass.js').Pass} Pass */
/** @typedef {import('../head.js').Head | import('../mean.js').Mean} SomeHead */

class Compare extends Shown {
  /** @type {HeatMap[]} */
  maps = [];
  /** @type {SomeHead[]} */
  heads = [];
  /** @type {import('../pass.js').Token[][]} */
  tokens = [];
  readout = h('p', { class: 'readout', 'aria-live': 'polite' });

  async load() {
    const { element, view } = this;
    if (view.models.length < 2) {
      fill(
        element,
        h('h2', {}, 'Compare'),
        h(
          'p',
          { class: 'note' },
          view.models[0].live
            ? 'This page has the weights of now alone. To compare checkpoints of the run while it ' +
                'trains, start attention view --run with its folder.'
            : 'There is nothing to compare with: one model is open, and it is no run with checkpoints. Start ' +
                'attention view with --model twice, or with --run of a run that keeps checkpoints.',
        ),
      );
      return;
    }
    const isOver = this.begin();
    try {
      if (!this.maps.length)
        this.wait('The models read the text. Here come the weights of a head of both, and their difference.');
      const first = await forward(requestOf(view));
      const passes = [first, await forward(otherOf(view, first))];
      const [layer, head] = chosen(passes[0]);
      check(passes, layer, head);
      const heads = await Promise.all(passes.map((l) => headOf(l, layer, head)));
      if (isOver()) return;
      this.show(passes, layer, head, heads);
    } catch (e) {
      if (isOver()) return;
      fill(element, this.choices(), wrong(e.message));
    }
  }

  follow(/** @type {import('../panel.js').Is} */ is) {
    if (['q', 'k'].some(is)) this.choose();
  }

  paint() {
    for (const m of this.maps) m.repaint();
  }

  close() {
    for (const m of this.maps) m.close();
  }

  /** choices choose the two models. */
  choices() {
    return h(
      'div',
      { class: 'tools' },
      modelChoice(this.view, 'model', 'first'),
      modelChoice(this.view, 'other', 'second'),
    );
  }

  /**
   * show shows a head of two models, and the difference.
   * @param {Pass[]} passes
   * @param {number} layer
   * @param {HeadName} head
   * @param {SomeHead[]} heads
   */
  show(passes, layer, head, heads) {
    this.close();
    this.heads = heads;
    const difference = new Difference(heads[0], heads[1]);
    const isSmall = heads[0].T * heads[0].S <= mostRead;
    const scale = scaleOf(heads.some(isSigned));
    const largest = isSmall ? mostOf(difference) : 1;
    const scales = [scale, scale, new Scale(largest, true)];
    const names = [...passes.map((l) => this.view.models[l.model].name), 'the second minus the first'];
    this.tokens = [passes[0].queries(layer), passes[0].keys(layer)];
    const [rows, cols] = this.tokens;
    this.maps = names.map(
      (name) =>
        new HeatMap({
          rows,
          cols,
          height: 420,
          label: `${name}, ${nameOf(passes[0], layer, head).toLowerCase()}`,
          onhover: (at) => this.read(at ?? this.cell()),
          onselect: (q, k) => state.set({ q, k }),
        }),
    );
    const tools = h('div', { class: 'tools' }, headChoice(passes[0], true), scaleChoice());
    fill(
      this.element,
      h('h2', {}, 'Compare'),
      this.choices(),
      tools,
      textsOf(passes[0], layer),
      this.readout,
      h(
        'div',
        { class: 'three' },
        names.map((name, i) =>
          h(
            'section',
            {},
            h(
              'h3',
              {},
              name,
              ' ',
              saveMenu(() => `compare-${i}`, this.maps[i].picture),
            ),
            this.maps[i].element,
            legend(scales[i], i < 2 ? 'weight' : 'difference'),
            i === 2 && largest === 0 ? h('p', { class: 'note' }, 'All weights are the same.') : null,
          ),
        ),
      ),
    );
    [...heads, difference].forEach((field, i) => this.maps[i].show(field, scales[i], this.cell()));
    this.read(this.cell());
  }

  /**
   * cell is the pair of the state.
   * @returns {Cell | null}
   */
  cell() {
    if (!state.get('q') || !this.heads.length) return null;
    const { T, S } = this.heads[0];
    return [state.int('q', T), state.int('k', S)];
  }

  choose() {
    const cell = this.cell();
    if (cell) this.maps.forEach((m) => m.choose(...cell));
    this.read(cell);
  }

  /** read tells the weights of a pair. */
  read(/** @type {Cell | null} */ at) {
    if (!at) {
      fill(this.readout, 'Point at or tap a cell, or move with the arrow keys.');
      return;
    }
    const [a, b] = this.heads.map((x) => x.weight(...at));
    const [q, k] = at.map((i, side) => `${i} “${shown(this.tokens[side][i])}”`);
    fill(
      this.readout,
      `query ${q} → key ${k}: `,
      Number.isNaN(a) || Number.isNaN(b)
        ? 'hidden by the mask'
        : `weights ${number(a)} and ${number(b)}, difference ${number(b - a)}`,
    );
  }
}

/**
 * check refuses passes whose heads cannot be compared.
 * @param {Pass[]} passes
 * @param {number} layer
 * @param {HeadName} head
 */
function check([a, b], layer, head) {
  const same =
    a.sequences.length === b.sequences.length &&
    a.sequences.every(
      (s, i) =>
        s.tokens.length === b.sequences[i].tokens.length &&
        s.tokens.every((t, j) => t.text === b.sequences[i].tokens[j].text),
    );
  if (!same) {
    throw new Error('the two models see the text as different tokens: compare models of one tokenizer and window');
  }
  if (!b.layers[layer] || (head !== 'mean' && head >= b.layers[layer].heads)) {
    throw new Error(
      `the second model has no such head: it has ${b.layers.length} layers; ` + 'choose another layer or head',
    );
  }
}

export const compare = panel(
  'compare',
  'Compare',
  hasModels,
  Compare,
  'model',
  'other',
  'layer',
  'head',
  'text',
  'scale',
);
