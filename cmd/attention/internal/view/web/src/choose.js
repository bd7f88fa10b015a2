// What panels on a head have in common: the choice of model, layer and head, which is part of the state.
import { choice, h } from './dom.js';
import * as state from './state.js';

/** chosen returns the layer and the head of the state; the head is 'mean' for all heads' mean. */
export function chosen(look) {
  const layer = state.int('layer', look.layers.length);
  if (state.get('head') === 'mean') return [layer, 'mean'];
  return [layer, state.int('head', look.layers[layer].heads)];
}

/** headOf returns the chosen head. */
export function headOf(look, layer, head) {
  return head === 'mean' ? look.mean(layer) : look.head(layer, head);
}

/** nameOf names the chosen head. */
export function nameOf(layer, head) {
  return head === 'mean' ? `Layer ${layer}, mean of its heads` : `Layer ${layer}, head ${head}`;
}

/** headChoice are selects of layer and head. */
export function headChoice(look, mean = false) {
  const [layer, head] = chosen(look);
  const numbers = (n) => Array.from({ length: n }, (_, i) => [i, i]);
  const heads = numbers(look.layers[layer].heads);
  if (mean && heads.length > 1) heads.push(['mean', 'mean']);
  return h('span', { class: 'tools' },
    choice('layer', look.layers.map((l, i) => [i, `${i} ${short(l.path)}`]), layer, (v) => state.set({ layer: v })),
    choice('head', heads, head, (v) => state.set({ head: v })));
}

/** short leaves out what the paths of all models begin with. */
export function short(path) {
  return path.replace(/^transformer\./, '').replace(/\.(attn|self_attn)$/, '').replace('multihead_attn', 'cross');
}

/** modelChoice is a select of the model, if there are several. */
export function modelChoice(view, name = 'model', label = 'model') {
  if (view.models.length < 2) return null;
  return choice(label, view.models.map((m, i) => [i, m.name]), state.int(name, view.models.length, name === 'other' ? 1 : 0),
    (v) => state.set({ [name]: v }));
}

/** requestOf is the look of the state: its model and text. */
export function requestOf(view, name = 'model') {
  return { model: state.int(name, view.models.length, name === 'other' ? 1 : 0), text: state.get('text') || view.text };
}
