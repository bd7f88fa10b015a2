// The text as tokens: the chosen one, with arcs and colours to those that it looks at.
import { arcsOf, labelsOf } from './arcs.js';
import { busy, painted } from './busy.js';
import { Scale } from './colours.js';
import { fill, h, number, rove, shown, svg } from './dom.js';

/** @typedef {import('./pass.js').Pass} Pass */
/** @typedef {import('./pass.js').Token} Token */

/** @typedef {import('./sight.js').Sight} Sight */
/**
 * Seen is what is shown: the query, where it looks now and, if that was changed, before, the keys that are hidden, and
 * the chosen key.
 * @typedef {{ q: number, after: Sight, before: Sight | null, hidden: Set<number>, k: number }} Seen
 */

const fewTokens = 256; // that are painted at once, also those that the picture has to be scrolled to
const rest = 100; // milliseconds after which a reader of more looks at a head, and does not go through them

/** Tokens shows a sequence whose tokens look at each other, or keys above the queries that look at them. */
export class Tokens {
  /** @param {{ onquery(q: number): void, onkey(k: number): void, onpoint(k: number | null): void }} options */
  constructor(options) {
    this.options = options;
    this.arcs = svg('svg', { class: 'arcs', 'aria-hidden': 'true' });
    this.strips = h('div', { class: 'strips' });
    this.element = h('div', { class: 'arcspicture' }, this.arcs, this.strips);
    /** @type {HTMLButtonElement[]} */
    this.keys = [];
    /** @type {HTMLButtonElement[]} */
    this.queries = [];
    /** @type {string[]} of the keys */
    this.colours = [];
    this.built = '';
    /** @type {Seen | null} */
    this.seen = null;
    rove(this.strips, '.token');
    const point = (/** @type {Event} */ e) => options.onpoint(keyOf(e));
    this.strips.addEventListener('pointerover', point);
    this.strips.addEventListener('focusin', point);
    this.strips.addEventListener('pointerleave', () => options.onpoint(null));
    this.resized = new ResizeObserver(() => {
      this.arrange();
      this.draw();
    });
    this.resized.observe(this.strips);
  }

  /**
   * show shows the tokens of a layer's queries and keys, and where the chosen one looks.
   * @param {Pass} pass
   * @param {number} layer
   * @param {Seen} seen
   */
  show(pass, layer, seen) {
    this.build(pass, layer);
    this.seen = seen;
    this.arrange();
    this.reveal(this.queries[seen.q]);
    const [from, end] = this.inSight(); // before anything is changed, which the browser would have to arrange anew
    this.draw();
    this.paint(seen, from, end);
    const later = this.keys.length > fewTokens ? rest : 0;
    busy(painted(later).then(() => this.seen === seen && this.finish(pass.keys(layer), seen)));
  }

  /**
   * inSight returns the first key of the lines that are seen without scrolling, and the end; all of a few.
   * @returns {[number, number]}
   */
  inSight() {
    const { keys, element } = this;
    if (keys.length <= fewTokens) return [0, keys.length];
    const { scrollTop, clientHeight } = element;
    const first = (/** @type {(b: HTMLElement) => boolean} */ is) => {
      let [from, to] = [0, keys.length];
      while (from < to) {
        const middle = (from + to) >> 1;
        if (is(keys[middle])) to = middle;
        else from = middle + 1;
      }
      return from;
    };
    return [
      first((b) => b.offsetTop + b.offsetHeight > scrollTop),
      first((b) => b.offsetTop > scrollTop + clientHeight),
    ];
  }

  /**
   * build makes the buttons of the tokens, if these are others than before.
   * @param {Pass} pass
   * @param {number} layer
   */
  build(pass, layer) {
    const { queries, keys } = pass.layers[layer];
    const apart = queries !== keys;
    const built = JSON.stringify([apart, pass.keys(layer), apart && pass.queries(layer)]);
    if (this.built === built) return;
    this.built = built;
    this.colours = [];
    this.element.classList.toggle('apart', apart);
    const focused = document.activeElement?.closest('.strips .token');
    const at = [this.queries, this.keys].map((all) => all.indexOf(/** @type {HTMLButtonElement} */ (focused)));
    const { onquery, onkey } = this.options;
    this.keys = pass
      .keys(layer)
      .map((t, i) => tokenButton(t, { 'data-k': i, onclick: () => (apart ? onkey : onquery)(i) }));
    this.queries = this.keys;
    const strip = (/** @type {HTMLElement[]} */ of, /** @type {string} */ name) =>
      h(
        'div',
        { class: 'strip', role: 'group', 'aria-label': name, lang: '' },
        name && h('span', { class: 'stripname' }, name),
        of,
      );
    if (apart) {
      this.queries = pass.queries(layer).map((t, i) => tokenButton(t, { onclick: () => onquery(i) }));
      fill(this.strips, strip(this.keys, pass.sequences[keys].name), strip(this.queries, pass.sequences[queries].name));
    } else {
      fill(this.strips, h('div', { class: 'strip', role: 'group', 'aria-label': 'tokens of the text' }, this.keys));
    }
    if (at[0] >= 0 || at[1] >= 0) (this.queries[at[0]] ?? this.keys[at[1]] ?? this.queries.at(-1))?.focus();
  }

