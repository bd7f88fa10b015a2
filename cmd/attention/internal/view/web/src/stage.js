// One step of a journey: a strip that the reader can open to see the largest numbers and their formulas.
import { mostNamed, nameOf } from './axes.js';
import { bar, button, fill, h, number, rove, shown } from './dom.js';
import { explain } from './explain.js';
import * as state from './state.js';
import { rangeOf, Strip } from './strip.js';

/** @typedef {import('./formula.js').Program} Program */
/**
 * Stage is a step of a journey: numbers (N), (H, N) of heads, or (L, N) of blocks, of which block is the layer's.
 * @typedef {{ name: string, formula?: string, text: string, place: string, shape: number[], block?: number,
 *   exact?: import('./formula.js').Formula, values: Float32Array }} Stage
 */
/** @typedef {{ steps: Stage[], next: import('./pass.js').Candidate[], values: Float32Array }} Way */
/**
 * Around is the context of a step: the head, the tokens of the text, the program of the journey, and the program of the
 * head with the row of the token. point is called with the key under the pointer.
 * @typedef {{ head: number, heads: number, tokens: import('./pass.js').Token[], program: Program, ofHead: Program,
 *   row: number, factor: number, open: Set<string>, point(k: number | null): void }} Around
 */

const mostListed = 10;
const ofKeys = ['scores', 'masked', 'weights']; // steps with a number for each key

/** linesOf returns how many lines a step has. */
export const linesOf = (/** @type {Stage} */ stage) => (stage.shape.length > 1 ? stage.shape[0] : 1);

/**
 * lineOf returns the line of the block or of the chosen head. It also handles keys that heads share, and differences.
 * @param {Stage} stage
 * @param {{ head: number, heads: number }} around
 */
export function lineOf(stage, { head, heads }) {
  return stage.block ?? Math.floor((head * linesOf(stage)) / heads);
}

/** opened returns the steps that are open. */
export const opened = () => new Set(state.get('opened').split('~').filter(Boolean));

/** StageView shows a step. */
export class StageView {
  /**
   * @param {Stage} stage
   * @param {Around} around
   */
  constructor(stage, around) {
    this.stage = stage;
    this.around = around;
    const shares = stage.name === 'weights';
    this.strip = new Strip(stage.values, linesOf(stage), { shares, marked: lineOf(stage, around) });
    this.body = h('div', { class: 'opened' });
    const formula = stage.formula?.replaceAll(/[·._]/g, '$&\u200b'); // a line break is allowed there
    this.element = h(
      'details',
      {
        class: 'waystep',
        'data-stage': stage.name,
        open: around.open.has(stage.name),
        ontoggle: () => this.toggle(),
      },
      h(
        'summary',
        {},
        h('span', { class: 'stagename' }, stage.name),
        formula ? h('span', { class: 'formula' }, ` = ${formula}`) : null,
        this.strip.element,
        ofKeys.includes(stage.name) ? this.named() : null,
      ),
      this.body,
    );
    if (this.element.open) this.fillBody();
  }

  paint() {
    this.strip.paint();
  }

  /** named labels the cells of keys with their tokens; if there are few, the tokens are also written below. */
  named() {
    const { tokens, point } = this.around;
    const n = this.stage.values.length / linesOf(this.stage);
    const { element } = this.strip;
    element.addEventListener('pointermove', ({ clientX }) => {
      const { left, width } = element.getBoundingClientRect();
      point(Math.floor((n * (clientX - left)) / width));
    });
    element.addEventListener('pointerleave', () => point(null));
    if (n > mostNamed) return null;
    const names = Array.from({ length: n }, (_, i) => (tokens[i] ? nameOf(tokens[i]) : '+'));
    const e = h('span', { class: 'letters', 'aria-hidden': 'true' });
    e.append(...names.map((name) => h('span', {}, name)));
    const isTurned = names.some((name) => name.length > 1);
    e.classList.toggle('turned', isTurned);
    e.classList.toggle('tight', n > 40);
    return e;
  }

  toggle() {
    const { open } = this.around;
    if (this.element.open) open.add(this.stage.name);
    else open.delete(this.stage.name);
    state.set({ opened: [...open].join('~') }, true);
    if (this.element.open && !this.body.firstChild) this.fillBody();
  }

