// The page as one file, with the text, the head and the changes that its reader has chosen.
import { file } from './api.js';
import { busy } from './busy.js';
import { changed } from './changes.js';
import { otherOf, requestOf } from './choose.js';
import { button, fill, h } from './dom.js';
import { forward } from './pass.js';
import { save } from './save.js';

/** passesOf returns the requests of the shown passes: without changes, with changes, and for another model. */
async function passesOf(/** @type {import('./api.js').View} */ view) {
  if (!view.models.length) return [];
  const request = requestOf(view);
  const before = await forward(request);
  const after = changed(request, before);
  const all = after === request ? [request] : [request, after];
  if (view.models.length > 1) all.push(otherOf(view, before));
  return all;
}

/** savePage is a button that saves the page. */
export function savePage(/** @type {import('./api.js').View} */ view) {
  const note = h('span', {});
  const make = async () => {
    fill(note);
    try {
      const passes = await passesOf(view);
      const bytes = await file('page', { state: location.hash.slice(1), passes });
      save('attention.html', new Blob([bytes], { type: 'text/html' }));
    } catch (e) {
      fill(note, h('span', { class: 'error', role: 'alert' }, ` ${e.message}`));
    }
  };
  const title = 'one HTML file with what this page shows, which opens without the program';
  return h(
    'span',
    { class: 'savepage' },
    button('Save page', () => busy(make()), { title }),
    note,
  );
}
