package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"attention/internal/oneline"
	"attention/internal/safetensors"
)

// beginWatch opens the files of WatchTo at the place where the loop stands.
func (l *Loop) beginWatch() error {
	if l.watch == nil {
		return nil
	}
	if err := l.watch.begin(); err != nil {
		return fmt.Errorf("train: watch: %w", err)
	}
	return nil
}

// record records the parameters as they are.
func (l *Loop) record() error {
	if err := l.watch.record(l); err != nil {
		return fmt.Errorf("train: watch: record after %d steps: %w", l.Steps(), err)
	}
	return nil
}

// begin opens the files at the last record of the checkpoint that was restored, or anew.
func (r *recorder) begin() error {
	if r.begun {
		return nil
	}
	if r.lines != nil {
		if err := r.lines.Close(); err != nil {
			return err
		}
	}
	size, err := int64(0), error(nil)
	if r.lines, err = r.dir.Open(WatchLines, os.O_RDWR|os.O_CREATE); err != nil {
		return err
	}
	r.moments = moments{}
	if r.recorded >= 0 {
		if size, err = r.resume(); err != nil {
			return fmt.Errorf("%w; without this file the run resumes too", err)
		}
	} else {
		for _, p := range r.params {
			p.keep()
		}
	}
	if err = r.lines.Truncate(size); err == nil {
		_, err = r.lines.Seek(size, io.SeekStart)
	}
	r.begun = err == nil
	return err
}

// resume returns the size of the lines up to the last record, and reads the moments up to
// it. A file that is not there is begun anew.
func (r *recorder) resume() (size int64, err error) {
	lines := newWatchReader(r.lines)
	for {
		line, err := lines.next()
		switch {
		case errors.Is(err, io.EOF) && size == 0: // the file is new
		case errors.Is(err, io.EOF):
			return 0, fmt.Errorf("%s: got no record of step %d, want it", r.dir.Path(WatchLines), r.recorded)
		case err != nil:
			return 0, fmt.Errorf("%s: %w", r.dir.Path(WatchLines), err)
		}
		size = lines.size
		if err != nil || line.Step >= r.recorded {
			break
		}
	}
	w := new(Watched)
	if err := w.readTensors(r.dir.Path(WatchTensors)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	r.moments.set(w, r.recorded, r.momentTensors(), r.probe.Notes)
	return size, nil
}

// addLine adds a record to watch.jsonl.
func (w *Watch) addLine(r WatchRecord) error {
	text, err := json.Marshal(r)
	if err == nil {
		_, err = w.lines.Write(append(text, '\n'))
	}
	return err
}

// write writes the moments to watch.safetensors, unless it has them.
func (r *recorder) write() error {
	if !r.unwritten {
		return nil
	}
	began := time.Now()
	f, err := r.moments.file(r.momentTensors(), r.probe.Notes)
	if err == nil {
		err = r.dir.Write(WatchTensors, func(w io.Writer) error { return safetensors.WriteSealed(w, f) })
	}
	if r.failed = err != nil; r.failed {
		return err
	}
	r.unwritten, r.written = false, time.Now()
	r.cost = r.written.Sub(began)
	return nil
}

// flushWatch writes all that is recorded to the disk, so that no checkpoint is newer than it.
func (l *Loop) flushWatch() error {
	if l.watch == nil || !l.watch.begun || l.watch.failed {
		return nil
	}
	if err := oneline.Join(l.watch.write(), l.watch.lines.Sync()); err != nil {
		return fmt.Errorf("train: watch: %w", err)
	}
	return nil
}
