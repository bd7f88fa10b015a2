// The common part of all panels.
import { busy } from './busy.js';
import { fill, h } from './dom.js';
import * as state from './state.js';

/** @typedef {import('./api.js').View} View */
/** @typedef {(name: string) => boolean} Is reports whether a part of the state has changed */

/** Shown is a panel that is shown, until it is closed. */
export class Shown {
  /**
   * @param {HTMLElement} element
   * @param {View} view
   */
  constructor(element, view) {
    this.element = element;
    this.view = view;
    this.closed = false;
    this.wanted = {};
  }

  /** load shows the state, at first and after changes of the parts for which the panel is loaded. */
  async load() {}

  /** follow shows other changes of the state. */
  follow(/** @type {Is} */ _is) {}

  /** paint paints in the colours of another theme. */
  paint() {}

  close() {}

  /** begin begins a load. It returns a function that reports whether another load, or the end, has come meanwhile. */
  begin() {
    const wanted = (this.wanted = {});
    return () => this.closed || this.wanted !== wanted;
  }

  /** wait says what is being loaded. */
  wait(/** @type {string} */ coming) {
    fill(this.element, waiting(coming));
  }
}

export const waiting = (/** @type {string} */ coming) => h('p', { class: 'note', role: 'status' }, coming);

export const problem = (/** @type {string} */ message) => h('p', { class: 'error', role: 'alert' }, message);

/**
 * panel is a screen of the page. It is loaded again when a part of the state in on changes.
 * @param {string} name
 * @param {string} title
 * @param {(view: View) => boolean} needs
 * @param {new (element: HTMLElement, view: View) => Shown} Kind
 * @param {string[]} on
 * @returns {import('./api.js').Panel}
 */
export function panel(name, title, needs, Kind, ...on) {
  const show = (/** @type {HTMLElement} */ element, /** @type {View} */ view) => {
    const shown = new Kind(element, view);
    busy(shown.load());
    const end = state.onChange((is) => {
      if (on.some(is)) busy(shown.load());
      else shown.follow(is);
    });
    const repaint = () => shown.paint();
    addEventListener('theme', repaint);
    return () => {
      shown.closed = true;
      removeEventListener('theme', repaint);
      end();
      shown.close();
    };
  };
  return { name, title, needs, show };
}

export const hasModels = (/** @type {View} */ view) => view.models.length > 0;
