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
	var err error
	if o.lines, err = o.dir.Open(LinesFile, os.O_RDWR|os.O_APPEND|os.O_CREATE); err != nil {
		return err
	}
	o.kept, o.size, o.lost = kept{}, 0, false
	if o.last >= 0 {
		if err := o.resume(); err != nil {
			return fmt.Errorf("%w; without this file the run resumes too", err)
		}
	} else {
		for _, p := range o.params {
			p.keep()
		}
	}
	err = o.lines.Truncate(o.size)
	o.begun = err == nil
	return err
}

// resume finds the end of the lines up to the last record, and reads the tensors up to it. A file that is not there is
// begun anew.
func (o *observer) resume() error {
	info, err := o.lines.Stat()
	if err != nil {
		return err
	}
	if o.lost = info.Size() == 0; !o.lost {
		if err := o.findLast(); err != nil {
			return fmt.Errorf("%s: %w", o.dir.Path(LinesFile), err)
		}
	}
	w := new(Recording)
	if err := w.readTensors(o.dir.Path(TensorsFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	o.kept.set(w, o.last, o.keptTensors(), o.probe.Notes)
	return nil
}

// findLast finds the end of the lines up to the last record.
func (o *observer) findLast() error {
	for lines := newReader(o.lines); ; {
		line, err := lines.next()
		if errors.Is(err, io.EOF) || err == nil && line.Step > o.last {
			return fmt.Errorf("got no record of step %d, want it", o.last)
		}
		if err != nil {
			return err
		}
		if line.Step == o.last {
			o.size = lines.size
			return nil
		}
	}
}

// addLine adds a record to watch.jsonl.
func (o *observer) addLine(r Record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if len(text) >= mostLine {
		return fmt.Errorf("got a line of %d bytes, want less than %d", len(text), mostLine)
	}
	n, err := o.lines.Write(append(text, '\n'))
	o.size += int64(n)
	return err
}

// mend writes the lines anew if the file was removed or replaced during the run: the open file still has them.
func (o *observer) mend() error {
	if o.dir.Holds(LinesFile, o.lines) {
		return nil
	}
	err := o.dir.Write(LinesFile, func(w io.Writer) error {
		_, err := io.Copy(w, io.NewSectionReader(o.lines, 0, o.size))
		return err
	})
	if err != nil {
		return err
	}
	old := o.lines
	if o.lines, err = o.dir.Open(LinesFile, os.O_RDWR|os.O_APPEND); err != nil {
		o.lines = old
		return err
	}
	return old.Close()
}

// write writes the kept tensors to watch.safetensors, unless it has them.
func (o *observer) write() error {
	if !o.unwritten && (len(o.kept.steps) == 0 || o.dir.Has(TensorsFile)) {
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
	if err := oneline.Join(o.write(), o.mend(), o.lines.Sync()); err != nil {
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
