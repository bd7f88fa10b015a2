package translate

import (
	"fmt"
	"slices"
	"strings"

	"attention/cmd/attention/internal/plot"
	"attention/graph/machine"
	"attention/internal/folder"
	"attention/internal/tensorprint"
	"attention/layers"

	"gonum.org/v1/plot/vg"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// writeCross writes a picture of the cross-attention weights of a pair.
func (r *translation) writeCross(p datePair) error {
	weights, err := r.crossWeights(p)
	if err != nil {
		return err
	}
	if err := folder.WriteFile(r.options.out, crossPicture(p, weights).Write); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	fmt.Fprintf(r.out, "\n%s: what the decoder looks at to write %s for %q\n", r.options.out, p.iso, p.written)
	return nil
}

// crossWeights returns the cross-attention weights (T, S) of each head of the decoder's
// last block: from each character of the ISO date to each of the written one.
func (r *translation) crossWeights(p datePair) (heads [][]float64, err error) {
	batch := newPairBatch(r.alphabets, 1)
	if _, err := batch.fill([]datePair{p}); err != nil {
		return nil, err
	}
	b := layers.NewBuild(r.params, layers.Eval)
	input := func(name string, ids []int) *G.Node {
		n := b.InputOf(tensor.Int, name, len(ids))
		return b.Of(n, G.Let(n, tensor.New(tensor.WithShape(len(ids)), tensor.WithBacking(ids))))
	}
	source, target := input(sourceInput, batch.source[:batch.lengths[0]]), input(targetInput, batch.target)
	b.Observe("*.multihead_attn")
	memory := b.Of(r.model.Encode(b, source, nil))
	b.Of(r.model.Decode(b, target, memory, nil))
	if err := b.Err(); err != nil {
		return nil, err
	}
	blocks := b.Calls("*.multihead_attn")
	weights, err := blocks[len(blocks)-1].Weights() // (H, T, S)
	if err != nil {
		return nil, err
	}
	m, err := machine.New(weights)
	if err != nil {
		return nil, err
	}
	if err := m.RunAll(); err != nil {
		return nil, err
	}
	all := tensorprint.Float64s(weights.Value().(*tensor.Dense))
	return slices.Collect(slices.Chunk(all, isoLength*batch.lengths[0])), nil
}

// crossPicture returns the weights of each head in two columns.
func crossPicture(p datePair, heads [][]float64) plot.HeatMaps {
	picture := plot.HeatMaps{X: "encoder's input", Y: "decoder's output", MaxColumns: 2, MinRows: 2,
		Width: 5.5 * vg.Inch, Height: 2.9 * vg.Inch}
	columns := strings.Split(strings.ReplaceAll(p.written, " ", "·"), "")
	for h, weights := range heads {
		picture.Maps = append(picture.Maps, plot.HeatMap{
			Title:   fmt.Sprintf("cross-attention weights, head %d of %d", h+1, len(heads)),
			Columns: columns, Rows: strings.Split(p.iso, ""), Values: weights,
		})
	}
	return picture
}
