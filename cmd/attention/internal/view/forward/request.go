package forward

import (
	"fmt"
	"slices"
	"strings"

	"attention/graph/mask"
	"attention/layers"

	"gorgonia.org/tensor"
)

// Request is a text, and changes of the model.
type Request struct {
	Text  string `json:"text"`
	Then  []int  `json:"then,omitempty"`  // tokens that follow the text, by their ids
	Hide  []int  `json:"hide,omitempty"`  // positions of tokens that no other token sees
	Heads []Head `json:"heads,omitempty"` // whose outputs are scaled
}

// Head is a head, by the index of its layer and its own index, both from 0, and the factor of its output.
type Head struct {
	Layer  int     `json:"layer"`
	Head   int     `json:"head"`
	Factor float64 `json:"factor"`
}

// changes reports whether the request changes the model.
func (r Request) changes() bool { return len(r.Hide)+len(r.Heads) > 0 }

// scale makes a build multiply the outputs of heads of the known layers by the factors.
func (r Request) scale(b *layers.Build, known []*Layer) error {
	factors := map[int][]float64{}
	for _, h := range r.Heads {
		if h.Layer < 0 || h.Layer >= len(known) || h.Head < 0 || h.Head >= known[h.Layer].Heads {
			return fmt.Errorf("heads: got head %d of layer %d, want those of the model", h.Head, h.Layer)
		}
		if factors[h.Layer] == nil {
			factors[h.Layer] = slices.Repeat([]float64{1}, known[h.Layer].Heads)
		}
		factors[h.Layer][h.Head] = h.Factor
	}
	for layer, f := range factors {
		b.ScaleHeads(f, known[layer].Path)
	}
	return nil
}

// hideKeys hides tokens from the layers whose paths match. These layers see n tokens from position first on; other
// positions are not affected.
func hideKeys(b *layers.Build, positions []int, first, n int, paths ...string) {
	keep := slices.Repeat([]int{1}, n)
	for _, at := range positions {
		if at >= first && at < first+n {
			keep[at-first] = 0
		}
	}
	if !slices.Contains(keep, 0) {
		return
	}
	// A constant could be merged with a different one, because graphs compare constants by a truncated print.
	in := b.InputOf(tensor.Int, "keep "+strings.Join(paths, " "), n)
	b.Mask(mask.Keep{Keep: b.Of(in, let(in, keep))}, paths...)
}

// checkPositions returns an error if a position is not one of n tokens.
func checkPositions(positions []int, n int) error {
	for _, at := range positions {
		if at < 0 || at >= n {
			return fmt.Errorf("hide: got position %d, want 0 to %d", at, n-1)
		}
	}
	return nil
}
