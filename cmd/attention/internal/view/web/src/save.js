// Saving pictures and tables as files.
import { busy } from './busy.js';
import { button, h } from './dom.js';

/** save saves a file. */
export function save(name, blob) {
  const url = URL.createObjectURL(blob);
  const a = h('a', { href: url, download: name });
  document.body.append(a);
  a.click();
  a.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** saveCSV saves rows of texts and numbers as RFC 4180 says. */
export function saveCSV(name, rows) {
  const field = (v) => {
    const text = v === undefined || v === null || Number.isNaN(v) ? '' : String(v);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  save(`${name}.csv`, new Blob([rows.map((r) => r.map(field).join(',') + '\r\n').join('')], { type: 'text/csv' }));
}

/** saveSVG saves an SVG element with the page's colours and fonts. */
export function saveSVG(name, element) {
  save(`${name}.svg`, new Blob([svgText(element)], { type: 'image/svg+xml' }));
}

function svgText(element) {
  const copy = element.cloneNode(true);
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
  copy.setAttribute('width', box.width);
  copy.setAttribute('height', box.height);
  const paper = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  for (const [k, v] of Object.entries({
    x: box.x,
    y: box.y,
    width: box.width,
    height: box.height,
    fill: getComputedStyle(document.body).backgroundColor,
  }))
    paper.setAttribute(k, v);
  copy.prepend(paper);
  return new XMLSerializer().serializeToString(copy);
}

/** savePNG saves a canvas, or an SVG element at twice its size. */
export async function savePNG(name, element) {
  let canvas = element;
  if (element instanceof SVGElement) {
    const url = URL.createObjectURL(new Blob([svgText(element)], { type: 'image/svg+xml' }));
    const image = new Image();
    image.src = url;
    await image.decode();
    canvas = document.createElement('canvas');
    canvas.width = 2 * image.width;
    canvas.height = 2 * image.height;
    canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(url);
  }
  save(
    `${name}.png`,
    await new Promise((made) => {
      canvas.toBlob(made, 'image/png');
    }),
  );
}

/**
 * saveMenu is a menu that saves a chart: its picture, which get returns as an SVG element or {canvas, svg}, and the
 * numbers that it has, if rows returns them.
 * @param {() => string} name
 * @param {() => any} get
 * @param {(() => any[][]) | false} [rows]
 */
export function saveMenu(name, get, rows = false) {
  const of = (kind) => {
    const got = get();
    if (got instanceof SVGElement) return got;
    return kind === 'svg' ? got.svg() : got.canvas;
  };
  const menu = h(
    'details',
    { class: 'save' },
    h('summary', { title: 'save the picture or its numbers' }, 'Save'),
    h(
      'div',
      {},
      button('PNG', () => busy(savePNG(name(), of('png'))), { title: 'save the picture as PNG' }),
      button('SVG', () => saveSVG(name(), of('svg')), { title: 'save the picture as SVG' }),
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
    menu.querySelector('summary').focus();
  });
  return menu;
}

/** tableButton is a button that saves a table: the rows that get returns. */
export function tableButton(name, get) {
  return button('CSV', () => saveCSV(name(), get()), { class: 'csv', title: 'save the numbers as CSV' });
}
