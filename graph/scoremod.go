package graph

import (
	"fmt"
	"math"
	"sync/atomic"

	"attention/graph/mask"
	"attention/internal/config"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
)

// A ScoreMod changes the scores of an attention, as flex_attention's score_mod does: a ScoreFunc or a ScoreGraph. It is
// applied after Scale and Softcap, before the biases and the mask. A pointer to one of the two is refused.
type ScoreMod interface {
	fmt.Stringer
	// check returns an error for a ScoreMod that does nothing, or that does not fit scores with these axes.
	check(s mask.Scores) error
}

// ScoreFunc changes each score by the caller's own function. Query t and key s are numbered from 0; with a cache t is
// the position in the whole sequence. b is the index of the sequence; all axes before the heads' axis count as one. The
// scores of ExtraKeys do not change.
//
// Both functions must be pure: the same arguments give the same results. Several goroutines call them, also for pairs
// that the mask hides, whose results do not matter. A panic in them becomes the error of the op. The op is never merged
// with another op, because functions cannot be compared, and it has no JSON. When the attention is built, Slope is
// compared with difference quotients of Score at some scores of the first pair and of the last.
type ScoreFunc struct {
	Name  string // in errors
	Score func(score float64, b, h, t, s int) float64
	Slope func(score float64, b, h, t, s int) float64 // the derivative of Score by the score
}

// ScoreGraph changes the scores by ops of a graph, which may read other nodes, such as parameters: Of returns the
// changed scores for scores (…, H, T, S), including those of ExtraKeys. Only Attention accepts it: the fused forms have
// no node of scores.
type ScoreGraph struct {
	Name string // in errors
	Of   func(scores *G.Node) (*G.Node, error)
}

// String returns the type and the name.
func (m ScoreFunc) String() string { return fmt.Sprintf("ScoreFunc %q", m.Name) }

// String returns the type and the name.
func (m ScoreGraph) String() string { return fmt.Sprintf("ScoreGraph %q", m.Name) }

// MarshalJSON fails: it is a function.
func (m ScoreFunc) MarshalJSON() ([]byte, error) {
	return nil, fmt.Errorf("got %v, which has no JSON, want none", m)
}

// Validate returns an error if a function is missing.
func (m ScoreFunc) Validate() error {
	if m.Score == nil || m.Slope == nil {
		return fmt.Errorf("got %v without Score or Slope, want both", m)
	}
	return nil
}

func (m ScoreGraph) check(mask.Scores) error {
	if m.Of == nil {
		return fmt.Errorf("got %v without Of, want a function", m)
	}
	return nil
}

func (m ScoreFunc) check(s mask.Scores) (err error) {
	if err := m.Validate(); err != nil {
		return err
	}
	defer func() {
		if r := recover(); r != nil {
			err = recovered(r)
		}
	}()
	score, slope := m.called(m.Score), m.called(m.Slope)
	for _, at := range [][4]int{{}, {max(s.B(), 1) - 1, s.H - 1, s.T - 1, s.S - 1}} {
		b, h, q, k := at[0], at[1], at[2], at[3]
		for _, x := range []float64{-2.3, -0.7, 0.4, 1.9} {
			const step = 1e-5
			want := (score(x+step, b, h, q, k) - score(x-step, b, h, q, k)) / (2 * step)
			got := slope(x, b, h, q, k)
			if size := math.Abs(want); size <= math.MaxFloat64 && !(math.Abs(got-want) <= 1e-4*max(1, size)) {
				return fmt.Errorf("%v: Slope of score %v for %s: got %.6g, want %.6g, the difference quotient of Score",
					m, x, pairWords(at), got, want)
			}
		}
	}
	return nil
}

// pairWords returns the text that names a pair.
func pairWords(at [4]int) string {
	return fmt.Sprintf("batch %d, head %d, query %d and key %d", at[0], at[1], at[2], at[3])
}

// called returns a function that turns panics into *scoreErrors.
func (m ScoreFunc) called(f kernel.ScoreFunc) kernel.ScoreFunc {
	return func(x float64, b, h, t, s int) float64 {
		defer func() {
			if r := recover(); r != nil {
				panic(&scoreError{fmt.Errorf("%v: got a panic for %s: %v, want a number", m,
					pairWords([4]int{b, h, t, s}), r)})
			}
		}()
		return f(x, b, h, t, s)
	}
}

// scoreError is the panic of a ScoreFunc.
type scoreError struct{ error }

// recovered returns the error of a function of masks or scores that panicked, given the result of recover. It panics
// again with anything else.
func recovered(r any) error {
	if e, ok := r.(*scoreError); ok {
		return e.error
	}
	return mask.Recovered(r)
}

// checkScore returns an error for a wrong ScoreFunc.
func (a *attentionArgs) checkScore() error {
	if a.Score == nil {
		return nil
	}
	if g, ok := a.Score.(ScoreGraph); ok && a.op != "Attention" {
		return a.errorf("score: got %v, want a ScoreFunc, or Attention for it", g)
	}
	err := config.NotPointer(a.Score)
	if err == nil {
		err = a.Score.check(a.scores)
	}
	if err != nil {
		return a.errorf("score: %w", err)
	}
	return nil
}

// numberedScore is the ScoreFunc of an op and of the op's gradient; its number makes it different from the ScoreFuncs
// of other ops.
type numberedScore struct {
	ScoreFunc
	Number uint64
}

// GoString returns the text from which an op's hash is computed.
func (m numberedScore) GoString() string { return fmt.Sprintf("%v number %d", m.ScoreFunc, m.Number) }

// scoreFuncs counts the ScoreFuncs used in ops.
var scoreFuncs atomic.Uint64

// numbered returns the config's ScoreFunc, zero if it has none.
func (a *attentionArgs) numbered() numberedScore {
	m, ok := a.Score.(ScoreFunc)
	if !ok {
		return numberedScore{}
	}
	return numberedScore{m, scoreFuncs.Add(1)}
}

// into sets the kernel's functions. Heads are numbered from head on, and place gives the positions of queries and keys.
func (m numberedScore) into(a *kernel.Attention, head int, place func(b, t, s int) (int, int)) {
	if m.Score == nil {
		return
	}
	of := func(f kernel.ScoreFunc) kernel.ScoreFunc {
		f = m.called(f)
		return func(x float64, b, h, t, s int) float64 {
			if place != nil {
				t, s = place(b, t, s)
			}
			return f(x, b, head+h, t, s)
		}
	}
	a.Score, a.ScoreSlope = of(m.Score), of(m.Slope)
}
