// The page: a frame with panels. One panel is shown at a time.
import { isExported, json } from './api.js';
import { busy } from './busy.js';
import { setPalettes } from './colours.js';
import { all, button, byId, choice, fill, h, one } from './dom.js';
import { isPlain } from './keys.js';
import { Newer } from './newer.js';
import { problem } from './panel.js';
import { attention } from './panels/attention.js';
import { compare } from './panels/compare.js';
import { heads } from './panels/heads.js';
import { journey } from './panels/journey.js';
import { pair } from './panels/pair.js';
import { runs } from './panels/runs.js';
import { steps } from './panels/steps.js';
import { training } from './panels/training.js';
import { why } from './panels/why.js';
import { forgetAll, onPass } from './pass.js';
import { savePage } from './savepage.js';
import * as state from './state.js';
import { showTips } from './tip.js';

/** @type {import('./api.js').Panel[]} */
const panels = [attention, journey, heads, pair, training, compare, steps, runs, why];

const withNewer = [attention, journey, pair, compare, steps]; // the panel heads has a separate line

/** @type {(() => void) | null} */
let end = null;
let shown = '';

/** @typedef {import('./api.js').View} View */

/** current is the panel of the state, or the first one. */
function current(/** @type {View} */ view) {
  const usable = panels.filter((p) => p.needs(view));
  return usable.find((p) => p.name === state.get('panel')) ?? (view.chapter ? steps : usable[0]);
}

function showPanel(/** @type {View} */ view) {
  const panel = current(view);
  if (panel?.name === shown) return;
  end?.();
  const place = byId('panel');
  shown = panel?.name ?? '';
  for (const b of all(document, 'nav button')) {
    b.setAttribute('aria-current', b.dataset.panel === shown ? 'page' : 'false');
    if (b.dataset.panel === shown) b.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }
  if (panel) {
    const element = h('div'); // of its own: what a panel that has ended still awaits writes nowhere
    fill(place, element);
    end = panel.show(element, view);
  } else {
    end = null;
    fill(
      place,
      h('p', { class: 'note' }, 'There is nothing to see: start attention view with --model DIR or --chapter.'),
    );
  }
}

/** showNewer shows in the header of which step the weights of a run that trains are. */
function showNewer(/** @type {View} */ view) {
  const place = byId('newer');
  /** @type {Newer | null} */
  let line = null;
  const gone = () => {
    line?.close();
    line = null;
    fill(place);
  };
  state.onChange((changed) => {
    if (['panel', 'model'].some(changed)) gone();
  });
  onPass.add((pass) => {
    if (!withNewer.some((p) => p.name === shown) || !view.models[pass.model].live) return;
    if (!line) {
      line = new Newer(() => {
        forgetAll();
        shown = '';
        showPanel(view);
      });
      fill(place, line.element);
    }
    line.show(pass.steps);
  });
}

function theme(/** @type {string} */ value) {
  if (value) document.documentElement.dataset.theme = value;
  else delete document.documentElement.dataset.theme;
  dispatchEvent(new Event('theme'));
}

/** colours is the choice of light or dark, which the URL may change, too. */
function colours() {
  const label = choice(
    'theme',
    [
      ['', 'auto'],
      ['light', 'light'],
      ['dark', 'dark'],
    ],
    state.get('theme'),
    (v) => state.set({ theme: v }),
  );
  state.onChange((changed) => {
    if (changed('theme')) one(label, 'select').value = state.get('theme');
  });
  return label;
}

function header(/** @type {View} */ view) {
  const usable = panels.filter((p) => p.needs(view));
  const nav = h(
    'nav',
    { 'aria-label': 'Panels' },
    usable.map((p, i) =>
      button(p.title, () => state.set({ panel: p.name }), { 'data-panel': p.name, title: `key ${i + 1}` }),
    ),
  );
  fill(
    byId('header'),
    h('h1', {}, view.reverse ? 'attention why' : 'attention view'),
    usable.length > 1 ? nav : null,
    view.one && !isExported ? h('a', { class: 'home', href: '../../#panel=runs' }, 'All runs') : null,
    isExported || view.reverse ? null : savePage(view),
    colours(),
    h('div', { id: 'newer' }),
    isExported
      ? h(
          'p',
          { class: 'note exported' },
          'An exported page of attention view: another text, changes and writing on work in the program only.',
          leftOut(view.left ?? []),
        )
      : null,
  );
}

/** leftOut returns the sentence of an exported page about the parts that it has no room for. */
function leftOut(/** @type {string[]} */ left) {
  if (!left.length) return '';
  const names = left.length > 6 ? `${left.slice(0, 5).join('; ')}; and ${left.length - 5} more` : left.join('; ');
  return ` Left out, for want of room: ${names}.`;
}

function keys(/** @type {View} */ view) {
  addEventListener('keydown', (e) => {
    if (!isPlain(e) || /^(INPUT|TEXTAREA|SELECT)$/.test(/** @type {Element} */ (e.target).tagName)) return;
    const panel = panels.filter((p) => p.needs(view))[Number(e.key) - 1];
    if (panel) state.set({ panel: panel.name });
  });
}

async function start() {
  const element = byId('panel');
  byId('skip').addEventListener('click', (e) => {
    e.preventDefault(); // the part after # is the state
    element.focus();
  });
  try {
    theme(state.get('theme'));
    /** @type {View} */
    const view = await json('view');
    view.models ??= [];
    setPalettes(view);
    if (isExported && view.state && !location.hash) state.restore(view.state);
    showTips();
    header(view);
    showNewer(view);
    keys(view);
    state.onChange((changed) => {
      if (changed('theme')) theme(state.get('theme'));
      showPanel(view);
    });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => dispatchEvent(new Event('theme')));
    showPanel(view);
  } catch (e) {
    fill(element, problem(e.message));
  }
}

busy(start());