  /** fillBody describes the step, and shows the largest numbers, for the chosen head if there are several heads. */
  fillBody() {
    const { stage, around } = this;
    const n = stage.values.length / linesOf(stage);
    const from = lineOf(stage, around) * n;
    const line = stage.values.subarray(from, from + n);
    const largest = [...line.keys()].filter((i) => !Number.isNaN(line[i]));
    largest.sort((a, b) => Math.abs(line[b]) - Math.abs(line[a]));
    const listed = largest.slice(0, mostListed);
    const { low, high, most } = rangeOf(line);
    const readout = h('p', { class: 'readout small numbers', 'aria-live': 'polite' });
    const tell = (/** @type {number} */ i) => {
      const formula = stage.formula ? ` = ${stage.formula}` : '';
      const name = h('b', {}, `${stage.name}[${this.nameOf(i)}]`);
      fill(readout, name, `${formula}${this.computed(i)} = ${number(line[i])}`);
    };
    const row = (/** @type {number} */ i) => {
      const parts = [
        h('span', { class: 'what' }, this.nameOf(i)),
        bar(Math.abs(line[i]) / (most || 1)),
        h('span', { class: 'value' }, number(line[i])),
      ];
      const attributes = {
        class: line[i] < 0 ? 'entry minus' : 'entry',
        tabindex: i === listed[0] ? 0 : -1,
        onpointerenter: () => tell(i),
        onfocus: () => tell(i),
      };
      return h(
        'li',
        {},
        button('', () => tell(i), attributes, parts),
      );
    };
    const list = h('ol', { class: 'entries' }, listed.map(row));
    rove(list, '.entry');
    const line0 = stage.block === undefined ? ' of the head' : ' of the block';
    const of = linesOf(stage) > 1 ? line0 : '';
    const note = `The ${listed.length} largest of ${n} numbers${of}; from ${number(low, 2)} to ${number(high, 2)}:`;
    fill(this.body, h('p', {}, stage.text), h('p', { class: 'note' }, note), list, readout);
    if (listed.length) tell(listed[0]);
  }

  /** nameOf names a number: by its token, or its place. */
  nameOf(/** @type {number} */ i) {
    const { tokens } = this.around;
    if (!ofKeys.includes(this.stage.name)) return String(i);
    return tokens[i] ? `${i} ${shown(tokens[i])}` : `extra ${i - tokens.length}`;
  }

  /** computed formats the operands of a number; it returns nothing for a product with weights, which has many. */
  computed(/** @type {number} */ i) {
    const { stage, around } = this;
    const { ofHead, row, factor, program } = around;
    const formula = stage.formula ?? '';
    const inHead = headStage(ofHead, stage.name);
    let text = '';
    if (inHead && ofHead.steps.has(inHead)) {
      text = explain(ofHead, inHead, [row, i]).text;
      if (stage.name === 'heads' && factor !== 1) text = `${factor}·(${text})`;
    } else if (stage.exact) {
      text = explain(program, stage.name, [lineOf(stage, around), i].slice(-stage.shape.length)).text;
    } else if (/[⊙(]/.test(formula) && !/·|keys/.test(formula)) {
      text = substituted(formula, program, i);
    }
    return text && ` = ${text}`;
  }
}

/**
 * headStage returns the step of a head that equals a step of a journey, if there is one.
 * @param {Program} ofHead
 * @param {string} name
 */
function headStage(ofHead, name) {
  if (name === 'weights') return 'weights';
  if (name === 'heads') return 'context';
  if (!ofKeys.includes(name)) return undefined;
  const after = ['shifted', 'mask', 'masked', 'sink', 'weights', 'context'];
  return [...ofHead.steps.keys()].filter((n) => !after.includes(n)).at(-1);
}

/**
 * substituted formats a formula of single numbers, with the numbers inserted.
 * @param {string} formula
 * @param {Program} program
 * @param {number} i
 */
function substituted(formula, program, i) {
  const names = [...program.steps.keys()].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(`\\b(${names.join('|')})\\b`, 'g');
  const text = formula.replaceAll(pattern, (name, _, /** @type {number} */ at) => {
    const v = program.value(name).data[i];
    return v < 0 && formula[at - 1] === '⊙' ? `(${number(v)})` : number(v);
  });
  return text === formula ? '' : text;
}
