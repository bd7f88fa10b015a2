package record

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"time"

	"attention/internal/lines"
	"attention/internal/oneline"
	"attention/internal/safetensors"

	"gorgonia.org/tensor"
)

// begin opens the files at the last record of the restored checkpoint, or creates them.
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
	if o.lines, err = lines.Append(o.dir, LinesFile, mostLine, os.O_CREATE); err != nil {
		return err
	}
	o.kept, o.lost = kept{}, false
	size := int64(0)
	if o.last >= 0 {
		if size, err = o.resume(); err != nil {
			return fmt.Errorf("%w; without this file the run resumes too", err)
		}
	} else {
		for _, p := range o.params {
			p.keep()
		}
	}
	err = o.lines.Truncate(size)
	o.begun = err == nil
	return err
}

// resume returns the size of the lines up to the last record, and reads the tensors up to it. A missing file is
// created.
func (o *observer) resume() (size int64, err error) {
	if o.lost = o.lines.Size() == 0; !o.lost {
		if size, err = o.findLast(); err != nil {
			return 0, fmt.Errorf("%s: %w", o.dir.Path(LinesFile), err)
		}
	}
	w := new(Recording)
	if err := w.readTensors(o.dir.Path(TensorsFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	o.kept.set(w, o.last, o.parts, o.probe.Notes)
	return size, nil
}

// findLast returns the size of the lines up to the last record.
func (o *observer) findLast() (int64, error) {
	var at lines.Place
	for line, err := range lines.Read(o.lines.Content(), &at, mostLine, parser(&at, &Record{Step: -1})) {
		if err != nil {
			return 0, err
		}
		if line.Step == o.last {
			return at.Size, nil
		}
	}
	return 0, fmt.Errorf("got no record of step %d, want it", o.last)
}

// mend writes the lines again if the file was removed or replaced during the run; the open file still contains them.
func (o *observer) mend() error {
	if o.lines.InPlace() {
		return nil
	}
	return o.lines.Rewrite(func(w io.Writer) error {
		_, err := io.Copy(w, o.lines.Content())
		return err
	})
}

// write writes the kept tensors to watch.safetensors, unless the file has them already.
func (o *observer) write() error {
	if !o.unwritten && (len(o.kept.steps) == 0 || o.dir.Has(TensorsFile)) {
		return nil
	}
	began := time.Now()
	f, err := o.kept.file(o.parts, o.probe.Notes)
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

// Flush writes all records to the disk, so that no checkpoint is newer than the files.
func (o *observer) Flush() error {
	if !o.begun || o.failed {
		return nil
	}
	if err := oneline.Join(o.write(), o.mend(), o.lines.Sync()); err != nil {
		return fmt.Errorf("train: record: %w", err)
	}
	return nil
}

// State returns the state for a checkpoint.
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

// SetState makes the next Run continue after the record of a checkpoint, or start new files.
func (o *observer) SetState(observed int) {
	o.last, o.begun = observed, false
	if observed < 0 {
		o.forgetNorms()
	}
}
