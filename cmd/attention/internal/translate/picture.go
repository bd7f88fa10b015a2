package translate

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"attention/cmd/attention/internal/plot"
	"attention/cmd/attention/internal/run"
	"attention/graph/machine"
	"attention/internal/folder"
	"attention/internal/tensorprint"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// writeCross writes a picture of the cross-attention weights of a pair to --out, or to the run folder f.
func (m *dateModel) writeCross(w io.Writer, f *run.Folder, path string, p datePair) error {
	weights, err := m.crossWeights(p)
	if err != nil {
		return err
	}
	picture := crossPicture(m.title(), p, weights)
	if path == "" {
		path, err = filepath.Join(f.Path, run.AttentionPicture), f.Write(run.AttentionPicture, picture.Write)
	} else if err = folder.WriteFile(path, picture.Write); err != nil {
		err = fmt.Errorf("--out: %w", err)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%s: what the decoder looks at to write\n%s for %q\n", path, p.iso, p.written)
	return nil
}

// crossWeights returns the cross-attention weights (T, S) of each head of the decoder's
// last block: from each character of the ISO date to each of the written one.
func (m *dateModel) crossWeights(p datePair) (heads [][]float64, err error) {
	b := layers.NewBuild(m.params, layers.Eval)
	if err := m.translatePair(b, p); err != nil {
		return nil, err
	}
	blocks := b.Calls(crossAttention)
	weights, err := blocks[len(blocks)-1].Weights() // (H, T, S)
	if err != nil {
		return nil, err
	}
	vm, err := machine.New(weights)
	if err != nil {
		return nil, err
	}
	if err := vm.RunAll(); err != nil {
		return nil, err
	}
	all := tensorprint.Float64s(weights.Value().(*tensor.Dense))
	return slices.Collect(slices.Chunk(all, isoLength*utf8.RuneCountInString(p.written))), nil
}

// translatePair builds the network's computation for a pair of dates.
func (m *dateModel) translatePair(b *layers.Build, p datePair) error {
	batch := newPairBatch(m.alphabets, 1)
	if _, err := batch.fill([]datePair{p}); err != nil {
		return err
	}
	input := func(name string, ids []int) *G.Node {
		n := b.InputOf(tensor.Int, name, len(ids))
		return b.Of(n, G.Let(n, tensor.New(tensor.WithShape(len(ids)), tensor.WithBacking(ids))))
	}
	source, target := input(sourceInput, batch.source[:batch.lengths[0]]), input(targetInput, batch.target)
	memory := b.Of(m.network.Encode(b, source, nil))
	b.Of(m.network.Decode(b, target, memory, nil))
	return b.Err()
}

// crossPicture returns the weights of each head.
func crossPicture(title string, p datePair, heads [][]float64) plot.HeatMaps {
	picture := plot.HeatMaps{Title: title, X: "encoder's input", Y: "decoder's output", Scale: "attention weight"}
	columns := strings.Split(strings.ReplaceAll(p.written, " ", "·"), "")
	for h, weights := range heads {
		picture.Maps = append(picture.Maps, plot.HeatMap{Title: fmt.Sprintf("head %d of %d", h+1, len(heads)),
			Columns: columns, Rows: strings.Split(p.iso, ""), Values: weights})
	}
	return picture
}
