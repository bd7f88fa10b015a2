package mask_test

import (
	"testing"

	"attention/graph/mask"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func TestEqual(t *testing.T) {
	g := G.NewGraph()
	n := G.NewVector(g, tensor.Int, G.WithShape(2), G.WithName("n"))
	after := func(d int) mask.Func {
		return mask.Func{Name: "after", VisibleAt: func(t, s int) bool { return s <= t+d }}
	}
	one, of := after(1), mask.Func{Visible: func(b, h, t, s int) bool { return true }}
	all := map[string]mask.Mask{
		"nil":            nil,
		"all":            mask.All{},
		"causal":         mask.Causal{},
		"offset":         mask.Causal{Offset: 1},
		"at":             mask.CausalAt{Start: n},
		"lengths":        mask.KeyLengths{Lengths: n},
		"blocks":         mask.Blocks{Size: 2, Chosen: n},
		"other blocks":   mask.Blocks{Size: 3, Chosen: n},
		"func":           one,
		"other variable": after(1),
		"other name":     mask.Func{Name: "other", VisibleAt: one.VisibleAt},
		"of heads":       of,
		"not":            mask.Not(one),
		"not causal":     mask.Not(mask.Causal{}),
		"and":            mask.And(one, of),
		"or":             mask.Or(one, of),
		"and, turned":    mask.And(of, one),
	}
	for a, x := range all {
		for b, y := range all {
			require.Equal(t, a == b, mask.Equal(x, y), "%s and %s", a, b)
		}
	}
}
