// The source of all numbers: the server or, in an exported page, the page itself.

/** @typedef {import('./colours.js').Palette} Palette */
/** @typedef {{ name: string, title: string, most: number, example: string, live?: boolean, sample?: boolean }} Model */
/** @typedef {import('./panels/why.js').Reversing} Reversing */
/**
 * View describes the content of the page: models, a run's training, runs of a folder, one of them, the chapter, or
 * models of the task reverse. For an exported page it also has the omitted parts and the state.
 * @typedef {{ version: string, models: Model[], text: string, training: boolean, runs?: boolean, one?: boolean,
 *   chapter?: string[], reverse?: Reversing, left?: string[], state?: string, light: Palette, dark: Palette }} View
 */
/** @typedef {{ layer: number, head: number, factor: number }} Factor */
/** @typedef {{ model: number, text: string, then?: number[], hide?: number[], heads?: Factor[] }} Request */
/**
 * A Panel is one of the page's screens. show fills an element and returns a function that ends the panel.
 * @typedef {{ name: string, title: string, needs(view: View): boolean,
 *   show(element: HTMLElement, view: View): () => void }} Panel
 */

const element = document.getElementById('data');
/** @type {Record<string, any> | null} the answers in an exported page, by their paths */
const embedded = element ? JSON.parse(element.textContent ?? '') : null;

/** isExported reports whether the page is an exported file. */
export const isExported = embedded !== null;

async function answered(/** @type {Response} */ response) {
  if (response.ok) return response;
  let message = `the server answered ${response.status}`;
  try {
    message = (await response.json()).error ?? message;
  } catch {
    /* not JSON: only the status is left */
  }
  throw Object.assign(new Error(message), { status: response.status });
}

/**
 * send returns the answer to a request.
 * @param {string} to
 * @param {RequestInit} [options]
 */
async function send(to, options) {
  try {
    return await answered(await fetch(to, { cache: 'no-store', ...options }));
  } catch (e) {
    if (e.status || e.name === 'AbortError') throw e;
    throw new Error(
      'the server does not answer: attention view has ended, or the line is cut; ' + 'start it again and reload',
    );
  }
}

/**
 * held is an answer in an exported page.
 * @param {Record<string, any>} answers
 * @param {string} at
 */
function held(answers, at) {
  if (at in answers) return answers[at];
  throw new Error('this is not part of the exported page; attention view shows it');
}

/** holds reports whether there is an answer to a GET request: an exported page has only some. */
export const holds = (/** @type {string} */ at) => !embedded || at in embedded;

/**
 * path returns the path of a GET request, made of its kind and some values. An exported page stores its answers by
 * these paths.
 * @param {string} kind
 * @param {Record<string, string | number>} values
 */
export function path(kind, values) {
  const texts = Object.entries(values).map(([name, value]) => [name, String(value)]);
  return `${kind}?${new URLSearchParams(texts)}`;
}

/** json returns the answer to a GET request. */
export async function json(/** @type {string} */ from) {
  return embedded ? held(embedded, from) : (await send(from)).json();
}

/**
 * post returns the answer to a POST request.
 * @param {string} to
 * @param {Request} body
 */
export async function post(to, body) {
  if (embedded) return held(embedded, `${to} ${body.model} ${body.text}${changesOf(body)}`);
  return (await send(to, { method: 'POST', body: JSON.stringify(body) })).json();
}

/** changesOf names the changes in a request as the server's paths.go does. */
function changesOf(/** @type {Request} */ { then = [], hide = [], heads = [] }) {
  if (then.length + hide.length + heads.length === 0) return '';
  const factors = heads.map((f) => `${f.layer}x${f.head}x${f.factor}_`).join('');
  return `|${then.join('.')}|${hide.join('.')}|${factors}`;
}

/**
 * file returns the bytes of the answer to a POST request.
 * @param {string} to
 * @param {object} body
 */
export async function file(to, body) {
  return (await send(to, { method: 'POST', body: JSON.stringify(body) })).arrayBuffer();
}

/**
 * packed returns the JSON and the arrays of an answer; see the server's doc.go.
 * @param {string} from
 */
export async function packed(from) {
  if (!embedded) return unpack(await (await send(from)).arrayBuffer());
  const text = atob(held(embedded, from));
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return unpack(bytes.buffer);
}

/**
 * unpack decodes bytes into JSON and arrays.
 * @param {ArrayBuffer} buffer
 * @returns {Record<string, any>}
 */
function unpack(buffer) {
  const n = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, n)));
  const out = { ...header.about };
  let at = 4 + n;
  for (const { name, type, len } of header.arrays ?? []) {
    out[name] = type === 'uint32' ? new Uint32Array(buffer, at, len) : new Float32Array(buffer, at, len);
    at += 4 * len;
  }
  return out;
}

/**
 * events calls told with the version of the run at each server-sent event, and ended with the data of the last one,
 * until the returned function is called.
 * @param {string} from
 * @param {{ told(version: string): void, failed(message: string): void, ended(run: any): void }} listener
 */
export function events(from, { told, failed, ended }) {
  const source = new EventSource(from);
  source.onmessage = (e) => told(e.data);
  source.addEventListener('wrong', (e) => failed(JSON.parse(e.data)));
  source.addEventListener('end', (e) => {
    source.close();
    ended(JSON.parse(e.data));
  });
  source.onerror = () => {
    failed(
      source.readyState === EventSource.CLOSED
        ? 'the server does not answer: attention view has ended; start it again and reload'
        : 'the server does not answer: it was killed, or the line is cut; trying again …',
    );
  };
  return () => source.close();
}
