// The head and the token that the page proposes. They are put into the state as if the reader had chosen them.
import * as state from './state.js';

let proposed = ''; // the layer and head that this page, not its reader, has put into the state
let opened = ''; // the token

/** isProposed reports whether no reader has chosen the layer and head of the state. */
export function isProposed() {
  const now = `${state.get('layer')} ${state.get('head')}`;
  return now === ' ' || now === proposed;
}

/**
 * propose puts the most telling layer, head and token of a pass into the state, so that a link and a saved page show
 * them too, unless the reader has chosen others. It returns whether no token was chosen.
 * @param {import('./pass.js').Pass} pass
 */
export function propose({ telling, opens }) {
  if (!telling || !isProposed()) return false;
  const [layer, head] = telling;
  proposed = `${layer} ${head}`;
  state.set({ layer, head }, true);
  const now = state.get('q');
  if (opens === undefined || !['', opened].includes(now)) return false;
  opened = String(opens);
  state.set({ q: opens }, true);
  return now === '';
}

/**
 * choose puts the layer and head that the reader chooses into the state.
 * @param {number} layer
 * @param {number} head
 */
export function choose(layer, head) {
  proposed = '';
  state.set({ layer, head });
}
