package train

import (
	"fmt"
	"slices"

	"attention/internal/oneline"
	"attention/internal/safetensors"
)

// Restore sets the loop and the source to the state that Save wrote to a file. The loop
// must have parameters of the same names, dtypes and shapes, the same ones frozen, an equal
// solver config and equal Config.About. The error lists what does not fit and leaves loop
// and source as they were. The error for a file that was cut short or changed wraps
// ErrDamaged. If a file that is whole cannot be read a second time, the loop trains no more
// until another Restore.
//
// Steps, schedule, clipping, seed and the batches of a step are the loop's own: if
// they are equal too, the coming steps give the same bits as if the run had never
// stopped, with the same kernels: see OtherKernels. With a nil source the
// file may hold a source's state or none. KeepBest begins anew if the file was saved
// without.
func (l *Loop) Restore(path string, source Resumable) error {
	if err := l.made(); err != nil {
		return err
	}
	var c checkpointMetadata
	return readCheckpoint(path, l.params, func(r *safetensors.Reader) (err error) {
		c, err = l.fitting(r)
		return err
	}, func(r *safetensors.Reader) error { return l.restore(r, c, source) })
}

// fitting returns the metadata of a checkpoint whose tensors, solver and config are the loop's.
func (l *Loop) fitting(r *safetensors.Reader) (checkpointMetadata, error) {
	c, err := readCheckpointMetadata(r.Metadata())
	if err != nil {
		return c, err
	}
	if got, want := c.config.Solver.resolved(), l.config.Solver.resolved(); !got.equal(want) {
		return c, fmt.Errorf("solver: got %v, want the loop's %v", got, want)
	}
	if got, want := c.frozen, l.step.program.frozen; !slices.Equal(got, want) {
		return c, fmt.Errorf("frozen parameters: got %s, want the loop's %s", list(got), list(want))
	}
	if err := compareAbout(l.config.About, c.config.About); err != nil {
		return c, err
	}
	want := append(signatures(paramPrefix, l.params.All()), l.step.solver.wholeSignatures(solverPrefix)...)
	saved, watched := withoutPrefix(signaturesIn(r), watchPrefix)
	c.watched = l.watch != nil && c.recorded >= 0 &&
		compareSignatures(signatures(watchPrefix, l.watch.state(l.step)), watched) == nil
	saved, kept := withoutPrefix(saved, bestPrefix)
	if c.kept = len(kept) > 0; c.kept && l.config.KeepBest {
		want, saved = append(want, signatures(bestPrefix, l.best.kept())...), append(saved, kept...)
	}
	return c, compareSignatures(want, saved)
}

// restore sets the loop and the source to the state of a checkpoint that fits. It reads each number to its
// place: two of a large model do not fit the memory.
func (l *Loop) restore(r *safetensors.Reader, c checkpointMetadata, source Resumable) error {
	solver := l.step.solver
	if solver.steps != nil {
		var steps [1]int64
		if err := r.ReadPart(solverPrefix+stepState, 0, steps[:]); err != nil {
			return err
		}
		if steps[0] < 0 {
			return fmt.Errorf("solver state: step: got %d, want a number >= 0", steps[0])
		}
	}
	undo, err := c.restoreSource(source)
	if err != nil {
		return err
	}
	l.torn = true
	if err := l.readState(r, c); err != nil {
		return oneline.Join(err, undo())
	}
	l.torn = false
	l.step.taken, l.evaluated, l.notes, l.savedWith = c.step, c.evaluated, c.notes, c.kernels
	l.savedSums, l.savedPrecision = c.sums, c.precision
	return nil
}

// readState reads parameters and all that the loop remembers.
func (l *Loop) readState(r *safetensors.Reader, c checkpointMetadata) error {
	if err := readInto(r, paramPrefix, l.params.All()); err != nil {
		return err
	}
	if err := l.step.solver.readPart(r); err != nil {
		return err
	}
	if err := l.restoreBest(c, r); err != nil {
		return err
	}
	return l.restoreWatch(c, r)
}