  /**
   * paint colours the tokens from a key to an end.
   * @param {Seen} seen
   * @param {number} from
   * @param {number} end
   */
  paint({ q, after, hidden, k: chosen }, from = 0, end = this.keys.length) {
    const scale = new Scale(1);
    this.keys.slice(from, end).forEach((b, i) => {
      const k = from + i;
      const w = after.weights[k];
      const unseen = Number.isNaN(w);
      const { css, ink } = unseen ? { css: '', ink: '' } : scale.colour(w / (after.most || 1));
      if (this.colours[k] !== css) {
        b.style.backgroundColor = this.colours[k] = css; // what stays as it is costs no time
        b.style.color = ink;
      }
      b.classList.toggle('unseen', unseen);
      b.classList.toggle('off', hidden.has(k));
    });
    this.queries.forEach((b, i) => {
      b.setAttribute('aria-pressed', String(i === q));
      b.tabIndex = i === q ? 0 : -1;
    });
    if (this.queries !== this.keys) {
      this.keys.forEach((b, k) => {
        b.tabIndex = k === chosen ? 0 : -1;
        b.setAttribute('aria-current', String(k === chosen));
      });
    }
  }

  /**
   * finish paints the tokens out of sight, and gives all the words that are read aloud: a thousand take their time.
   * @param {Token[]} tokens
   * @param {Seen} seen
   */
  finish(tokens, seen) {
    this.paint(seen);
    const { after, hidden } = seen;
    this.keys.forEach((b, k) => {
      const w = after.weights[k];
      const weight = Number.isNaN(w) ? 'not seen' : `weight ${number(w)}`;
      const off = hidden.has(k) ? ', hidden by you' : '';
      b.setAttribute('aria-label', `${shown(tokens[k])}, token ${k}, ${weight}${off}`);
    });
    if (this.queries === this.keys) return;
    for (const [i, b] of this.queries.entries()) b.setAttribute('aria-label', `${b.textContent}, query ${i}`);
  }

  /** arrange leaves room for the arcs. */
  arrange() {
    const { classList } = this.element;
    classList.toggle('both', Boolean(this.seen?.before));
    classList.remove('dense');
    if (this.isWrapped()) {
      classList.add('dense'); // a text that one line of smaller letters holds stays in one line
      if (this.isWrapped()) classList.remove('dense');
    }
    classList.toggle('wrapped', this.isWrapped());
  }

  /** draw draws the arcs: above the tokens those of now, and below them those of before. */
  draw() {
    if (!this.seen) return;
    const { q, after, before } = this.seen;
    const from = this.queries[q];
    if (!from) return;
    const isWrapped = this.element.classList.contains('wrapped');
    const highest = isWrapped ? 60 : 104; // of a curve's control points, for which the style leaves room
    const { scrollWidth: width, scrollHeight: height } = this.strips;
    for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) {
      this.arcs.setAttribute(name, String(value));
    }
    const drawn = (/** @type {Sight} */ sight, down = false) => arcsOf(sight, from, this.keys, down, highest);
    const below = before ? drawn(before, true) : labelsOf(after, this.keys, this.queries !== this.keys);
    fill(this.arcs, below, drawn(after));
  }

  /** reveal scrolls to a token that a long text hides. */
  reveal(/** @type {HTMLElement | undefined} */ token) {
    if (!token) return;
    const { scrollTop, clientHeight } = this.element;
    const { offsetTop, offsetHeight } = token;
    if (offsetTop >= scrollTop && offsetTop + offsetHeight <= scrollTop + clientHeight) return;
    this.element.scrollTop = offsetTop - clientHeight / 2;
  }

  /** isWrapped reports whether a strip has several lines. */
  isWrapped() {
    return [this.keys, this.queries].some(
      (tokens) => tokens.length > 1 && tokens[0].offsetTop !== tokens.at(-1)?.offsetTop,
    );
  }

  /** mark shows the arc to a key alone. */
  mark(/** @type {number | null} */ k) {
    this.arcs.classList.toggle('one', k !== null);
    for (const path of this.arcs.children)
      path.classList.toggle('shown', /** @type {SVGElement} */ (path).dataset.k === String(k));
  }

  close() {
    this.resized.disconnect();
  }
}

/**
 * tokenButton is a button with a token.
 * @param {Token} token
 * @param {Record<string, any>} attributes
 */
function tokenButton(token, attributes) {
  return h('button', { type: 'button', class: 'token', ...attributes }, shown(token));
}

/** keyOf returns the key that an event is about. */
function keyOf(/** @type {Event} */ e) {
  const of = /** @type {HTMLElement | null} */ (/** @type {Element} */ (e.target).closest?.('[data-k]'));
  const k = of?.dataset.k;
  return k === undefined ? null : Number(k);
}
