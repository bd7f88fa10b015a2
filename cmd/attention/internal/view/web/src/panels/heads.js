// Heads: all heads as thumbnails with their statistics, and one head large.
import { busy } from '../busy.js';
import { chosen, modelChoice, requestOf, wrong } from '../choose.js';
import { fill, h } from '../dom.js';
import { HeadGrid } from '../headgrid.js';
import { HeadMap } from '../headmap.js';
import { Newer } from '../newer.js';
import { hasModels, panel, problem, Shown, waiting } from '../panel.js';
import { forget, forward } from '../pass.js';
import * as state from '../state.js';
import { Statistics } from '../statistics.js';
import { tellsOf } from '../tells.js';

/** @typedef {import('../pass.js').Pass} Pass */

class Heads extends Shown {
  problem = h('div', {});
  /** @type {Pass | null} */
  pass = null;
  /** @type {Newer | null} */
  newer = null;
  /** @type {HeadGrid | null} */
  grid = null;
  statistics = this.newStatistics();
  map = new HeadMap();

  follow(/** @type {import('../panel.js').Is} */ is) {
    if (!this.pass) return;
    if (['layer', 'head', 'scale'].some(is)) busy(this.showHead(this.pass));
    else if (['q', 'k'].some(is)) this.map.choose();
  }

  paint() {
    this.map.repaint();
    if (this.pass) this.grid?.paint(this.pass.layers.map((l) => l.pictures));
  }

  newStatistics() {
    return new Statistics((layer, head) => state.set({ layer, head }));
  }

  async load() {
    const { element, view } = this;
    const request = requestOf(view);
    this.pass = null; // pending answers belong to another text or model
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
    let pass;
    try {
      pass = await forward(request);
    } catch (e) {
      if (!isOver()) fill(element, modelChoice(view), wrong(e.message));
      return;
    }
    if (isOver()) return;
    this.pass = pass;
    this.frame(pass);
    await this.showHead(pass);
    for (let layer = 0; layer < pass.layers.length && this.shows(pass); layer++) {
      const found = await this.loadPictures(pass, layer);
      if (this.shows(pass)) this.statistics.add(found);
    }
    if (!this.shows(pass) || pass.telling || !this.statistics.heads.length) return;
    const { best } = await tellsOf(pass);
    pass.telling = best ? [best[0], best[1]] : this.statistics.mostTelling();
    if (this.shows(pass)) await this.showHead(pass);
  }

  /** frame shows the places of all heads, their statistics, and the chosen one. */
  frame(/** @type {Pass} */ pass) {
    const { view } = this;
    this.grid = new HeadGrid(pass, (layer, head) => state.set({ layer, head }));
    this.statistics = this.newStatistics();
    const model = view.models[pass.model];
    const cut = `The text is longer than the model’s window: its first ${pass.cut} tokens are not seen.`;
    const side = h(
      'section',
      { 'aria-label': 'all heads', class: 'side' },
      h('h2', {}, model.name),
      h('p', { class: 'note' }, model.title),
      modelChoice(view),
      model.live ? this.newerOf(pass) : null,
      pass.cut ? h('p', { class: 'note' }, cut) : null,
      this.grid.element,
      this.problem,
      this.statistics.element,
    );
    fill(this.element, h('div', { class: 'columns heads' }, side, this.map.element));
  }

  /** newerOf is the line about the weights of a run that trains. */
  newerOf(/** @type {Pass} */ pass) {
    this.newer?.close();
    this.newer = new Newer(() => busy(this.refresh()), true);
    this.newer.show(pass.steps);
    return this.newer.element;
  }

  /** refresh shows the heads with the present weights of a run, in the same elements. */
  async refresh() {
    const before = this.pass;
    if (!before) return;
    forget(before.request);
    const pass = await forward(before.request);
    if (!this.shows(before)) return;
    this.pass = pass;
    this.newer?.show(pass.steps);
    await this.showHead(pass, true);
    const all = [];
    for (let layer = 0; layer < pass.layers.length && this.shows(pass); layer++) {
      all.push(...(await this.loadPictures(pass, layer)));
    }
    if (this.shows(pass)) this.statistics.replace(all);
  }

  /** shows reports whether a pass is the shown one. */
  shows(/** @type {Pass} */ pass) {
    return !this.closed && this.pass === pass;
  }

  /**
   * showHead shows the chosen head; with anew it replaces the head's earlier weights if these are shown.
   * @param {Pass} pass
   * @param {boolean} anew
   */
  async showHead(pass, anew = false) {
    const [layer, head] = chosen(pass);
    this.grid?.choose(layer, head);
    this.statistics.choose(layer, head);
    const isShown = await this.map.show(pass, layer, head, anew);
    if (isShown && this.newer && this.newer.steps !== pass.steps) this.newer.show(pass.steps);
  }

  /**
   * loadPictures paints the thumbnails of a layer and returns its heads with their statistics.
   * @param {Pass} pass
   * @param {number} layer
   */
  async loadPictures(pass, layer) {
    try {
      const pictures = await pass.thumbnails(layer);
      if (!this.shows(pass)) return [];
      pass.layers[layer].pictures = pictures;
      fill(this.problem);
      this.grid?.paint(
        pass.layers.map((l) => l.pictures),
        layer,
      );
      return pictures.statistics.map((statistics, head) => ({ layer, head, statistics }));
    } catch (e) {
      if (this.shows(pass)) fill(this.problem, problem(e.message));
      return [];
    }
  }

  close() {
    this.newer?.close();
    this.map.close();
  }
}

export const heads = panel('heads', 'Heads', hasModels, Heads, 'model', 'text', 'then');
