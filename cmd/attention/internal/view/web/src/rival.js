// A model that writes a string backwards: the string above, the output below, and between them the attention.
import { Scale, shares } from './colours.js';
import { button, fill, h, number, svg } from './dom.js';
import { funnel } from './funnel.js';
import * as state from './state.js';

/**
 * About describes a model.
 * @typedef {{name: string, parameters: number, exact: number[]}} About
 */

/** texts describe, by the model's name, which information about the string the writing part has. */
const texts = /** @type {Record<string, string>} */ ({
  squeezed: 'A GRU reads the string, another writes. All that the second knows of it is one vector.',
  attending: 'The same, but before each letter the writer looks at all states of the reader.',
  transformer: 'No recurrence: each letter looks at all others, and the writer at the string.',
});

const [above, below, height] = [16, 102, 124]; // base lines of the two rows of letters
const widest = 34; // of a letter
const thinnest = 0.02; // smallest weight for which a line is drawn

export class Rival {
  /**
   * onpoint is called with the number of written letters at the pointer, or without a value.
   * @param {About} about
   * @param {number} index
   * @param {(at?: number) => void} onpoint
   */
  constructor(about, index, onpoint) {
    this.about = about;
    this.index = index;
    this.onpoint = onpoint;
    this.text = this.written = this.wanted = '';
    /** @type {Float32Array} what the reader knows of the string */
    this.state = new Float32Array(0);
    /** @type {Float32Array[]} of each head */
    this.weights = [];
    this.width = this.step = 0;
    /** @type {number | undefined} the number of drawn letters */
    this.at = undefined;
    this.score = h('span', { class: 'score' });
    this.place = h('div', { class: 'writing' });
    this.heads = h('div', { class: 'focusmaps', role: 'group', 'aria-label': `heads of ${about.name}` });
    this.element = h(
      'section',
      { class: 'rival', 'data-rival': about.name },
      h(
        'div',
        { class: 'who' },
        h('h3', {}, about.name, ' ', this.score),
        h('p', { class: 'note' }, texts[about.name] ?? ''),
        h('p', { class: 'note' }, `${about.parameters.toLocaleString('en')} parameters`),
      ),
      this.place,
      this.heads,
    );
    this.resized = new ResizeObserver(() => {
      if (this.place.clientWidth !== this.width) this.draw(this.at);
    });
    this.resized.observe(this.place);
  }

  /**
   * take stores the output of the model for a string.
   * @param {string} text
   * @param {string} written
   * @param {Record<string, Float32Array>} answer
   */
  take(text, written, answer) {
    this.text = text;
    this.written = written;
    this.wanted = [...text].reverse().join('');
    this.state = answer[`state${this.index}`];
    this.weights = [];
    for (let head = 0; answer[`head${this.index}.${head}`]; head++)
      this.weights.push(answer[`head${this.index}.${head}`]);
  }

  /** head is the chosen head. */
  head() {
    return state.int('head', this.weights.length);
  }

  /** draw draws the writing of the first letters. */
  draw(/** @type {number | undefined} */ at) {
    if (at === undefined || !this.text) return;
    this.at = at;
    const n = this.text.length;
    this.width = this.place.clientWidth || 360;
    this.step = Math.min(widest, (this.width - 8) / (n + 1));
    const right = [...this.written].slice(0, at).filter((c, t) => c === this.wanted[t]).length;
    fill(this.score, h('b', {}, String(right)), ` of ${at} right`);
    this.score.classList.toggle('wrong', right < at);
    fill(this.place, this.picture(at));
    this.showHeads(at);
  }

  x(/** @type {number} */ i) {
    return 4 + this.step * (i + 0.5);
  }

