// The parts of a journey side by side: the token, attention, MLP, all blocks, and what comes next.
import { bar, button, h, percent, shown } from './dom.js';
import { arrowWith } from './flow.js';
import { StageView } from './stage.js';
import * as state from './state.js';

/** @typedef {import('./stage.js').Stage} Stage */
/** @typedef {import('./stage.js').Way} Way */

const beside = ['positions', 'k', 'v', 'turned k', 'gate']; // the step before them
const starts = ['x']; // what goes on beside a part, and
const ends = ['after attention', 'after mlp']; // what it is added to

/** WayParts shows the steps of a journey. */
export class WayParts {
  /**
   * @param {Way} way
   * @param {import('./stage.js').Around} around
   * @param {import('./attended.js').Attended | null} attended null of linear attention, which looks at a state
   * @param {{ layer: number, layers: number, q: number }} at
   */
  constructor(way, around, attended, at) {
    this.way = way;
    this.around = around;
    this.attended = attended;
    /** @type {{ paint(): void }[]} */
    this.pictures = attended ? [attended] : [];
    const { layer } = at;
    const has = (/** @type {string} */ name) => way.steps.some((s) => s.name === name);
    const across = () => arrowWith('', 'across');
    const token = this.part('in', has('positions') ? 'Token and place' : 'The token');
    if (layer) token.append(note(`${layer} more block${layer > 1 ? 's' : ''} before`));
    this.element = h(
      'div',
      { class: 'journey' },
      token,
      across(),
      this.part('attention', `Attention of layer ${layer}, head ${around.head}`),
      has('up') && [across(), this.part('mlp', `MLP of layer ${layer}`)],
      across(),
      h('div', { class: 'wayend' }, at.layers > 1 && this.blocks(at), this.out(at.q)),
    );
    this.paint();
  }

  /**
   * part is a part of the model with its steps, one below the other.
   * @param {string} name
   * @param {string} title
   */
  part(name, title) {
    const steps = this.way.steps.filter((s) => s.place === name && s.values.length);
    const inner = steps.filter((s) => ![...starts, ...ends].includes(s.name));
    const views = (/** @type {string[]} */ names) =>
      steps.filter((s) => names.includes(s.name)).map((s) => this.view(s));
    const passes = steps.length > inner.length;
    return h(
      'section',
      { class: 'way', 'data-part': name, 'aria-label': title },
      h('h3', {}, title),
      views(starts),
      h('div', { class: passes ? 'passed' : null }, this.flow(inner)),
      views(ends),
    );
  }

  view(/** @type {Stage} */ stage) {
    const view = new StageView(stage, this.around);
    this.pictures.push(view);
    return view.element;
  }

  /** flow joins steps with arrows; queries, keys and values stand side by side. */
  flow(/** @type {Stage[]} */ steps) {
    /** @type {HTMLElement[]} */
    const all = [];
    for (const s of steps) {
      if (beside.includes(s.name)) {
        all[all.length - 1].append(this.view(s));
        continue;
      }
      if (all.length) all.push(arrowWith('', 'down'));
      all.push(h('div', { class: 'abreast' }, this.view(s)));
      if (this.attended && s.name === 'weights') all.push(this.attended.element);
    }
    return all;
  }

  /**
   * blocks are the vectors after all blocks, and the ways to the blocks before and after.
   * @param {{ layer: number, layers: number }} at
   */
  blocks({ layer, layers }) {
    const section = this.part('blocks', 'Block after block');
    const left = layers - 1 - layer;
    const go = (/** @type {number} */ to, /** @type {string} */ text) =>
      button(text, () => state.set({ layer: to }), { 'data-keep': text, disabled: to < 0 || to >= layers });
    section.append(
      note(left ? `${left} more like this before the end.` : 'This is the last one.'),
      h('p', { class: 'tools' }, go(layer - 1, 'Block before'), go(layer + 1, 'Next block')),
    );
    return section;
  }

  /** out is what the model makes of the vector in the end: the likeliest tokens. */
  out(/** @type {number} */ q) {
    const { next } = this.way;
    const section = this.part('out', 'What comes next');
    const most = Math.max(...next.map((c) => c.probability));
    const row = (/** @type {import('./pass.js').Candidate} */ c) =>
      h(
        'li',
        { class: 'candidate' },
        h('span', { class: 'what' }, shown(c)),
        h('span', { class: 'bars' }, bar(c.probability / most)),
        h('span', { class: 'value' }, percent(c.probability)),
      );
    section.append(
      arrowWith('softmax', 'down'),
      note('What the model expects after ', h('q', {}, shown(this.around.tokens[q])), ':'),
      h('div', { class: 'nextlist' }, h('ol', {}, next.map(row))),
    );
    return section;
  }

  paint() {
    for (const p of this.pictures) p.paint();
  }
}

const note = (/** @type {(Node | string)[]} */ ...children) => h('p', { class: 'note' }, children);
