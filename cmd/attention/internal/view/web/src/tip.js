// Tooltips: the explanation in data-tip is shown while its element is under the pointer or has the focus.
import { h } from './dom.js';

const tip = h('div', { class: 'tip', role: 'tooltip', id: 'tip', hidden: true });

function show(/** @type {Event} */ e) {
  const of = /** @type {HTMLElement | null} */ (/** @type {Element} */ (e.target).closest?.('[data-tip]'));
  if (!of) return hide();
  tip.textContent = of.dataset.tip ?? '';
  tip.hidden = false;
  const box = of.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = tip;
  const below = box.bottom + height + 12 < innerHeight;
  tip.style.left = `${Math.max(8, Math.min(innerWidth - width - 8, box.left + box.width / 2 - width / 2))}px`;
  tip.style.top = `${below ? box.bottom + 6 : box.top - height - 6}px`;
  return undefined;
}

function hide() {
  tip.hidden = true;
}

/** showTips turns tooltips on. A tooltip also becomes the description of its element. */
export function showTips() {
  document.body.append(tip);
  for (const event of ['pointerover', 'focusin']) document.addEventListener(event, show);
  document.addEventListener('focusout', hide);
  addEventListener('keydown', (e) => {
    if (e.key === 'Escape') hide();
  });
  addEventListener('scroll', hide, true);
}
