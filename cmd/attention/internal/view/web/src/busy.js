// A mark of unfinished work: a panel is marked as busy while a part of its state is not shown yet.
import { byId } from './dom.js';

let waiting = 0;

function say() {
  byId('panel').dataset.busy = waiting ? 'yes' : 'no';
}

/** painted waits until the browser has had time to paint the page, and some milliseconds longer. */
export function painted(later = 0) {
  return new Promise((seen) => {
    if (document.hidden) setTimeout(seen, later);
    else requestAnimationFrame(() => setTimeout(seen, later));
  });
}

/**
 * busy returns its promise and marks the panel as busy until the promise is settled.
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
