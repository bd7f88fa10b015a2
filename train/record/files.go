package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"time"

	"attention/internal/oneline"
	"attention/internal/safetensors"

	"gorgonia.org/tensor"
)

// begin opens the files at the last record of the checkpoint that was restored, or anew.
func (o *observer) begin() error {
	if o.begun {
		return nil
	}
	if o.lines != nil {
		if err := o.lines.Close(); err != nil {
			return err
		}
	}
	size, err := int64(0), error(nil)
	if o.lines, err = o.dir.Open(LinesFile, os.O_RDWR|os.O_CREATE); err != nil {
		return err
	}
	o.kept = kept{}
	if o.last >= 0 {
		if size, err = o.resume(); err != nil {
			return fmt.Errorf("%w; without this file the run resumes too", err)
		}
	} else {
		for _, p := range o.params {
			p.keep()
		}
	}
	if err := o.lines.Truncate(size); err != nil {
		return err
	}
	_, err = o.lines.Seek(size, io.SeekStart)
	o.begun = err == nil
	return err
}

// resume returns the size of the lines up to the last record, and reads the tensors up to
// it. A file that is not there is begun anew.
func (o *observer) resume() (size int64, err error) {
	lines := newReader(o.lines)
	for {
		line, err := lines.next()
		switch {
		case errors.Is(err, io.EOF) && size == 0: // the file is new
		case errors.Is(err, io.EOF):
			return 0, fmt.Errorf("%s: got no record of step %d, want it", o.dir.Path(LinesFile), o.last)
		case err != nil:
			return 0, fmt.Errorf("%s: %w", o.dir.Path(LinesFile), err)
		}
		size = lines.size
		if err != nil || line.Step >= o.last {
			break
		}
	}
	w := new(Recording)
	if err := w.readTensors(o.dir.Path(TensorsFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	o.kept.set(w, o.last, o.keptTensors(), o.probe.Notes)
	return size, nil
}

// addLine adds a record to watch.jsonl.
func (o *observer) addLine(r Record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = o.lines.Write(append(text, '\n'))
	return err
}

// write writes the kept tensors to watch.safetensors, unless it has them.
func (o *observer) write() error {
	if !o.unwritten {
		return nil
	}
	began := time.Now()
	f, err := o.kept.file(o.keptTensors(), o.probe.Notes)
	if err != nil {
		return err
	}
	err = o.dir.Write(TensorsFile, func(w io.Writer) error { return safetensors.WriteSealed(w, f) })
	if o.failed = err != nil; o.failed {
		return err
	}
	o.unwritten, o.written = false, time.Now()
	o.cost = o.written.Sub(began)
	return nil
}

// Flush writes all that is recorded to the disk, so that no checkpoint is newer.
func (o *observer) Flush() error {
	if !o.begun || o.failed {
		return nil
	}
	if err := oneline.Join(o.write(), o.lines.Sync()); err != nil {
		return fmt.Errorf("train: record: %w", err)
	}
	return nil
}

// State returns what a checkpoint has to hold.
func (o *observer) State() (observed int, tensors iter.Seq2[string, *tensor.Dense]) {
	o.takeNorms()
	return o.last, func(yield func(string, *tensor.Dense) bool) {
		if !yield("gradients", o.norms) {
			return
		}
		for _, p := range o.params {
			if p.last != nil && (!yield("start."+p.name, p.start) || !yield("last."+p.name, p.last)) {
				return
			}
		}
	}
}

// SetState makes the next Run record after the record of a checkpoint, or anew.
func (o *observer) SetState(observed int) {
	o.last, o.begun = observed, false
	if observed < 0 {
		o.forgetNorms()
	}
}
