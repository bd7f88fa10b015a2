// A string that grows automatically from 5 letters to 25 in eight seconds, until the reader takes over.
import { button, fill } from './dom.js';
import { isPlain } from './keys.js';

const [first, last, span] = [5, 25, 8000]; // letters, letters, milliseconds

/** steps are the numbers of letters that keys add. */
const steps = /** @type {Record<string, number>} */ ({ ArrowLeft: -1, ArrowRight: 1 });

export class Race {
  /**
   * length returns the number of letters of the string, and grow sets it.
   * @param {() => number} length
   * @param {(n: number) => void} grow
   * @param {number} longest
   */
  constructor(length, grow, longest) {
    this.length = length;
    this.grow = (/** @type {number} */ n) => grow(Math.max(1, Math.min(longest, n)));
    this.longest = longest;
    this.timer = 0;
    this.end = last;
    this.button = button('', () => this.toggle(), {
      class: 'primary',
      id: 'grow',
      title: 'space; ← and → for a letter',
    });
    this.key = (/** @type {KeyboardEvent} */ e) => this.press(e);
    addEventListener('keydown', this.key);
    this.name();
  }

  /** open begins with a short string, or with the long one if the browser asks for reduced motion. */
  open() {
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    this.grow(still ? last : first);
    if (!still) this.run();
  }

  run() {
    this.stop();
    this.end = this.length() < last ? last : this.longest;
    this.timer = setInterval(() => this.next(), span / (last - first));
    this.name();
  }

  next() {
    const n = this.length() + 1;
    if (n >= this.end) this.stop();
    this.grow(n);
  }

  /** stop ends the growth; the string does not change. */
  stop() {
    clearInterval(this.timer);
    this.timer = 0;
    this.name();
  }

  toggle() {
    if (this.timer) this.stop();
    else this.run();
  }

  name() {
    fill(this.button, this.timer ? 'Pause' : 'Longer');
  }

  /** press handles the space key, which pauses and continues, and the arrow keys, which add or remove a letter. */
  press(/** @type {KeyboardEvent} */ e) {
    const of = /** @type {Element} */ (e.target).tagName;
    if (!isPlain(e) || /^(INPUT|SELECT|TEXTAREA)$/.test(of) || (of === 'BUTTON' && e.key === ' ')) return;
    const by = steps[e.key];
    if (e.key !== ' ' && by === undefined) return;
    e.preventDefault();
    if (by === undefined) {
      this.toggle();
      return;
    }
    this.stop();
    this.grow(this.length() + by);
  }

  close() {
    clearInterval(this.timer);
    removeEventListener('keydown', this.key);
  }
}
