// Journey: the path of one token through the model and one of its layers, step by step.
import { holds, path } from '../api.js';
import { Attended } from '../attended.js';
import { changed, factors } from '../changes.js';
import { chosen, headChoice, modelChoice, requestOf, wrong } from '../choose.js';
import { Scale } from '../colours.js';
import { all, button, fill, focused, h, rove, shown } from '../dom.js';
import { Program } from '../formula.js';
import { around, headSteps } from '../headsteps.js';
import { hasModels, panel, Shown } from '../panel.js';
import { forward } from '../pass.js';
import { legend } from '../picture.js';
import { opened } from '../stage.js';
import { stageTexts } from '../stagetexts.js';
import * as state from '../state.js';
import { WayParts } from '../wayparts.js';

/** @typedef {import('../pass.js').Pass} Pass */
/** @typedef {import('../pass.js').Token} Token */
/** @typedef {import('../stage.js').Stage} Stage */
/** @typedef {import('../stage.js').Way} Way */
/** @typedef {{ head: import('../head.js').Head, values: { v: Float32Array, sink?: number }}} Numbers of a head */

const lead =
  'From the vector of the token, left, to what the model expects next, right. A strip has a cell for each number; a ' +
  'step opens, by a click or Enter, to its largest numbers and how they are computed.';

class Journey extends Shown {
  /** @type {WayParts | null} */
  parts = null;
  scale = h('div', { class: 'stripscale' });

  async load() {
    const isOver = this.begin();
    if (!this.parts)
      this.wait('The model reads the text. Here comes the way of one token through it, from step to step.');
    try {
      const before = await forward(requestOf(this.view));
      const pass = await forward(changed(before.request, before));
      if (isOver()) return;
      if (pass.sequences.length > 1 || pass.next.length === 0) {
        this.fail('The journey is that of a model that continues a text. Of other models, Steps has the numbers.');
        return;
      }
      const [layer, of] = chosen(before);
      const head = of === 'mean' ? 0 : of;
      const { tokens } = pass.sequences[0];
      const q = state.int('q', tokens.length, tokens.length - 1);
      const [way, numbers] = await Promise.all([pass.journey(layer, q), numbersOf(pass, layer, head)]);
      if (isOver()) return;
      this.show(pass, { layer, head, q }, whole(way), numbers);
    } catch (e) {
      if (!isOver()) this.fail(wrong(e.message));
    }
  }

  /**
   * fail says why there is no journey.
   * @param {Node | string} why
   */
  fail(why) {
    this.parts = null;
    fill(this.element, modelChoice(this.view), h('div', {}, why));
  }

  /**
   * show shows the journey of a token.
   * @param {Pass} pass
   * @param {{ layer: number, head: number, q: number }} at
   * @param {Way} way
   * @param {Numbers | null} numbers
   */
  show(pass, { layer, head, q }, way, numbers) {
    const { tokens } = pass.sequences[0];
    const { heads } = pass.layers[layer];
    const seen = {
      head,
      heads,
      tokens,
      program: new Program(way.steps),
      ofHead: new Program(numbers ? headSteps(numbers.head, numbers.values, tokens, tokens, q, 0) : []),
      row: q - around(q, tokens.length)[0],
      factor: factors().find((f) => f.layer === layer && f.head === head)?.factor ?? 1,
      open: opened(),
      point: (/** @type {number | null} */ k) => {
        for (const b of all(this.element, '.place')) b.classList.toggle('pointed', b.dataset.q === String(k));
      },
    };
    const kept = focused('[data-q], [data-stage], [data-keep]')?.dataset;
    const stages = new Map(way.steps.map((s) => [s.name, s]));
    const attended = numbers && new Attended(stages, seen, numbers.head, numbers.values, q);
    this.parts = new WayParts(way, seen, attended, { layer, layers: pass.layers.length, q });
    fill(
      this.element,
      h('h2', { class: 'head' }, 'The journey of ', h('q', {}, shown(tokens[q])), `, token ${q}`),
      choiceOf(pass, layer, q),
      h('p', { class: 'note' }, lead),
      h('div', { class: 'tools' }, modelChoice(this.view), headChoice(pass), this.scale),
      this.parts.element,
    );
    this.paint();
    if (kept) this.focus(kept);
  }

  /** focus restores the focus after the panel was built again. */
  focus(/** @type {DOMStringMap} */ { q, stage, keep }) {
    const selectors = [
      q && '.place[aria-current]',
      stage && `[data-stage="${stage}"] summary`,
      keep && `[data-keep="${keep}"]:not(:disabled), [data-keep]:not(:disabled)`,
    ];
    const selector = selectors.find(Boolean);
    const to = selector ? this.element.querySelector(selector) : null;
    /** @type {HTMLElement | null} */ (to)?.focus({ preventScroll: true });
  }

  paint() {
    this.parts?.paint();
    fill(this.scale, legend(new Scale(1, true), 'numbers of a line of a strip', false, ['−largest', 'largest']));
  }
}

/**
 * numbersOf returns the numbers of a head; null of linear attention, which has no scores.
 * @param {Pass} pass
 * @param {number} layer
 * @param {number} head
 * @returns {Promise<Numbers | null>}
 */
async function numbersOf(pass, layer, head) {
  if (pass.layers[layer].linear) return null;
  const [of, values] = await Promise.all([pass.head(layer, head), pass.values(layer, head)]);
  return { head: of, values };
}

/**
 * choiceOf are the tokens of the text, of which one is chosen; an exported page does not have the journeys of all.
 * @param {Pass} pass
 * @param {number} layer
 * @param {number} q
 */
function choiceOf(pass, layer, q) {
  const one = (/** @type {Token} */ t, /** @type {number} */ i) =>
    button(shown(t), () => state.set({ q: i }), {
      class: 'place',
      'data-q': i,
      'aria-current': i === q ? 'true' : null,
      disabled: !holds(path('journey', { pass: pass.id, layer, token: i })),
      tabindex: i === q ? 0 : -1,
    });
  const tokens = pass.sequences[0].tokens.map(one);
  const strip = h('div', { class: 'tokens', role: 'group', 'aria-label': 'tokens of the text' }, tokens);
  rove(strip, '.place:not(:disabled)');
  return strip;
}

/** whole adds to each step of a journey its formulas and a text. */
function whole(/** @type {Way} */ way) {
  let at = 0;
  const steps = way.steps.flatMap((s) => {
    const from = at;
    at += s.shape.reduce((a, b) => a * b, 1);
    const step = { ...s, text: stageTexts[s.name], values: way.values.subarray(from, at) };
    return s.name === 'weights' ? [...maskedOf(step, way.values.subarray(0, from)), step] : step;
  });
  return { ...way, steps };
}

/**
 * maskedOf returns the step between scores and weights: the scores of visible keys. There is no such step if the mask
 * hides nothing.
 * @param {Stage} weights
 * @param {Float32Array} upToScores
 * @returns {Stage[]}
 */
function maskedOf(weights, upToScores) {
  if (!weights.values.some(Number.isNaN)) return [];
  const values = upToScores.slice(-weights.values.length);
  weights.values.forEach((w, i) => {
    if (Number.isNaN(w)) values[i] = NaN;
  });
  const [name, formula] = ['masked', 'scores of what is seen'];
  return [{ ...weights, name, formula, text: stageTexts[name], exact: undefined, values }];
}

export const journey = panel(
  'journey',
  'Journey',
  hasModels,
  Journey,
  'model',
  'text',
  'then',
  'hide',
  'factors',
  'layer',
  'head',
  'q',
);
