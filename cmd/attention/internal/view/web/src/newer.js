// The weights of a training run: their step, a note about newer weights, and a new request for them.
import { events, isExported } from './api.js';
import { button, fill, h } from './dom.js';
import { Pace } from './pace.js';
import * as state from './state.js';

/** Newer is a line about the shown weights; again() requests newer ones. */
export class Newer {
  /**
   * @param {() => Promise<void> | void} again
   * @param {boolean} follows whether it requests newer weights by itself, at a pace that hardly slows the run
   */
  constructor(again, follows = false) {
    this.again = again;
    this.follows = follows;
    this.steps = 0;
    /** @type {string | undefined} of the run, when its weights were first seen */
    this.version = undefined;
    this.isNewer = this.refreshing = this.over = this.done = this.closed = false;
    /** @type {(() => void) | null} */
    this.end = null;
    this.element = h('p', { class: 'note newer' });
    this.text = h('span');
    this.button = button('Look again', () => this.refresh());
    this.follow = h('input', {
      type: 'checkbox',
      id: 'follow',
      '.checked': state.get('follow') !== 'no',
      onchange: () => {
        state.set({ follow: this.follow.checked ? '' : 'no' }, true);
        this.ask();
      },
    });
    fill(
      this.element,
      this.text,
      ' ',
      this.button,
      follows ? h('label', { for: 'follow' }, ' ', this.follow, ' look again by itself') : null,
    );
    this.pace = new Pace(() => this.pace.take(() => this.refresh()), { least: 4000, most: 60_000, times: 30 });
  }

  /** show shows the step of the weights. Later steps of the run make newer weights. */
  show(/** @type {number} */ steps) {
    this.steps = steps;
    this.element.dataset.steps = String(steps);
    this.isNewer = false;
    this.tell();
    if (!this.pace.ready) this.pace.ready = performance.now() + this.pace.least; // the first request was just now
    if (this.end || isExported) return;
    this.end = events('events', { told: (version) => this.told(version), failed: () => {}, ended: () => this.ended() });
  }

  told(/** @type {string} */ version) {
    this.done = version.split(' ')[1] === 'finished';
    const first = this.version === undefined;
    this.version = version;
    if (first) {
      this.tell();
      return;
    }
    this.isNewer = true;
    this.tell();
    this.ask();
  }

  ended() {
    this.over = true;
    this.tell();
  }

  ask() {
    if (this.follows && this.follow.checked && this.isNewer) this.pace.ask();
  }

  async refresh() {
    if (this.refreshing || this.closed || this.over) return;
    this.refreshing = true;
    this.button.disabled = true;
    try {
      await this.again();
    } catch (e) {
      this.text.textContent = e.message; // the shown weights remain
    } finally {
      this.refreshing = this.button.disabled = false;
    }
  }

  tell() {
    this.button.disabled = this.over || this.refreshing;
    const text =
      `The weights after step ${this.steps} of ` +
      (this.over
        ? 'the run, whose program has ended.'
        : `a run that ${this.done ? 'is finished' : 'trains'}.${this.isNewer ? ' There are newer ones.' : ''}`);
    if (this.text.textContent !== text) this.text.textContent = text;
  }

  close() {
    this.closed = true;
    this.pace.close();
    this.end?.();
  }
}
