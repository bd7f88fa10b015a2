// Compare: a head of two models over one text, or two heads of one model, and the difference of their weights.
import { hasChips } from '../chips.js';
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
/** @typedef {[number, HeadName]} Place a layer and a head */
/** @typedef {import('../pass.js').Pass} Pass */
/** @typedef {import('../head.js').Head | import('../mean.js').Mean} SomeHead */

const more =
  'To compare two models, start attention view with --model twice, or with --run of a run that keeps checkpoints.';

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
    const alone = view.models.length < 2 || hasChips(view); // of which none sees what another does
    const isOver = this.begin();
    try {
      if (!this.maps.length) this.wait('The text is read. Here come the weights of two heads, and their difference.');
      const first = await forward(requestOf(view));
      const passes = [first, alone ? first : await forward(otherOf(view, first))];
      const one = chosen(first);
      const both = [one, alone ? secondOf(first, one) : one];
      check(passes, both);
      const heads = await Promise.all(passes.map((pass, i) => headOf(pass, ...both[i])));
      if (isOver()) return;
      this.show(passes, both, heads);
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
   * show shows a head of two models, or two heads of one, and the difference.
   * @param {Pass[]} passes
   * @param {Place[]} both
   * @param {SomeHead[]} heads
   */
  show(passes, both, heads) {
    const alone = passes[0] === passes[1];
    const [[layer], second] = both;
    this.close();
    this.heads = heads;
    const difference = new Difference(heads[0], heads[1]);
    const isSmall = heads[0].T * heads[0].S <= mostRead;
    const scale = scaleOf(heads.some(isSigned));
    const largest = isSmall ? mostOf(difference) : 1;
    const scales = [scale, scale, new Scale(largest, true)];
    const name = (/** @type {Pass} */ pass, /** @type {number} */ i) =>
      alone ? nameOf(pass, ...both[i]) : this.view.models[pass.model].name;
    const names = [...passes.map(name), 'the second minus the first'];
    this.tokens = [passes[0].queries(layer), passes[0].keys(layer)];
    const [rows, cols] = this.tokens;
    this.maps = names.map(
      (name) =>
        new HeatMap({
          rows,
          cols,
          height: 420,
          label: alone ? name : `${name}, ${nameOf(passes[0], ...both[0]).toLowerCase()}`,
          onhover: (at) => this.read(at ?? this.cell()),
          onselect: (q, k) => state.set({ q, k }),
        }),
    );
    const other = alone && [h('span', { class: 'note' }, 'and'), headChoice(passes[0], true, second, '2')];
    const tools = h('div', { class: 'tools' }, headChoice(passes[0], true), other, scaleChoice());
    fill(
      this.element,
      h('h2', {}, 'Compare'),
      alone ? null : this.choices(),
      tools,
      alone ? h('p', { class: 'note' }, more) : null,
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
 * secondOf returns the second head in the state, or else the next head after the first.
 * @param {Pass} pass
 * @param {Place} first
 * @returns {Place}
 */
function secondOf({ layers }, [layer, head]) {
  const isLast = head === 'mean' || head + 1 === layers[layer].heads;
  const next = isLast && layers[layer].heads === 1 ? (layer + 1) % layers.length : layer;
  const of = state.int('layer2', layers.length, next);
  if (state.get('head2') === 'mean') return [of, 'mean'];
  return [of, state.int('head2', layers[of].heads, isLast ? 0 : head + 1)];
}

/**
 * check returns an error for heads that cannot be compared.
 * @param {Pass[]} passes
 * @param {Place[]} both
 */
function check([a, b], [[first], [layer, head]]) {
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
  const [one, two] = [a.layers[first], b.layers[layer]];
  if (one.queries !== two.queries || one.keys !== two.keys) {
    throw new Error('the two heads see different texts: choose heads of one kind of attention');
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
  'layer2',
  'head2',
  'text',
  'scale',
);
