package metrics

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"attention/internal/oneline"
)

// Mend writes the file anew, with the lines of a history, if it was removed, replaced or cut since it was written, and
// later lines follow in the new file. batches is what AddEvaluation got; a second evaluation after a step is one of all.
// The run continues, and Close returns what happened.
func (w *Writer) Mend(h History, batches int) {
	if w.err != nil {
		return
	}
	changed := w.changed()
	if changed == nil {
		return
	}
	if err := w.writeAnew(h, batches); err != nil {
		w.keep(fmt.Errorf("%w; %w", changed, err))
		return
	}
	w.lost = fmt.Errorf("%w, and is written anew", changed)
}

// changed returns an error if the folder no longer holds the file as it was written.
func (w *Writer) changed() error {
	path := w.dir.Path(FileName)
	info, err := w.file.Stat()
	if err != nil { // Flush says why
		return nil
	}
	if !w.dir.Holds(FileName, w.file) {
		return fmt.Errorf("%s: got none or another file, want the one that the run writes: "+
			"it was removed or replaced during the run", path)
	}
	if got := info.Size(); got != w.size {
		return fmt.Errorf("%s: got %d bytes, want the %d that the run has written: it was changed during the run",
			path, got, w.size)
	}
	return nil
}

func (w *Writer) writeAnew(h History, batches int) error {
	if err := w.dir.Write(FileName, func(to io.Writer) error { return h.write(to, batches) }); err != nil {
		return err
	}
	file, err := w.dir.Open(FileName, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return oneline.Join(err, file.Close())
	}
	old := w.file
	w.file, w.size = file, info.Size()
	return old.Close()
}

// write writes the lines of the history.
func (h History) write(w io.Writer, batches int) error {
	lines, last := json.NewEncoder(w), -1
	evaluations := h.Evaluations
	evaluationsAt := func(step int) error {
		for len(evaluations) > 0 && evaluations[0].Step == step {
			of := batches
			if step == last {
				of = 0
			}
			if err := lines.Encode(evaluation{evaluations[0], of}); err != nil {
				return err
			}
			evaluations, last = evaluations[1:], step
		}
		return nil
	}
	if err := evaluationsAt(0); err != nil {
		return err
	}
	for _, s := range h.Steps {
		if err := lines.Encode(s); err != nil {
			return err
		}
		if err := evaluationsAt(s.Step); err != nil {
			return err
		}
	}
	return nil
}
