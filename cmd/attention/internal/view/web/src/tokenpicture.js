// The tokens with their arcs as a picture for a file, and their weights as a table.
import { svg } from './dom.js';
import { saveMenu } from './save.js';

/** @typedef {import('./tokens.js').Seen} Seen */

/**
 * pictureOf returns the tokens and the arcs as one SVG element.
 * @param {import('./tokens.js').Tokens} tokens
 */
function pictureOf({ arcs, strips, keys, queries }) {
  const boxes = [...new Set([...keys, ...queries])].map((b) => {
    const { offsetLeft: x, offsetTop: y, offsetWidth: width, offsetHeight: height } = b;
    const { backgroundColor: fill, borderColor: stroke, color, fontSize, fontFamily } = getComputedStyle(b);
    const wide = b.getAttribute('aria-pressed') === 'true' ? 3 : 1;
    const place = { x: x + width / 2, y: y + height / 2 + 5, 'text-anchor': 'middle', fill: color };
    return svg(
      'g',
      {},
      svg('rect', { x, y, width, height, rx: 4, fill, stroke, 'stroke-width': wide }),
      svg('text', { ...place, 'font-size': fontSize, 'font-family': fontFamily }, b.textContent ?? ''),
    );
  });
  const copy = /** @type {SVGSVGElement} */ (arcs.cloneNode(true));
  copy.style.position = 'static';
  const viewBox = `0 0 ${strips.scrollWidth} ${strips.scrollHeight}`;
  const root = svg('svg', { viewBox, class: 'offscreen' }, copy, boxes);
  document.body.append(root); // for its computed style
  setTimeout(() => root.remove());
  return root;
}

/**
 * tokensMenu is a menu that saves the picture of tokens and arcs that a panel shows, and their weights.
 * @param {{ tokens: import('./tokens.js').Tokens, seen: Seen | null, layer: number,
 *   passes: { after: import('./pass.js').Pass } | null }} panel
 */
export function tokensMenu(panel) {
  const rows = () => {
    const { passes, seen, layer } = panel;
    if (!passes || !seen) return [];
    const keys = passes.after.keys(layer);
    const all = [...seen.after.weights].map((w, k) => [k, keys[k]?.text ?? '', seen.before?.weights[k], w]);
    return [['key', 'token', 'before', 'weight'], ...all];
  };
  return saveMenu(
    () => 'attention',
    () => pictureOf(panel.tokens),
    rows,
  );
}
