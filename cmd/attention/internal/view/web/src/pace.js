// The pace of requests: they leave a server that trains time for the training.

/**
 * Pace allows one request at a time, and the next one after a pause. The pause is many times the duration of the last
 * request, within a least and a largest number of ms. A hidden page pauses longest.
 */
export class Pace {
  /**
   * @param {() => void} again
   * @param {{ least?: number, most?: number, times?: number }} rests
   */
  constructor(again, { least = 1000, most = 5000, times = 20 } = {}) {
    this.again = again;
    this.least = least;
    this.most = most;
    this.times = times;
    this.ready = 0;
    this.timer = 0;
    this.asked = this.running = this.closed = false;
    this.seen = () => {
      if (!document.hidden && this.asked) this.ask();
    };
    document.addEventListener('visibilitychange', this.seen);
  }

  /** ask requests again as soon as the pace allows it. */
  ask() {
    this.asked = true;
    if (this.running || this.closed) return;
    clearTimeout(this.timer);
    const at = this.ready + (document.hidden ? this.most : 0);
    this.timer = setTimeout(this.again, Math.max(0, at - performance.now()));
  }

  /** take sends a request, or postpones it. */
  async take(/** @type {() => Promise<void>} */ question) {
    if (this.running || performance.now() < this.ready) {
      this.ask();
      return;
    }
    this.asked = false;
    this.running = true;
    const began = performance.now();
    try {
      await question();
    } finally {
      this.running = false;
    }
    const now = performance.now();
    this.ready = now + Math.min(this.most, Math.max(this.least, this.times * (now - began)));
    if (this.asked) this.ask();
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    document.removeEventListener('visibilitychange', this.seen);
  }
}
