// Heads: all heads as thumbnails with their statistics, and one of them large.
import { busy } from '../busy.js';
import { chosen, modelChoice, requestOf, wrong } from '../choose.js';
import { fill, h } from '../dom.js';
import { HeadGrid } from '../headgrid.js';
import { HeadMap } from '../headmap.js';
import { forget, see } from '../look.js';
import { Newer } from '../newer.js';
import { hasModels, panel, problem, Shown, waiting } from '../panel.js';
import * as state from '../state.js';
import { Statistics } from '../statistics.js';

/** @typedef {import('../look.js').Look} Look */

class Heads extends Shown {
  problem = h('div', {});
  /** @type {Look | null} */
  look = null;
  /** @type {Newer | null} */
  newer = null;
  /** @type {HeadGrid | null} */
  grid = null;
  statistics = this.newStatistics();
  map = new HeadMap();

  follow(/** @type {import('../panel.js').Is} */ is) {
    if (!this.look) return;
    if (['layer', 'head', 'scale'].some(is)) busy(this.showHead(this.look));
    else if (['q', 'k'].some(is)) this.map.choose();
  }

  paint() {
    this.map.repaint();
    if (this.look) this.grid?.paint(this.look.layers.map((l) => l.pictures));
  }

  newStatistics() {
    return new Statistics((layer, head) => state.set({ layer, head }));
  }

  async load() {
    const { element, view } = this;
    const request = requestOf(view);
    this.look = null; // what is on its way is of another text or model
    this.map.close();
    this.map = new HeadMap();
    const isOver = this.begin();
    fill(
      element,
      modelChoice(view),
      waiting(
        `${view.models[request.model].name} reads the text. Here come all its heads ` +
          'as small pictures with statistics, and the weights of one of them, pair by pair.',
      ),
    );
    let look;
    try {
      look = await see(request);
    } catch (e) {
      if (!isOver()) fill(element, modelChoice(view), wrong(e.message));
      return;
    }
    if (isOver()) return;
    this.look = look;
    this.frame(look);
    await this.showHead(look);
    for (let layer = 0; layer < look.layers.length && this.shows(look); layer++) {
      const found = await this.loadPictures(look, layer);
      if (this.shows(look)) this.statistics.add(found);
    }
    if (!this.shows(look) || look.telling || !this.statistics.heads.length) return;
    look.telling = this.statistics.mostTelling();
    await this.showHead(look);
  }

  /** frame shows the places of all heads, their statistics, and the chosen one. */
  frame(/** @type {Look} */ look) {
    const { view } = this;
    this.grid = new HeadGrid(look, (layer, head) => state.set({ layer, head }));
    this.statistics = this.newStatistics();
    const model = view.models[look.model];
    const cut = `The text is longer than the model’s window: its first ${look.cut} tokens are not seen.`;
    const side = h(
      'section',
      { 'aria-label': 'all heads', class: 'side' },
      h('h2', {}, model.name),
      h('p', { class: 'note' }, model.title),
      modelChoice(view),
      model.live ? this.newerOf(look) : null,
      look.cut ? h('p', { class: 'note' }, cut) : null,
      this.grid.element,
      this.problem,
      this.statistics.element,
    );
    fill(this.element, h('div', { class: 'columns heads' }, side, this.map.element));
  }

  /** newerOf is the line about the weights of a run that trains. */
  newerOf(/** @type {Look} */ look) {
    this.newer?.close();
    this.newer = new Newer(() => busy(this.lookAgain()), true);
    this.newer.show(look.steps);
    return this.newer.element;
  }

  /** lookAgain shows the heads of a run's weights of now, in the same place. */
  async lookAgain() {
    const before = this.look;
    if (!before) return;
    forget(before.request);
    const look = await see(before.request);
    if (!this.shows(before)) return;
    this.look = look;
    this.newer?.show(look.steps);
    await this.showHead(look, true);
    const all = [];
    for (let layer = 0; layer < look.layers.length && this.shows(look); layer++) {
      all.push(...(await this.loadPictures(look, layer)));
    }
    if (this.shows(look)) this.statistics.replace(all);
  }

  /** shows reports whether a look is the one that is shown. */
  shows(/** @type {Look} */ look) {
    return !this.closed && this.look === look;
  }

  /**
   * showHead shows the chosen head; anew, in the place of its earlier weights if these are shown.
   * @param {Look} look
   * @param {boolean} anew
   */
  async showHead(look, anew = false) {
    const [layer, head] = chosen(look);
    this.grid?.choose(layer, head);
    this.statistics.choose(layer, head);
    const isShown = await this.map.show(look, layer, head, anew);
    if (isShown && this.newer && this.newer.steps !== look.steps) this.newer.show(look.steps);
  }

  /**
   * loadPictures paints the thumbnails of a layer and returns its heads with their statistics.
   * @param {Look} look
   * @param {number} layer
   */
  async loadPictures(look, layer) {
    try {
      const pictures = await look.thumbnails(layer);
      if (!this.shows(look)) return [];
      look.layers[layer].pictures = pictures;
      fill(this.problem);
      this.grid?.paint(
        look.layers.map((l) => l.pictures),
        layer,
      );
      return pictures.statistics.map((statistics, head) => ({ layer, head, statistics }));
    } catch (e) {
      if (this.shows(look)) fill(this.problem, problem(e.message));
      return [];
    }
  }

  close() {
    this.newer?.close();
    this.map.close();
  }
}

export const heads = panel('heads', 'Heads', hasModels, Heads, 'model', 'text', 'then');
