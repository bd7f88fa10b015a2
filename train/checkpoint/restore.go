package checkpoint

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"attention/internal/dense"
	"attention/internal/oneline"
	"attention/internal/safetensors"
	"attention/internal/simd"
	"attention/train"
	"attention/train/loop"

	"gorgonia.org/tensor"
)

// Restored lists the differences between this program and the program that wrote a checkpoint. If a field is not zero,
// the coming steps give other bits than those of a run that never stopped.
type Restored struct {
	Kernels   string // "avx512", "avx2", "neon" or "go", if other kernels run now: their sums have another order
	Precision string // of that program's products, "full" or "bf16", if the loop's precision differs
}

// Restore sets the loop and the source to the state that Save wrote to a file. The loop must have parameters of the
// same names, dtypes and shapes, the same frozen parameters, an equal solver config and an equal Config.About.
// Otherwise the error lists the differences, and loop and source are unchanged. The error for a truncated or changed
// file wraps ErrDamaged. Restore reads the file twice: if only the second reading fails, the loop does not train until
// another Restore.
//
// Steps, schedule, clipping, seed and the number of batches of a step are the loop's. If they equal those of the
// checkpoint, the next steps give the same bits as an uninterrupted run, unless Restored has a difference. With a nil
// source the file may hold a source's state or none. KeepBest starts over if the file was saved without it. In a group
// every process calls Restore.
func Restore(l *loop.Loop, path string, source train.Resumable) (*Restored, error) {
	if l == nil {
		return nil, errNoLoop
	}
	var w *wanted
	r, err := openFitting(path, l.State().Params, func(r *safetensors.Reader) (err error) {
		w, err = fitting(r, l)
		return err
	})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if err := w.restore(r, l, source); err != nil {
		return nil, errorAbout(path, err)
	}
	return w.restored(), nil
}

// wanted is the part of a checkpoint that a loop needs.
type wanted struct {
	metadata
	state loop.State // of the checkpoint, with the config and the tensors of the loop
}

// fitting returns the tensors that a loop reads from a checkpoint. Its tensors, solver and config must be the loop's.
func fitting(r *safetensors.Reader, l *loop.Loop) (*wanted, error) {
	c, err := readMetadata(r.Metadata())
	if err != nil {
		return nil, err
	}
	s := l.State()
	if got, want := c.Config.Solver.String(), s.Config.Solver.String(); got != want {
		return nil, fmt.Errorf("solver: got %v, want the loop's %v", got, want)
	}
	if got, want := c.Frozen, s.Frozen; !slices.Equal(got, want) {
		return nil, fmt.Errorf("frozen parameters: got %s, want the loop's %s", listed(got), listed(want))
	}
	if err := compareAbout(s.Config.About, c.about); err != nil {
		return nil, err
	}
	want := dense.Signatures(paramPrefix, s.Params.Own())
	for _, p := range s.Solver {
		want = append(want, dense.Signature{Name: solverPrefix + p.Name,
			Form: fmt.Sprintf("%v %v", p.Dtype, p.Shape)})
	}
	saved, observed := withoutPrefix(signaturesIn(r), observedPrefix)
	if s.Observations == nil || dense.Compare(dense.Signatures(observedPrefix, s.Observations), observed) != nil {
		c.Observed = -1
	}
	saved, kept := withoutPrefix(saved, bestPrefix)
	switch keep := s.Config.KeepBest; {
	case keep && len(kept) > 0:
		want, saved = append(want, dense.Signatures(bestPrefix, s.Kept)...), append(saved, kept...)
	case keep || s.Config.Patience == 0: // the loop starts over, or does not compare with earlier losses
		c.Best = best{}
	}
	s.Steps, s.Evaluated, s.Observed, s.Notes = c.Steps, c.Evaluated, c.Observed, c.notes
	s.Best = loop.Evaluation{Step: c.Best.Step, Loss: c.Best.Loss, Tokens: c.Best.Tokens}
	s.From, s.Stale = c.Best.From, c.Best.Stale
	return &wanted{c, s}, dense.Compare(want, saved)
}

// restore sets the loop and the source to the state of a checkpoint that fits.
func (w *wanted) restore(r *safetensors.Reader, l *loop.Loop, source train.Resumable) error {
	for _, p := range w.state.Solver {
		var steps [1]int64
		if p.Dtype != tensor.Int64 {
			continue
		}
		if err := r.ReadPart(solverPrefix+p.Name, 0, steps[:]); err != nil {
			return err
		}
		if steps[0] < 0 {
			return fmt.Errorf("solver state: %s: got %d, want a number >= 0", p.Name, steps[0])
		}
	}
	undo, err := w.restoreSource(source)
	if err != nil {
		return err
	}
	if err := l.SetState(w.state, func() error { return w.readTensors(r) }); err != nil {
		return oneline.Join(err, undo())
	}
	return nil
}

// readTensors reads each tensor directly to its destination: memory may not hold two copies of a large model's tensor.
func (w *wanted) readTensors(r *safetensors.Reader) error {
	if err := readInto(r, paramPrefix, w.state.Params.Own()); err != nil {
		return err
	}
	for _, p := range w.state.Solver {
		if p.Value == nil {
			continue // all elements belong to other processes
		}
		if err := r.ReadPart(solverPrefix+p.Name, p.Lo, dense.Slice(p.Value)); err != nil {
			return err
		}
	}
	if w.Best.Step > 0 {
		if err := readInto(r, bestPrefix, w.state.Kept); err != nil {
			return err
		}
	}
	if w.Observed < 0 {
		return nil
	}
	return readInto(r, observedPrefix, w.state.Observations)
}

// readInto copies a file's tensors, whose signatures are right, into tensors.
func readInto(r *safetensors.Reader, prefix string, tensors iter.Seq2[string, *tensor.Dense]) error {
	for name, value := range tensors {
		if err := r.ReadPart(prefix+name, 0, dense.Slice(value)); err != nil {
			return err
		}
	}
	return nil
}

// restored returns the differences between the checkpoint's writer and this program.
func (w *wanted) restored() *Restored {
	var r Restored
	if w.Kernels != simd.InstructionSet() {
		r.Kernels = w.Kernels
	}
	if w.Precision != w.state.Config.Precision.String() {
		r.Precision = w.Precision
	}
	return &r
}

// withoutPrefix splits signatures into those whose names have no such prefix, and those with the prefix.
func withoutPrefix(all []dense.Signature, prefix string) (without, with []dense.Signature) {
	for _, s := range all {
		if strings.HasPrefix(s.Name, prefix) {
			with = append(with, s)
		} else {
			without = append(without, s)
		}
	}
	return without, with
}

// listed returns the first names of a list and the number of the others.
func listed(names []string) string { return cmp.Or(oneline.List(names, 3), "none") }