  picture(/** @type {number} */ at) {
    const n = this.text.length;
    const root = svg('svg', {
      viewBox: `0 0 ${this.width} ${height}`,
      width: this.width,
      height,
      role: 'img',
      class: this.step < 10 ? 'reversing tight' : 'reversing',
      'aria-label': this.label(at),
    });
    root.append(...(this.weights.length ? this.lines(at) : funnel(this, at, above, below)));
    /** @type {(i: number, y: number, text: string, kind: string) => SVGTextElement} */
    const letter = (i, y, text, kind) => svg('text', { x: this.x(i), y, 'text-anchor': 'middle', class: kind }, text);
    const looked = this.weights.length && at > 0 && at < n ? this.row(at - 1) : null;
    for (let s = 0; s < n; s++)
      root.append(letter(s, above, this.text[s], (looked?.[s] ?? 0) > 0.3 ? 'letter seen' : 'letter'));
    if (this.weights.length) root.append(letter(n, above, '¶', 'letter quiet'));
    for (let t = 0; t < n; t++) {
      if (t >= at) root.append(letter(t, below, '·', 'letter quiet'));
      else if (this.written[t] === this.wanted[t]) root.append(letter(t, below, this.written[t], 'letter out'));
      else {
        root.append(
          letter(t, below, this.written[t], 'letter out bad'),
          letter(t, below + 16, this.wanted[t], 'letter want'),
        );
      }
    }
    root.addEventListener('pointermove', (e) => {
      const box = root.getBoundingClientRect();
      const t = Math.floor((((e.clientX - box.left) * this.width) / box.width - 4) / this.step);
      if (t >= 0 && t < n) this.onpoint(t + 1);
    });
    root.addEventListener('pointerleave', () => this.onpoint());
    return root;
  }

  /** label describes the picture in words. */
  label(/** @type {number} */ at) {
    const what = `${this.about.name} writes ${this.written.slice(0, at) || 'nothing yet'}`;
    if (!at || !this.weights.length) return what;
    const row = this.row(at - 1);
    const most = row.indexOf(Math.max(...row));
    const seen = this.text[most] ?? 'the end';
    return `${what}; for letter ${at} it looks most at letter ${most + 1}, ${seen}, weight ${number(row[most], 2)}`;
  }

  /** row is the weights of a letter by the chosen head. */
  row(/** @type {number} */ t) {
    const n = this.text.length;
    return this.weights[this.head()].subarray(t * (n + 1), (t + 1) * (n + 1));
  }

  /** lines draws lines from each written letter to the attended letters; those of the last letter are dark. */
  lines(/** @type {number} */ at) {
    /** @type {SVGElement[]} */
    const out = [];
    const n = this.text.length;
    for (let t = 0; t < at; t++) {
      const last = t === at - 1 && at < n;
      this.row(t).forEach((w, s) => {
        if (!(w > thinnest)) return;
        const share = last ? w : w * (at === n ? 0.45 : 0.14);
        out.push(
          svg('line', {
            x1: this.x(t),
            y1: below - 14,
            x2: this.x(s),
            y2: above + 6,
            'stroke-width': 0.5 + 2.5 * w,
            'stroke-opacity': share.toFixed(3),
            class: last ? 'weight now' : 'weight',
          }),
        );
      });
    }
    return out;
  }

  /** showHeads shows the weights of all written letters, and the choice of a head if there are several. */
  showHeads(/** @type {number} */ at) {
    const several = this.weights.length > 1;
    if (this.heads.childElementCount !== this.weights.length) {
      fill(
        this.heads,
        this.weights.map((_, i) => {
          const canvas = h('canvas', { role: 'img', 'aria-label': `weights of head ${i}` });
          return several
            ? button('', () => state.set({ head: i }), { class: 'thumbnail', title: `head ${i}` })
            : canvas;
        }),
      );
      if (several)
        [...this.heads.children].forEach((b, i) => b.append(h('canvas', { role: 'img', 'aria-label': `head ${i}` })));
    }
    const n = this.text.length;
    const scale = new Scale(1);
    [...this.heads.querySelectorAll('canvas')].forEach((canvas, i) => {
      const seen = Float32Array.from(this.weights[i], (w, p) => (p < at * (n + 1) ? w : NaN));
      scale.draw(canvas, shares(seen, n + 1), n, n + 1);
      if (several) canvas.parentElement?.setAttribute('aria-pressed', String(i === this.head()));
    });
  }

  close() {
    this.resized.disconnect();
  }
}
