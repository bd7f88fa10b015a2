// Three hints at a first visit.
import { isExported } from './api.js';
import { button, h } from './dom.js';

const cookie = 'attention-hints=seen'; // stored for the host name, because ports change from start to start

/** hints returns the hints, or null if the reader has already read them. */
export function hints() {
  if (isExported || document.cookie.includes(cookie)) return null;
  const one = (/** @type {number} */ number, /** @type {string} */ title, /** @type {string} */ text) =>
    h('li', {}, h('b', {}, `${number} ${title} `), text);
  const element = h(
    'aside',
    { class: 'hints', 'aria-label': 'three hints' },
    h(
      'ol',
      {},
      one(1, 'Type.', 'The text is yours: all pictures follow each key stroke.'),
      one(2, 'Click a token.', 'Arcs show which tokens it looks at; the bluer, the more.'),
      one(3, 'Click a head.', 'Each small picture is one head’s way to look. Switch it off and see what changes.'),
    ),
    button('Got it', () => {
      document.cookie = `${cookie}; max-age=31536000; path=/; SameSite=Strict`;
      element.remove();
    }),
  );
  return element;
}
