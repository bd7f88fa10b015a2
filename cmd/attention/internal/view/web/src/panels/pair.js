// One pair: all numbers between two vectors and one weight.
import { busy } from '../busy.js';
import { chosen, headChoice, modelChoice, pairChoice, requestOf, textsOf, wrong } from '../choose.js';
import { axisLeft, scaleLinear, select } from '../d3.js';
import { all, fill, focused, h, number, shown, svg } from '../dom.js';
import { noScores } from '../implied.js';
import { hasModels, panel, Shown } from '../panel.js';
import { forward } from '../pass.js';
import { saveMenu } from '../save.js';
import { mostSeen } from '../sight.js';
import * as state from '../state.js';

/** @typedef {import('../head.js').Head} Head */
/** @typedef {import('../pass.js').Pass} Pass */
/** @typedef {ReturnType<Head['steps']>} Products */

class Pair extends Shown {
  /** @type {Pass | null} */
  pass = null;

  follow() {
    busy(this.load());
  }

  async load() {
    const isOver = this.begin();
    try {
      if (!this.pass || this.pass.model !== requestOf(this.view).model) {
        this.wait('The model reads the text. Here come the numbers from a query and a key to their weight.');
      }
      const pass = await forward(requestOf(this.view));
      const [layer, head] = chosen(pass);
      const numbers = await pass.head(layer, head === 'mean' ? 0 : head);
      if (isOver() || state.get('panel') !== 'pair') return;
      this.pass = pass;
      if (pass.layers[layer].linear) noScores(this.element, this.view, pass, layer);
      else this.show(pass, layer, head === 'mean' ? 0 : head, numbers);
    } catch (e) {
      if (!isOver()) fill(this.element, modelChoice(this.view), wrong(e.message));
    }
  }

