// @ts-nocheck
// Journey: one token's way through the model and one of its layers, step by step.
import { isExported } from '../api.js';
import { busy } from '../busy.js';
import { changed, factors } from '../changes.js';
import { chosen, headChoice, modelChoice, requestOf, wrong } from '../choose.js';
import { Scale } from '../colours.js';
import { bar, button, fill, focused, h, percent, rove, shown } from '../dom.js';
import { arrowWith } from '../flow.js';
import { Program } from '../formula.js';
import { around, headSteps } from '../headsteps.js';
import { see } from '../look.js';
import { Looked } from '../looked.js';
import { legend } from '../picture.js';
import { StageView } from '../stage.js';
import * as state from '../state.js';

/** @typedef {import('../stage.js').Stage} Stage */
/** @typedef {import('../stage.js').Around} Around */

export const journey = {
  name: 'journey',
  title: 'Journey',
  needs: (view) => view.models?.length > 0,
  show(element, view) {
    const panel = new Journey(element, view);
    busy(panel.load());
    const end = state.onChange((is) => {
      if (['model', 'text', 'then', 'hide', 'factors', 'layer', 'head', 'q'].some(is)) busy(panel.load());
    });
    const repaint = () => panel.paint();
    addEventListener('theme', repaint);
    return () => {
      panel.closed = true;
      removeEventListener('theme', repaint);
      end();
    };
  },
};

const lead =
  'From the vector of the token, left, to what the model expects next, right. A strip has a cell for each number; a ' +
  'step opens, by a click or Enter, to its largest numbers and how they are computed.';
const beside = ['positions', 'k', 'v', 'turned k', 'gate']; // the step before them

class Journey {
  constructor(element, view) {
    this.element = element;
    this.view = view;
    this.closed = false;
    /** @type {(StageView | Looked)[]} */
    this.pictures = [];
    this.scale = h('div', { class: 'stripscale' });
  }

  async load() {
    const wanted = (this.wanted = {});
    const isOver = () => this.closed || this.wanted !== wanted;
    if (!this.pictures.length) {
      const note = 'The model reads the text. Here comes the way of one token through it, from step to step.';
      fill(this.element, h('p', { class: 'note', role: 'status' }, note));
    }
    try {
      const before = await see(requestOf(this.view));
      const look = await see(changed(requestOf(this.view), before));
      if (isOver()) return;
      if (look.sequences.length > 1) {
        const note = 'The journey is that of a model that continues a text. Of a translation, Steps has the numbers.';
        fill(this.element, modelChoice(this.view), h('p', { class: 'note' }, note));
        return;
      }
      const [layer, of] = chosen(before);
      const head = of === 'mean' ? 0 : Number(of);
      const { tokens } = look.sequences[0];
      const q = state.int('q', tokens.length, tokens.length - 1);
      const parts = [look.journey(Number(layer), q), look.head(layer, head), look.values(layer, head)];
      const [way, numbers, values] = await Promise.all(parts);
      if (isOver()) return;
      this.show(look, { layer: Number(layer), head, q }, withValues(way), numbers, values);
    } catch (e) {
      if (isOver()) return;
      this.pictures = [];
      fill(this.element, modelChoice(this.view), wrong(e.message), this.unknown());
    }
  }

  /** unknown says why an exported page has no journey of a token. */
  unknown() {
    const last = button('The last token', () => state.set({ q: '' }));
    return isExported
      ? h('p', { class: 'note' }, 'An exported page has the journeys of its last tokens. ', last)
      : null;
  }

  show(look, at, way, numbers, values) {
    const { tokens } = look.sequences[0];
    const { layer, head, q } = at;
    const steps = headSteps(numbers, values, tokens, tokens, q, 0);
    /** @type {Around} */
    const seen = {
      head,
      heads: look.layers[layer].heads,
      tokens,
      program: new Program(way.steps),
      ofHead: new Program(steps),
      row: q - around(q, tokens.length)[0],
      factor: factors().find((f) => f.layer === layer && f.head === head)?.factor ?? 1,
      open: new Set(state.get('opened').split('~')),
    };
    const kept = focused('[data-q], [data-stage], [data-keep]')?.dataset;
    this.pictures = [];
    const stages = new Map(way.steps.map((s) => [s.name, s]));
    this.looked = new Looked(stages, seen, numbers, values, q);
    this.pictures.push(this.looked);
    fill(
      this.element,
      h('h2', { class: 'head' }, 'The journey of ', h('q', {}, shown(tokens[q])), `, token ${q}`),
      this.tokens(tokens, q),
      h('p', { class: 'note' }, lead),
      h('div', { class: 'tools' }, modelChoice(this.view), headChoice(look), this.scale),
      h(
        'div',
        { class: 'journey' },
        this.part(
          'in',
          stages.has('positions') ? 'Token and place' : 'The token',
          way,
          seen,
          layer ? `${layer} more block${layer > 1 ? 's' : ''} before` : '',
        ),
        arrowWith('', 'across'),
        this.part('attention', `Attention of layer ${layer}, head ${head}`, way, seen),
        stages.has('up') ? [arrowWith('', 'across'), this.part('mlp', `MLP of layer ${layer}`, way, seen)] : null,
        arrowWith('', 'across'),
        h('div', { class: 'wayend' }, this.blocks(look, layer, way, seen), this.out(way, seen, tokens[q])),
      ),
    );
    this.paint();
    this.focus(kept);
  }

