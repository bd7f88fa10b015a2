// The pace of questions: a server that trains needs its time for that.

/** Pace lets one question run at a time, and the next one no sooner than its rest: a time in ms, or a multiple of what the last one took. Nobody asks for a page that is not seen. */
export class Pace {
  constructor(again, least = 1000, times = 20) {
    Object.assign(this, { again, least, times, ready: 0 });
    this.seen = () => { if (!document.hidden && this.asked) this.ask(); };
    document.addEventListener('visibilitychange', this.seen);
  }

  /** ask calls again as soon as the pace allows it. */
  ask() {
    this.asked = true;
    if (this.timer || this.running || this.closed || document.hidden) return;
    this.timer = setTimeout(() => {
      this.timer = null;
      this.again();
    }, Math.max(0, this.ready - performance.now()));
  }

  /** take runs a question, or asks for it later. */
  async take(question) {
    if (this.running || performance.now() < this.ready) {
      this.ask();
      return;
    }
    this.asked = false;
    this.running = true;
    const began = performance.now();
    await question();
    this.running = false;
    const now = performance.now();
    this.ready = now + Math.max(this.least, this.times * (now - began));
    if (this.asked) this.ask();
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    document.removeEventListener('visibilitychange', this.seen);
  }
}
