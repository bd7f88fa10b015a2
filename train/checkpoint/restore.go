package checkpoint

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"attention/internal/dense"
	"attention/internal/kernel"
	"attention/internal/oneline"
	"attention/internal/safetensors"
	"attention/train"

	"gorgonia.org/tensor"
)

// Restored is how the program that wrote a checkpoint differs from this one. If a field is not
// zero, the coming steps give other bits than the steps of a run that never stopped.
type Restored struct {
	Kernels   string // "avx512", "avx2", "neon" or "go", if other kernels run now: these sum in another order
	Sums      bool   // whether that program added the gradients of a step's batches in another order
	Precision string // of that program's products, "full" or "bf16", if the loop's precision differs
}

// Restore sets the loop and the source to the state that Save wrote to a file. The loop
// must have parameters of the same names, dtypes and shapes, the same ones frozen, an equal
// solver config and equal Config.About. The error lists what does not fit and leaves loop
// and source as they were. The error for a file that was cut short or changed wraps
// ErrDamaged. If a file that is whole cannot be read a second time, the loop trains no more
// until another Restore.
//
// Steps, schedule, clipping, seed and the batches of a step are the loop's own: if
// they are equal too, the coming steps give the same bits as if the run had never
// stopped, unless Restored has a difference. With a nil source the file may hold a source's
// state or none. KeepBest begins anew if the file was saved without. In a group every process
// restores.
func Restore(l *train.Loop, path string, source train.Resumable) (*Restored, error) {
	if l == nil {
		return nil, errNoLoop
	}
	var w *wanted
	err := read(path, l.State().Params, func(r *safetensors.Reader) (err error) {
		w, err = fitting(r, l)
		return err
	}, func(r *safetensors.Reader) error { return w.restore(r, l, source) })
	if err != nil {
		return nil, err
	}
	return w.restored(), nil
}

// wanted is what a loop takes from a checkpoint.
type wanted struct {
	metadata
	state train.State // of the loop, with the numbers of the checkpoint
	own   train.State // of the loop before
}

// fitting returns what a loop takes from a checkpoint whose tensors, solver and config are the loop's.
func fitting(r *safetensors.Reader, l *train.Loop) (*wanted, error) {
	c, err := readMetadata(r.Metadata())
	if err != nil {
		return nil, err
	}
	s := l.State()
	if got, want := c.config.Solver.String(), s.Config.Solver.String(); got != want {
		return nil, fmt.Errorf("solver: got %v, want the loop's %v", got, want)
	}
	if got, want := c.frozen, s.Frozen; !slices.Equal(got, want) {
		return nil, fmt.Errorf("frozen parameters: got %s, want the loop's %s", list(got), list(want))
	}
	if err := compareAbout(s.Config.About, c.config.About); err != nil {
		return nil, err
	}
	w := &wanted{metadata: c, own: s, state: s}
	w.state.Steps, w.state.Evaluated, w.state.Notes = c.step, c.evaluated, c.notes
	want := signatures(paramPrefix, s.Params.All())
	for _, p := range s.Solver {
		want = append(want, safetensors.Signature{Name: solverPrefix + p.Name, Form: fmt.Sprintf("%v %v", p.Dtype, p.Shape)})
	}
	saved, observed := withoutPrefix(signaturesIn(r), observedPrefix)
	if w.state.Observed = -1; s.Observations != nil && c.observed >= 0 &&
		safetensors.Compare(signatures(observedPrefix, s.Observations), observed) == nil {
		w.state.Observed = c.observed
	}
	saved, kept := withoutPrefix(saved, bestPrefix)
	if s.Config.KeepBest && len(kept) > 0 {
		want, saved = append(want, signatures(bestPrefix, s.Kept)...), append(saved, kept...)
	}
	w.takeBest(len(kept) > 0)
	return w, safetensors.Compare(want, saved)
}

// takeBest takes what Run remembers of its evaluations, if the loop asks for it and the checkpoint, which
// has the best parameters or not, holds it.
func (w *wanted) takeBest(kept bool) {
	e, c := evaluations{}, w.own.Config
	if c.KeepBest && kept || c.Patience > 0 && !c.KeepBest {
		e = w.best
	}
	w.state.Best = train.Evaluation{Step: e.Step, Loss: e.Loss, Tokens: e.Tokens}
	w.state.From, w.state.Stale = e.From, e.Stale
}

// restore sets the loop and the source to the state of a checkpoint that fits.
func (w *wanted) restore(r *safetensors.Reader, l *train.Loop, source train.Resumable) error {
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

// readTensors reads each tensor to its place: two of a large model do not fit the memory.
func (w *wanted) readTensors(r *safetensors.Reader) error {
	s := w.state
	if err := readInto(r, paramPrefix, s.Params.All()); err != nil {
		return err
	}
	for _, p := range s.Solver {
		if p.Value == nil {
			continue // all elements are other processes'
		}
		if err := r.ReadPart(solverPrefix+p.Name, p.Lo, dense.Slice(p.Value)); err != nil {
			return err
		}
	}
	if s.Best.Step > 0 {
		if err := readInto(r, bestPrefix, s.Kept); err != nil {
			return err
		}
	}
	if s.Observed < 0 {
		return nil
	}
	return readInto(r, observedPrefix, s.Observations)
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

// restored returns how the writer of the checkpoint differs.
func (w *wanted) restored() *Restored {
	var r Restored
	if w.kernels != kernel.InstructionSet() {
		r.Kernels = w.kernels
	}
	r.Sums = w.sums != treeSums && w.step > 0 && w.own.Config.Accumulate > 3 // up to three there is but one order
	if w.precision != w.own.Config.Precision.String() {
		r.Precision = w.precision
	}
	return &r
}

// withoutPrefix returns the signatures without those whose names have a prefix, and those.
func withoutPrefix(all []safetensors.Signature, prefix string) (without, with []safetensors.Signature) {
	for _, s := range all {
		if strings.HasPrefix(s.Name, prefix) {
			with = append(with, s)
		} else {
			without = append(without, s)
		}
	}
	return without, with
}

// list returns the first names of a list and the number of further ones.
func list(names []string) string {
	const most = 3
	if len(names) == 0 {
		return "none"
	}
	text := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
