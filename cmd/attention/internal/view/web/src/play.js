// A translation that is written letter by letter, each with its arcs.
import { button, fill } from './dom.js';
import { isPlain } from './keys.js';

const each = 250; // milliseconds for a letter

export class Play {
  /**
   * show shows the letters up to one of them, and tokens has them.
   * @param {(q: number) => void} show
   * @param {import('./tokens.js').Tokens} tokens
   */
  constructor(show, tokens) {
    this.show = show;
    this.tokens = tokens;
    this.timer = 0;
    this.n = 0; // letters; 0 of what is no translation
    this.q = 0;
    this.button = button('', () => this.toggle(), { id: 'write', title: 'space' });
    this.key = (/** @type {KeyboardEvent} */ e) => {
      const taken = /^(BUTTON|INPUT|SELECT|TEXTAREA|SUMMARY)$/.test(/** @type {Element} */ (e.target).tagName);
      if (e.key !== ' ' || taken || !isPlain(e) || !this.n) return;
      e.preventDefault();
      this.toggle();
    };
    addEventListener('keydown', this.key);
    this.name();
  }

  /** at tells it the letter that is shown; what is no translation has no letters to write. */
  at(/** @type {number} */ q) {
    const { queries, keys } = this.tokens;
    const n = queries === keys ? 0 : queries.length;
    if (n !== this.n) this.stop();
    [this.n, this.q] = [n, q];
    this.name();
  }

  /** open writes from the first letter on, unless the reader wants no motion. */
  open() {
    if (!matchMedia('(prefers-reduced-motion: reduce)').matches) this.start(0);
  }

  start(/** @type {number} */ from) {
    this.stop();
    this.timer = setInterval(() => this.next(), each);
    this.name();
    this.show(from);
  }

  next() {
    const q = this.q + 1;
    if (q >= this.n - 1) this.stop();
    this.show(Math.min(q, this.n - 1));
  }

  stop() {
    clearInterval(this.timer);
    this.timer = 0;
    this.name();
  }

  toggle() {
    if (this.timer) this.stop();
    else this.start(this.q + 1 < this.n ? this.q : 0);
  }

  /** name names the button, and hides the letters that are not written yet. */
  name() {
    this.tokens.queries.forEach((b, i) => b.classList.toggle('coming', this.timer > 0 && i > this.q));
    this.button.hidden = this.n === 0;
    fill(this.button, this.timer ? 'Pause' : 'Write it');
  }

  close() {
    clearInterval(this.timer);
    removeEventListener('keydown', this.key);
  }
}
