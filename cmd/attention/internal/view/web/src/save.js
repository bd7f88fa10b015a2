// Saving pictures and tables as files.
import { busy } from './busy.js';
import { button, h, one, svg } from './dom.js';

/** @typedef {string | number | null | undefined} Field of a table */
/** @typedef {{ canvas: HTMLCanvasElement, svg(): SVGSVGElement }} Picture */

/**
 * save saves a file.
 * @param {string} name
 * @param {Blob} blob
 */
export function save(name, blob) {
  const url = URL.createObjectURL(blob);
  const a = h('a', { href: url, download: name });
  document.body.append(a);
  a.click();
  a.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/**
 * saveCSV saves rows of texts and numbers as RFC 4180 says.
 * @param {string} name
 * @param {Field[][]} rows
 */
function saveCSV(name, rows) {
  const field = (/** @type {Field} */ v) => {
    const text = v === undefined || v === null || Number.isNaN(v) ? '' : String(v);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  save(`${name}.csv`, new Blob([rows.map((r) => r.map(field).join(',') + '\r\n').join('')], { type: 'text/csv' }));
}

/**
 * svgText is an SVG element with the page's colours and fonts.
 * @param {SVGSVGElement} element
 */
function svgText(element) {
  const copy = /** @type {SVGSVGElement} */ (element.cloneNode(true));
  const from = [element, ...element.querySelectorAll('*')];
  [copy, ...copy.querySelectorAll('*')].forEach((e, i) => {
    const style = getComputedStyle(from[i]);
    for (const property of [
      'fill',
      'stroke',
      'stroke-width',
      'stroke-opacity',
      'stroke-dasharray',
      'opacity',
      'font-size',
      'font-family',
      'text-anchor',
    ]) {
      const value = style.getPropertyValue(property);
      if (value) e.setAttribute(property, value);
    }
    e.removeAttribute('class');
  });
  const box = element.viewBox.baseVal;
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('width', String(box.width));
  copy.setAttribute('height', String(box.height));
  const { x, y, width, height } = box;
  copy.prepend(svg('rect', { x, y, width, height, fill: getComputedStyle(document.body).backgroundColor }));
  return new XMLSerializer().serializeToString(copy);
}

/** canvasOf draws an SVG element at twice its size. */
async function canvasOf(/** @type {SVGSVGElement} */ element) {
  const url = URL.createObjectURL(new Blob([svgText(element)], { type: 'image/svg+xml' }));
  const image = new Image();
  image.src = url;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = 2 * image.width;
  canvas.height = 2 * image.height;
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  return canvas;
}

/**
 * savePNG saves a canvas, or an SVG element.
 * @param {string} name
 * @param {HTMLCanvasElement | SVGSVGElement} element
 */
async function savePNG(name, element) {
  const canvas = element instanceof SVGSVGElement ? await canvasOf(element) : element;
  /** @type {Blob | null} */
  const blob = await new Promise((made) => {
    canvas.toBlob(made, 'image/png');
  });
  if (blob) save(`${name}.png`, blob);
}

/**
 * saveMenu returns a menu that saves a chart: its picture, which get returns as an SVG element or {canvas, svg}, and
 * its numbers, if rows returns them.
 * @param {() => string} name
 * @param {() => SVGSVGElement | Picture | null} get
 * @param {(() => Field[][]) | false} [rows]
 */
export function saveMenu(name, get, rows = false) {
  const png = () => {
    const got = get();
    if (got) busy(savePNG(name(), 'canvas' in got ? got.canvas : got));
  };
  const svgFile = () => {
    const got = get();
    if (!got) return;
    const text = svgText('canvas' in got ? got.svg() : got);
    save(`${name()}.svg`, new Blob([text], { type: 'image/svg+xml' }));
  };
  const menu = h(
    'details',
    { class: 'save' },
    h('summary', { title: 'save the picture or its numbers' }, 'Save'),
    h(
      'div',
      {},
      button('PNG', png, { title: 'save the picture as PNG' }),
      button('SVG', svgFile, { title: 'save the picture as SVG' }),
      rows && tableButton(name, rows),
    ),
  );
  const close = () => {
    menu.open = false;
  };
  menu.addEventListener('click', (e) => {
    if (/** @type {Element} */ (e.target).closest('button')) close();
  });
  menu.addEventListener('focusout', (e) => {
    if (e.relatedTarget && !menu.contains(/** @type {Node} */ (e.relatedTarget))) close();
  });
  menu.addEventListener('keydown', (e) => {
    if (e.key !== 'Escape') return;
    close();
    one(menu, 'summary').focus();
  });
  return menu;
}

/**
 * tableButton returns a button that saves the rows of get as a table.
 * @param {() => string} name
 * @param {() => Field[][]} get
 */
export function tableButton(name, get) {
  return button('CSV', () => saveCSV(name(), get()), { class: 'csv', title: 'save the numbers as CSV' });
}
