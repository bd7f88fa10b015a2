// How the weights of a run move: norms and changes of its parameters, entropies and largest scores of its heads.
import { short } from './choose.js';
import { Curves, stroke } from './curves.js';
import { choice, fill, h, keepFocus } from './dom.js';
import { headsOf, probeAt } from './moments.js';
import * as state from './state.js';

/** @typedef {number[]} Point a step and a number */
/** @typedef {import('./moments.js').Watched} Watched */

const measures = [
  ['change_from_start', 'change from the start'],
  ['norm', 'norm'],
  ['change', 'change since the last record'],
  ['gradient', 'gradient norm'],
];

const none = 'This run has recorded none. To see them, train with --head-stats (also with attention train --resume). ';
const inHeads = '“max score” in Heads shows that of each head on your own text.';

/** collapsed is the entropy, in nats, below which a head attends to one key only, as in attention train. */
const collapsed = 0.1;

export class WeightCurves {
  constructor() {
    this.paramTools = h('div', { class: 'tools' });
    this.headTools = h('div', { class: 'tools' });
    this.collapse = h('p', { class: 'note small' });
    this.params = new Curves('Parameters', {
      log: true,
      tools: this.paramTools,
      empty: 'This run has recorded no weights yet: their norms and changes come with its first evaluation.',
    });
    this.entropy = new Curves('Entropy of the heads', {
      tools: this.headTools,
      empty: 'This run has recorded no attention weights, which come with its evaluations.',
    });
    this.score = new Curves('Largest score of the heads', {});
    this.elements = [this.params.element, h('div', {}, this.entropy.element, this.collapse), this.score.element];
    this.command = 'train'; // that made the run
    /** @type {Watched} */
    this.watched = { records: [] };
    this.end = state.onChange((changed) => {
      if (['measure', 'param'].some(changed)) this.showParams();
      if (changed('curve')) this.showHeads();
    });
  }

  /** show shows what a run has recorded. */
  show(/** @type {Watched} */ watched) {
    this.watched = watched;
    this.showParams();
    this.showHeads();
  }

  showParams() {
    const { records } = this.watched;
    const names = records[0]?.params.map((p) => p.name) ?? [];
    const measure = state.get('measure', 'change_from_start');
    const chosen = names.includes(state.get('param')) ? state.get('param') : '';
    keepFocus(this.paramTools, () =>
      fill(
        this.paramTools,
        choice('show', measures, measure, (v) => state.set({ measure: v })),
        choice('parameter', [['', 'all'], ...names.map((n) => [n, short(n)])], chosen, (v) => state.set({ param: v })),
      ),
    );
    const field = measures.some(([m]) => m === measure) ? measure : 'norm';
    /** @type {Map<string, Point[]>} */
    const all = new Map(
      names.map((name, i) => [
        short(name),
        records.flatMap((r) => {
          const v = r.params[i]?.[field];
          return typeof v === 'number' ? [[r.step, v]] : [];
        }),
      ]),
    );
    const ranks = extremes(all, chosen && short(chosen), 1);
    // A table has the model's order.
    this.params.show([...all.keys()].flatMap((name) => ranks.find((s) => s.name === name) ?? []));
  }

  /** statistic returns a series of each head by its name: of the records, or of the probe's weights at its moments. */
  statistic(/** @type {string} */ name) {
    /** @type {Map<string, Point[]>} */
    const all = new Map();
    for (const record of this.watched.records) {
      for (const [key, values] of Object.entries(record.numbers ?? {})) {
        if (!key.startsWith(`${name}.`)) continue;
        values.forEach((v, head) => {
          const of = headName(key.slice(name.length + 1), head);
          const points = all.get(of) ?? [];
          all.set(of, points);
          if (v !== null) points.push([record.step, v]);
        });
      }
    }
    return all;
  }

  /** probeEntropy returns the entropy of each head on the probe. */
  probeEntropy() {
    const { watched } = this;
    /** @type {Map<string, Point[]>} */
    const all = new Map();
    for (const probe of watched.probes ?? []) {
      for (let head = 0; head < headsOf(probe); head++) {
        const points = (watched.moments ?? []).map((step, m) => [step, probeAt(watched, probe, head, m).entropy()]);
        all.set(headName(probe.name, head), points);
      }
    }
    return all;
  }

  showHeads() {
    const found = this.statistic('entropy');
    const recorded = found.size > 0;
    const entropy = recorded ? found : this.probeEntropy();
    const scores = this.statistic('largest_score');
    const names = [...entropy.keys()];
    const chosen = names.includes(state.get('curve')) ? state.get('curve') : '';
    keepFocus(this.headTools, () =>
      fill(
        this.headTools,
        names.length > 1 &&
          choice('head', [['', 'all, the extremes named'], ...names.map((n) => [n, n])], chosen, (v) =>
            state.set({ curve: v }),
          ),
      ),
    );
    const level = { name: 'collapsed below', level: collapsed, ink: 'var(--wrong)', dash: '2 3' };
    this.entropy.show([...extremes(entropy, chosen, -1), ...(names.length ? [level] : [])]);
    const why = this.command === 'train' ? none : `attention ${this.command} records none: `;
    this.score.options.empty = why + inHeads;
    this.score.show(extremes(scores, chosen, 1));
    const low = names.filter((n) => !(lastOf(entropy, n) >= collapsed));
    const of = recorded ? 'Of up to 1024 tokens of validation text' : 'Of the few tokens of the probe';
    const some = low.slice(0, 5).join(', ') + (low.length > 5 ? ', …' : '');
    fill(
      this.collapse,
      names.length ? `${of}, in nats (natural logarithm). ` : '',
      low.length ? h('b', {}, `${low.length} of ${names.length} heads have collapsed: ${some}.`) : '',
    );
  }

  close() {
    this.end();
    for (const c of [this.params, this.entropy, this.score]) c.close();
  }
}

/**
 * lastOf returns the last number of a series.
 * @param {Map<string, Point[]>} all
 * @param {string} name
 */
function lastOf(all, name) {
  return all.get(name)?.at(-1)?.[1] ?? NaN;
}

/**
 * extremes are all series, of which the chosen one, or the few that end lowest, -1, or highest, 1, are named.
 * @param {Map<string, Point[]>} all
 * @param {string} chosen
 * @param {number} sign
 * @returns {import('./series.js').Series[]}
 */
function extremes(all, chosen, sign) {
  const most = [...all.keys()].sort((a, b) => sign * (lastOf(all, b) - lastOf(all, a)));
  const named = chosen ? [chosen] : most.slice(0, 4);
  const rest = [...all.keys()].filter((n) => !named.includes(n));
  return [
    ...named.filter((n) => all.has(n)).map((name, i) => ({ name, points: all.get(name), wide: 2, ...stroke(i) })),
    ...rest.map((name) => ({ name, points: all.get(name), ink: 'var(--line)', dash: '', wide: 1, quiet: true })),
  ];
}

/**
 * headName names a head of a layer.
 * @param {string} path
 * @param {number} head
 */
function headName(path, head) {
  return `${short(path)} head ${head}`;
}
