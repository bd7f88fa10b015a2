package train

import (
	"iter"
	"math"
	"strconv"

	"attention/internal/kernel"
	"attention/internal/safetensors"

	"gorgonia.org/tensor"
)

// watchedParam is a parameter of which every record has the norms.
type watchedParam struct {
	name     string
	value    *tensor.Dense
	gradient int   // index among the trained parameters; -1 for one that is not trained
	at       []int // indices of the elements whose changes are measured; nil for all

	// start and last are copies of those elements, before the first record and at the last
	// one; nil for a parameter that is not trained.
	start, last *tensor.Dense
}

func newWatchedParam(name string, value *tensor.Dense, trained bool) *watchedParam {
	p := &watchedParam{name: name, value: value, gradient: -1}
	if !trained {
		return p
	}
	n := value.Shape().TotalSize()
	if n > watchedElements {
		p.at, n = spread(n, watchedElements), watchedElements
	}
	p.start = tensor.New(tensor.Of(value.Dtype()), tensor.WithShape(n))
	p.last = p.start.Clone().(*tensor.Dense)
	return p
}

// spread returns m indices below n, one of each m-th part, at places that have nothing to do
// with the rows of a matrix.
func spread(n, m int) []int {
	at := make([]int, m)
	for i := range at {
		from, to := i*n/m, (i+1)*n/m
		_, part := math.Modf(float64(i) * math.Phi)
		at[i] = from + int(part*float64(to-from))
	}
	return at
}

// keep copies the elements to start and last.
func (p *watchedParam) keep() {
	if p.last == nil {
		return
	}
	copyAt(p.last, p.value, p.at)
	setElements(p.start, elementsOf(p.last))
}

// move returns the norms and copies the elements to last.
func (p *watchedParam) move(s *Step) WatchedParam {
	w := WatchedParam{Name: p.name, Norm: Number(norm(p.value)), Gradient: Number(math.NaN())}
	if p.last == nil {
		return w
	}
	change := changes[float32]
	if p.value.Dtype() == tensor.Float64 {
		change = changes[float64]
	}
	w.Change, w.ChangeFromStart = change(p)
	w.Gradient = Number(s.norms.Float64s()[p.gradient])
	copyAt(p.last, p.value, p.at)
	return w
}

// norm returns the Euclidean norm of a tensor, summed in float64.
func norm(d *tensor.Dense) float64 {
	if d.Dtype() == tensor.Float32 {
		return math.Sqrt(kernel.SumSquares(d.Float32s()))
	}
	return math.Sqrt(kernel.SumSquares(d.Float64s()))
}

// changes returns the norms of the changes since the last record and since the start. Those
// of the measured elements stand for all.
func changes[F kernel.Float](p *watchedParam) (sinceLast, sinceStart Number) {
	value, was, first := elements[F](p.value), elements[F](p.last), elements[F](p.start)
	var last, start float64
	for i := range was {
		at := i
		if p.at != nil {
			at = p.at[i]
		}
		v := float64(value[at])
		a, b := v-float64(was[i]), v-float64(first[i])
		last, start = last+float64(a*a), start+float64(b*b)
	}
	share := float64(len(value)) / float64(len(was))
	return Number(math.Sqrt(share * last)), Number(math.Sqrt(share * start))
}

// copyAt copies the elements with some indices, or all, to a vector.
func copyAt(to, from *tensor.Dense, at []int) {
	if at == nil {
		setElements(to, elementsOf(from))
		return
	}
	if to.Dtype() == tensor.Float32 {
		gather(to.Float32s(), from.Float32s(), at)
	} else {
		gather(to.Float64s(), from.Float64s(), at)
	}
}

func gather[F kernel.Float](to, from []F, at []int) {
	for i, j := range at {
		to[i] = from[j]
	}
}

// float32s returns a copy of the elements of a contiguous tensor from index lo up to hi.
func float32s(d *tensor.Dense, lo, hi int) []float32 {
	out := make([]float32, hi-lo)
	if d.Dtype() == tensor.Float32 {
		copy(out, d.Float32s()[lo:hi])
		return out
	}
	for i, v := range d.Float64s()[lo:hi] {
		out[i] = float32(v)
	}
	return out
}

// state returns what a checkpoint holds of a recorder, with the norms of the last step's
// gradients.
func (r *recorder) state(s *Step) iter.Seq2[string, *tensor.Dense] {
	return func(yield func(string, *tensor.Dense) bool) {
		if !yield("gradients", s.norms) {
			return
		}
		for _, p := range r.params {
			if p.last != nil && (!yield("start."+p.name, p.start) || !yield("last."+p.name, p.last)) {
				return
			}
		}
	}
}

// watchFile returns what a checkpoint holds of the loop's Watch, and adds its step to the
// metadata.
func (l *Loop) watchFile(metadata map[string]string) ([]safetensors.Tensor, error) {
	if l.watch == nil || l.watch.recorded < 0 {
		return nil, nil
	}
	metadata[watchKey] = strconv.Itoa(l.watch.recorded)
	return toFile(watchPrefix, l.watch.state(l.step))
}

// restoreWatch sets what the loop's Watch remembers to that of a checkpoint. If there is
// none, the next Run begins anew.
func (l *Loop) restoreWatch(c checkpointMetadata, r *safetensors.Reader) error {
	if l.watch == nil {
		return nil
	}
	l.watch.recorded, l.watch.begun = -1, false
	l.step.forgetNorms()
	if !c.watched {
		return nil
	}
	l.watch.recorded = c.recorded
	return readInto(r, watchPrefix, l.watch.state(l.step))
}
