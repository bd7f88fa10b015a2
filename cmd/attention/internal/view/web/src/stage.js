// @ts-nocheck
// One step of a journey: a strip that opens to its largest numbers and how they are computed.
import { bar, button, fill, h, number, rove, shown } from './dom.js';
import { explain } from './explain.js';
import * as state from './state.js';
import { rangeOf, Strip } from './strip.js';

/** @typedef {import('./formula.js').Program} Program */
/**
 * Stage is a step of a journey: numbers (N), or (H, N) of heads.
 * @typedef {{ name: string, formula?: string, text: string, part: string, shape: number[], block?: number, exact?: any,
 *   values: Float32Array }} Stage
 */
/** @typedef {{ steps: Stage[], next: import('./look.js').Candidate[], values: Float32Array }} Way */
/**
 * Around is what a step is seen with: the head, the tokens of the text, the program of the journey, and that of the
 * head with the row of the token.
 * @typedef {{ head: number, heads: number, tokens: import('./look.js').Token[], program: Program, ofHead: Program,
 *   row: number, factor: number, open: Set<string> }} Around
 */

const mostListed = 10;

/** linesOf returns how many lines a step has. */
export const linesOf = (/** @type {Stage} */ stage) => (stage.shape.length > 1 ? stage.shape[0] : 1);

/** lineOf returns the line of the block, or that of the chosen head: of keys that heads share, and of differences, too. */
export function lineOf(stage, { head, heads }) {
  return stage.block ?? Math.floor((head * linesOf(stage)) / heads);
}

/** StageView shows a step. */
export class StageView {
  /**
   * @param {Stage} stage
   * @param {Around} around
   */
  constructor(stage, around) {
    this.stage = stage;
    this.around = around;
    const lines = linesOf(stage);
    const shares = stage.name === 'weights';
    this.strip = new Strip(stage.values, lines, { shares, marked: lineOf(stage, around) });
    this.body = h('div', { class: 'opened' });
    this.element = h(
      'details',
      { class: 'waystep', 'data-stage': stage.name, open: around.open.has(stage.name), ontoggle: () => this.toggle() },
      h(
        'summary',
        {},
        h('span', { class: 'stagename' }, stage.name),
        stage.formula ? h('span', { class: 'formula' }, ` = ${stage.formula.replaceAll(/[·._]/g, '$&\u200b')}`) : null,
        this.strip.element,
      ),
      this.body,
    );
    if (this.element.open) this.fillBody();
  }

  paint() {
    this.strip.paint();
  }

  toggle() {
    const { open } = this.around;
    if (this.element.open) open.add(this.stage.name);
    else open.delete(this.stage.name);
    state.set({ opened: [...open].filter(Boolean).join('~') }, true);
    if (this.element.open && !this.body.firstChild) this.fillBody();
  }

  /** fillBody shows what the step is, and its largest numbers, of the chosen head if it has several. */
  fillBody() {
    const { stage, around } = this;
    const lines = linesOf(stage);
    const n = stage.values.length / lines;
    const from = lineOf(stage, around) * n;
    const line = stage.values.subarray(from, from + n);
    const largest = [...line.keys()].filter((i) => !Number.isNaN(line[i]));
    largest.sort((a, b) => Math.abs(line[b]) - Math.abs(line[a]));
    const listed = largest.slice(0, mostListed);
    const { most } = rangeOf(line);
    const readout = h('p', { class: 'readout small numbers', 'aria-live': 'polite' });
    const tell = (i) => {
      const formula = stage.formula ? ` = ${stage.formula}` : '';
      fill(
        readout,
        h('b', {}, `${stage.name}[${this.nameOf(i)}]`),
        `${formula}${this.computed(i)} = ${number(line[i])}`,
      );
    };
    const row = (i) =>
      h(
        'li',
        {},
        button(
          '',
          () => tell(i),
          {
            class: line[i] < 0 ? 'entry minus' : 'entry',
            tabindex: i === listed[0] ? 0 : -1,
            onpointerenter: () => tell(i),
            onfocus: () => tell(i),
          },
          h('span', { class: 'what' }, this.nameOf(i)),
          bar(Math.abs(line[i]) / (most || 1)),
          h('span', { class: 'value' }, number(line[i])),
        ),
      );
    const list = h('ol', { class: 'entries' }, listed.map(row));
    rove(list, '.entry');
    const of = lines > 1 ? ` of the ${stage.block === undefined ? 'head' : 'block'}` : '';
    fill(
      this.body,
      h('p', {}, stage.text),
      h('p', { class: 'note' }, `The ${listed.length} largest of ${n} numbers${of}; from ${ends(line)}:`),
      list,
      readout,
    );
    if (listed.length) tell(listed[0]);
  }

  /** nameOf names a number: by its token, or its place. */
  nameOf(i) {
    const { stage, around } = this;
    if (['scores', 'masked', 'weights'].includes(stage.name)) {
      return around.tokens[i] ? `${i} ${shown(around.tokens[i])}` : `extra ${i - around.tokens.length}`;
    }
    return String(i);
  }

  /** computed writes the numbers that a number is computed from; nothing of a product with weights, which are many. */
  computed(i) {
    const { stage, around } = this;
    const { ofHead, row, factor, program } = around;
    let text = '';
    if (ofHead && stage.name in headStages(ofHead)) {
      text = explain(ofHead, headStages(ofHead)[stage.name], [row, i]).text;
      if (stage.name === 'heads' && factor !== 1) text = `${factor}·(${text})`;
    } else if (stage.exact) {
      ({ text } = explain(program, stage.name, [lineOf(stage, around), i].slice(-stage.shape.length)));
    } else if (/[⊙(]/.test(stage.formula) && !/·|keys/.test(stage.formula)) {
      text = substituted(stage.formula, program, i);
    }
    return text && ` = ${text}`;
  }
}

/** headStages returns the steps of a head by the names that journeys have for them. */
function headStages(/** @type {Program} */ ofHead) {
  const names = [...ofHead.steps.keys()];
  const scores = names.filter((n) => !['shifted', 'mask', 'masked', 'sink', 'weights', 'context'].includes(n)).at(-1);
  return { scores, masked: scores, weights: 'weights', heads: 'context' };
}

/** substituted writes a formula of single numbers with these. */
function substituted(formula, program, i) {
  const names = [...program.steps.keys()].sort((a, b) => b.length - a.length);
  const found = names.find((n) => new RegExp(`\\b${n}\\b`).test(formula));
  if (!found) return '';
  const pattern = new RegExp(`\\b(${names.join('|')})\\b`, 'g');
  return formula.replaceAll(pattern, (name, _, at) => {
    const v = program.value(name).data[i];
    return v < 0 && formula[at - 1] === '⊙' ? `(${number(v)})` : number(v);
  });
}

/** ends says how far numbers go. */
function ends(line) {
  const { low, high } = rangeOf(line);
  return `${number(low, 2)} to ${number(high, 2)}`;
}
