package metrics

import (
	"encoding/json"
	"fmt"
	"io"
)

// Mend writes a new file with the lines of a history, if the file was removed, replaced or truncated; later lines are
// written to the new file. batches is the argument of AddEvaluation; a second evaluation after a step covers all
// batches. The run continues, and Close returns an error that says what happened.
func (w *Writer) Mend(h History, batches int) {
	if w.err != nil {
		return
	}
	changed := w.lines.Changed()
	if changed == nil {
		return
	}
	if err := w.lines.Rewrite(func(to io.Writer) error { return h.write(to, batches) }); err != nil {
		w.keep(fmt.Errorf("%w; %w", changed, err))
		return
	}
	w.lost = fmt.Errorf("%w, and is written anew", changed)
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