  /** tokens are the tokens of the text, of which one is chosen. */
  tokens(tokens, q) {
    const one = (t, i) =>
      button(shown(t), () => state.set({ q: i }), {
        class: 'place',
        'data-q': i,
        'aria-current': i === q ? 'true' : null,
        tabindex: i === q ? 0 : -1,
      });
    const strip = h('div', { class: 'tokens', role: 'group', 'aria-label': 'tokens of the text' }, tokens.map(one));
    rove(strip, '.place');
    return strip;
  }

  /** part is a part of the model with its steps, one below the other. */
  part(name, title, way, seen, note = '') {
    const steps = way.steps.filter((s) => s.part === name && s.values.length);
    const views = new Map(steps.map((s) => [s.name, new StageView(s, seen)]));
    this.pictures.push(...views.values());
    const view = (s) => views.get(s.name).element;
    const inner = steps.filter((s) => !['x', 'after attention', 'after mlp'].includes(s.name));
    const ends = (names) => steps.filter((s) => names.includes(s.name)).map(view);
    const passes = steps.length > inner.length; // what comes goes on beside the part
    const flow = this.flow(inner, view);
    return h(
      'section',
      { class: 'way', 'data-part': name, 'aria-label': title },
      h('h3', {}, title),
      ends(['x']),
      passes ? h('div', { class: 'passed' }, flow) : flow,
      ends(['after attention', 'after mlp']),
      note ? h('p', { class: 'note' }, note) : null,
    );
  }

  /** flow joins steps with arrows; queries, keys and values stand side by side. */
  flow(steps, view) {
    const all = [];
    for (const s of steps) {
      if (beside.includes(s.name)) {
        all.at(-1).append(view(s));
        continue;
      }
      if (all.length) all.push(arrowWith('', 'down'));
      all.push(h('div', { class: 'abreast' }, view(s)));
      if (s.name === 'weights') all.push(this.looked.element);
    }
    return all;
  }

  /** blocks are the vectors after all blocks, and the ways to the blocks before and after. */
  blocks(look, layer, way, seen) {
    const n = look.layers.length;
    const left = n - 1 - layer;
    if (n < 2) return null;
    const go = (to, text) =>
      button(text, () => state.set({ layer: to }), { 'data-keep': text, disabled: to < 0 || to >= n });
    const section = this.part('blocks', 'Block after block', way, seen);
    const note = h('p', { class: 'note' }, left ? `${left} more like this before the end.` : 'This is the last one.');
    section.append(note, h('p', { class: 'tools' }, go(layer - 1, 'Block before'), go(layer + 1, 'Next block')));
    return section;
  }

  /** out is what the model makes of the vector in the end: the likeliest tokens. */
  out(way, seen, token) {
    const section = this.part('out', 'What comes next', way, seen);
    const most = Math.max(...way.next.map((c) => c.probability));
    const row = (c) =>
      h(
        'li',
        { class: 'candidate' },
        h('span', { class: 'what' }, shown(c)),
        h('span', { class: 'bars' }, bar(c.probability / most)),
        h('span', { class: 'value' }, percent(c.probability)),
      );
    section.append(
      arrowWith('softmax', 'down'),
      h('p', { class: 'note' }, 'What the model expects after ', h('q', {}, shown(token)), ':'),
      h('div', { class: 'nextlist' }, h('ol', {}, way.next.map(row))),
    );
    return section;
  }

  /** focus gives the focus to what had it before the panel was made anew. */
  focus(kept) {
    if (!kept) return;
    const current = this.element.querySelector('.place[aria-current]');
    const stage = this.element.querySelector(`[data-stage="${kept.stage}"] summary`);
    const button =
      this.element.querySelector(`[data-keep="${kept.keep}"]`) ?? this.element.querySelector('[data-keep]');
    const to = kept.q !== undefined ? current : (stage ?? button);
    /** @type {HTMLElement | null} */ (to)?.focus({ preventScroll: true });
  }

  paint() {
    for (const p of this.pictures) p.paint();
    fill(this.scale, legend(new Scale(1, true), 'numbers of a line of a strip', false, ['−largest', 'largest']));
  }
}

/** withValues gives each step of a journey its part of the numbers. */
function withValues(way) {
  let at = 0;
  const steps = way.steps.map((s) => {
    const from = at;
    at += s.shape.reduce((a, b) => a * b, 1);
    return { ...s, values: way.values.subarray(from, at) };
  });
  return { ...way, steps };
}
