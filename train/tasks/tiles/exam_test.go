package tiles

import (
	"math/rand/v2"
	"slices"
	"testing"

	"attention/internal/dense"
	"attention/layers"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// An exam's marks are counts of what Look returns; alone, each tile has all its weight on itself.
func TestExam(t *testing.T) {
	for name, c := range map[string]Config{"attention": {}, "each alone": {Alone: true}} {
		t.Run(name, func(t *testing.T) {
			m, err := New(layers.NewParams(tensor.Float32, 1).Scope(""), c)
			require.NoError(t, err)
			marks, err := m.Exam(t.Context(), NewPictures(3, rand.New(rand.NewPCG(1, 1))), 1)
			require.NoError(t, err)
			p := NewPictures(3, rand.New(rand.NewPCG(1, 1)))
			seen, err := m.Glance(t.Context(), p)
			require.NoError(t, err)
			require.Len(t, seen.Weights, blocks)
			weights := dense.Float64s(seen.Weights[1]) // (B, H, Tiles, Tiles)
			arrows, right, focused := 0.0, 0.0, 0.0    // the last by head 3 of block 2
			for i := range 3 {
				for at, tile := range p.Picture(i) {
					row := weights[((i*heads+2)*Tiles+at)*Tiles:][:Tiles]
					if c.Alone {
						require.Equal(t, 1.0, row[at])
					}
					if tile.Kind != Arrow {
						continue
					}
					arrows++
					if seen.Answers[i*Tiles+at] == p.Picture(i)[tile.Answer].Digit {
						right++
					}
					if row[tile.Answer] == slices.Max(row) {
						focused++
					}
				}
			}
			require.Equal(t, right/arrows, marks.Arrows)
			if c.Alone {
				require.Empty(t, marks.Focus)
				return
			}
			require.Len(t, marks.Focus, blocks*heads)
			focus := marks.Focus[heads+2]
			require.Equal(t, []int{2, 3}, []int{focus.Block, focus.Head})
			require.Equal(t, focused/arrows, focus.Arrows)
		})
	}
}
