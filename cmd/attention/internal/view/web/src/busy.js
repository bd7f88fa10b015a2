// What the page waits for: as long as something that its state asks for is not shown yet, its panel says so.
import { byId } from './dom.js';

let waiting = 0;

function say() {
  byId('panel').dataset.busy = waiting ? 'yes' : 'no';
}

/** painted returns when the browser has had the time to paint what is there, and some milliseconds later. */
export function painted(later = 0) {
  return new Promise((seen) => {
    if (document.hidden) setTimeout(seen, later);
    else requestAnimationFrame(() => setTimeout(seen, later));
  });
}

/**
 * busy returns a promise; the panel is busy until it is settled.
 * @template T
 * @param {Promise<T>} promise
 */
export function busy(promise) {
  waiting++;
  say();
  const over = () => {
    waiting--;
    say();
  };
  promise.then(over, over);
  return promise;
}