  /**
   * show shows the pair of the state.
   * @param {Pass} pass
   * @param {number} layer
   * @param {number} head
   * @param {Head} numbers
   */
  show(pass, layer, head, numbers) {
    const q = state.int('q', numbers.T, numbers.T - 1);
    const k = state.int('k', numbers.S, mostSeen(numbers, q, pass.keys(layer).length));
    const [queries, keys] = [pass.queries(layer), pass.keys(layer)];
    const steps = numbers.steps(q, k);
    const name = () => `layer-${layer}-head-${head}-query-${q}-key-${k}`;
    const bars = numbers.layer.additive ? 'What each dimension adds to the score' : 'The products of the dimensions';
    const chart = this.chart(steps, numbers.layer.additive);
    const kept = focused('[data-keep]')?.dataset.keep;
    fill(
      this.element,
      h('h2', {}, `Query ${q} “${shown(queries[q])}” and key ${k} “${shown(keys[k])}”`),
      h('div', { class: 'tools' }, modelChoice(this.view), headChoice(pass)),
      textsOf(pass, layer),
      h(
        'div',
        { class: 'tools' },
        pairChoice(pass, layer, q, k),
        saveMenu(
          name,
          () => chart,
          () => [['d', 'query', 'key', 'product'], ...steps.map((x) => [x.d, x.q, x.k, x.product])],
        ),
      ),
      h(
        'div',
        { class: 'columns' },
        h(
          'section',
          { class: 'bars' },
          h('h3', {}, bars),
          h('p', { class: 'note' }, 'Blue ones raise the score, orange ones lower it.'),
          h('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': bars }, chart),
        ),
        h(
          'section',
          { class: 'path' },
          h('h3', {}, 'From the two vectors to the weight'),
          this.path(numbers, steps, q, k),
        ),
      ),
    );
    if (kept) all(this.element, `[data-keep="${kept}"] select`)[0]?.focus();
  }

  /**
   * chart draws the products as bars.
   * @param {Products} steps
   * @param {boolean | undefined} additive
   */
  chart(steps, additive) {
    const width = Math.max(Math.min(640, this.element.clientWidth || 420), 56 + 4 * steps.length);
    const [height, left, bottom] = [280, 48, 38];
    const products = steps.map((x) => x.product);
    const [low, high] = [Math.min(0, ...products), Math.max(0, ...products) || 1];
    const y = scaleLinear([low, high], [height - bottom, 10]).nice();
    const x = scaleLinear([0, steps.length], [left, width - 8]);
    const root = svg('svg', {
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      class: 'chart',
      role: 'img',
      'aria-label': `bars of ${steps.length} products; their sum is ${number(products.reduce((a, b) => a + b, 0))}`,
    });
    const wide = Math.max(1, x(1) - x(0) - 1);
    let every = 8; // dimensions between two labels
    if (steps.length <= 40) every = 2;
    if (steps.length <= 16) every = 1;
    for (const s of steps) {
      const formula = additive ? `v·tanh(${number(s.q)} + ${number(s.k)})` : `${number(s.q)} · ${number(s.k)}`;
      root.append(
        svg(
          'rect',
          {
            x: x(s.d),
            width: wide,
            y: Math.min(y(0), y(s.product)),
            height: Math.abs(y(s.product) - y(0)),
            class: s.product < 0 ? 'minus' : 'plus',
          },
          svg('title', {}, `d ${s.d}: ${formula} = ${number(s.product)}`),
        ),
      );
      if (s.d % every === 0) {
        root.append(
          svg('text', { x: x(s.d) + wide / 2, y: height - bottom + 16, 'text-anchor': 'middle' }, String(s.d)),
        );
      }
    }
    const axis = svg('g', { transform: `translate(${left},0)` });
    select(axis).call(axisLeft(y).ticks(6));
    root.append(
      svg(
        'text',
        { x: (left + width) / 2, y: height - 4, 'text-anchor': 'middle', class: 'axisname' },
        'dimension of the head',
      ),
    );
    root.append(axis, svg('line', { x1: left, x2: width - 8, y1: y(0), y2: y(0), class: 'zero' }));
    return root;
  }

  /**
   * path returns the table of the steps that lead to the weight.
   * @param {Head} numbers
   * @param {Products} steps
   * @param {number} q
   * @param {number} k
   */
  path(numbers, steps, q, k) {
    const { layer } = numbers;
    const path = numbers.path(q, k);
    /** @type {HTMLElement[]} */
    const rows = [];
    /** @type {(what: string, formula: string, value: string | number | undefined) => void} */
    const row = (what, formula, value) =>
      rows.push(
        h(
          'tr',
          {},
          h('th', { scope: 'row' }, what),
          h('td', { class: 'formula' }, formula),
          h('td', { class: 'value' }, typeof value === 'string' ? value : number(value, 6)),
        ),
      );
    if (numbers.rawQ) {
      row('before the turn', 'q·k as projected', numbers.rawProduct(q, k));
      row('turned', 'q·k after norm and RoPE', path.product);
    } else if (layer.additive) row('sum', 'Σ v·tanh(q + k)', path.product);
    else row('product', `q·k, the sum of ${steps.length} products`, path.product);
    if ('scaled' in path) row('scale', `× ${number(layer.scale, 6)}`, path.scaled);
    if ('capped' in path) row('cap', `${layer.softcap}·tanh(x / ${layer.softcap})`, path.capped);
    const { bias, gateSums: sums, T, S } = numbers;
    if (bias) row('bias', `+ ${number(bias[q - k + S - 1])} of the distance ${q - k}`, path.biased);
    if (sums) {
      const left = k < sums.length ? sums[sums.length - T + q] - sums[k] : 0;
      row('forget', `+ ${number(left)}, the log-gates after key ${k} up to query ${q}`, path.forgotten);
    }
    if ('shifted' in path) row('bias of the sigmoid', `+ ${number(layer.sigmoid_bias)}`, path.shifted);
    const shown = numbers.shown(q, k);
    row('mask', `query ${q} ${shown ? 'sees' : 'does not see'} key ${k}`, shown ? path.score : '−∞');
    if (layer.sigmoid) row('weight', 'sigmoid(score)', shown ? numbers.weight(q, k) : 0);
    else {
      row('softmax', `log Σ exp of the query’s scores${layer.sinks ? ' and of the sink' : ''}`, numbers.lse[q]);
      row('weight', 'exp(score − log Σ exp)', shown ? numbers.weight(q, k) : 0);
    }
    return h('table', { class: 'steps' }, h('tbody', {}, rows));
  }
}

export const pair = panel('pair', 'One pair', hasModels, Pair);
