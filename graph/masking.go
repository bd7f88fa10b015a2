package graph

import (
	"fmt"
	"slices"

	"attention/graph/mask"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// resolvedMask is a mask that fits its scores, and the inputs that it reads.
type resolvedMask struct {
	mask  mask.Mask // with numbers in place of nodes
	args  []arg
	nodes G.Nodes
}

// resolveMask checks a mask and its nodes for the scores of an op.
func resolveMask(op string, m mask.Mask, s mask.Scores) (r resolvedMask, err error) {
	var inputs []mask.Input
	r.mask, inputs, err = mask.Resolve(m, s)
	if err != nil {
		return r, fmt.Errorf("graph: %s: mask: %w", op, err)
	}
	for _, in := range inputs {
		a := arg{name: in.Name, integer: in.Integer, fixed: true, anyNumber: !in.Integer}
		if err := checkArgs(op, []arg{a}, G.Nodes{in.Node}); err != nil {
			return r, err
		}
		if err := checkMaskShape(op, in, s); err != nil {
			return r, err
		}
		r.args, r.nodes = append(r.args, a), append(r.nodes, in.Node)
	}
	return r, nil
}

func checkMaskShape(op string, in mask.Input, s mask.Scores) error {
	if in.Broadcasts {
		if _, want := s.BroadcastKeep(in.Node.Shape()); want != "" {
			return &ShapeError{op, in.Name, in.Node.Shape(), want}
		}
		return nil
	}
	if !slices.Equal(in.Node.Shape(), in.Shape) {
		return &ShapeError{op, in.Name, in.Node.Shape(), fmt.Sprintf("%s = %v", in.Letters, in.Shape)}
	}
	return nil
}

// broadcast returns the layout of an argument that broadcasts to scores.
func broadcast(op, name string, shape tensor.Shape, s mask.Scores) (kernel.BiasLayout, error) {
	at, want := s.Broadcast(shape)
	if want != "" {
		return at, &ShapeError{op, name, shape, want}
	}
	return at, nil
}

// bindMask returns the keys that a resolved mask shows in one run: those of the scores,
// and extra ones after them, which all queries see.
func bindMask(op string, m mask.Mask, in []*tensor.Dense, s mask.Scores, extra int) (mask.KeySet, error) {
	keys, err := mask.Bind(m, in, s)
	if err != nil {
		return keys, fmt.Errorf("graph: %s: %w", op, err)
	}
	if extra > 0 {
		keys = keys.Append(s.S, extra)
	}
	return keys, nil
}

// setVisibility lets a kernel skip the keys that are not in the set.
func setVisibility(a *kernel.Attention, keys mask.KeySet) {
	a.Visible = func(b, t int) (lo, hi int) {
		lo, hi, _ = keys.Span(b, t)
		return lo, hi
	}
	a.Alike = keys.Alike()
	if keys.AllRanges(a.B, a.T) {
		return
	}
	a.Shown = func(b, h, t, s0 int, shown []bool) bool {
		if _, _, all := keys.Span(b, t); all {
			return false
		}
		switch keys.Glance(b, t, s0, len(shown)) {
		case mask.SeesAll:
			return false
		case mask.SeesNone:
			clear(shown)
		default:
			keys.Fill(b, h, t, s0, shown)
			// A batch alone may not know at a glance that it sees all: the same bits.
			return slices.Contains(shown, false)
		}
		return true
	}
}
