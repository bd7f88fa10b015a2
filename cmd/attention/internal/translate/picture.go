package translate

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"attention/cmd/attention/internal/plot"
	"attention/cmd/attention/internal/session"
	"attention/cmd/attention/internal/translations"
	"attention/graph/machine"
	"attention/internal/dense"
	"attention/internal/folder"
	"attention/internal/oneline"
	"attention/layers"
	"attention/train/dates"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// writeCross writes a picture of the cross-attention weights of a pair in a run to --out, or to the run folder f.
func writeCross(m *translations.Model, w io.Writer, name string, f *session.Folder, out string, p dates.Pair) error {
	weights, err := crossWeights(m, p)
	if err != nil {
		return err
	}
	n := m.Settings.Model.Blocks
	picture := crossPicture(
		fmt.Sprintf("cross-attention, layer %d of %d, step %d, run %s", n, n, m.Steps, name), p, weights)
	if out == "" {
		out, err = filepath.Join(f.Path, session.AttentionPicture), f.Write(session.AttentionPicture, picture.Write)
	} else if err = folder.WriteFile(out, picture.Write); err != nil {
		err = fmt.Errorf("--out: %w", err)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%s: what the decoder looks at to write\n%s for %q\n", out, p.ISO, p.Written)
	return nil
}

// crossWeights returns the cross-attention weights (T, S) of each head of the decoder's
// last block: from each character of the ISO date to each of the written one.
func crossWeights(m *translations.Model, p dates.Pair) (heads [][]float64, err error) {
	b := layers.NewBuild(m.Params(), layers.Eval)
	if err := translatePair(m, b, p); err != nil {
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
	all := dense.Float64s(weights.Value().(*tensor.Dense))
	return slices.Collect(slices.Chunk(all, dates.ISOLength*utf8.RuneCountInString(p.Written))), nil
}

// translatePair builds the network's computation for a pair of dates.
func translatePair(m *translations.Model, b *layers.Build, p dates.Pair) error {
	batch := dates.NewBatch(m.Alphabets, 1)
	if _, err := batch.Fill([]dates.Pair{p}); err != nil {
		return err
	}
	n := batch.Lengths[0]
	source, target, _ := m.One(b, n)
	if err := b.Err(); err != nil {
		return err
	}
	return oneline.Join(G.Let(source, tensor.New(tensor.WithShape(n), tensor.WithBacking(batch.Source[:n]))),
		G.Let(target, tensor.New(tensor.WithShape(dates.ISOLength), tensor.WithBacking(batch.Target))))
}

// crossPicture returns the weights of each head.
func crossPicture(title string, p dates.Pair, heads [][]float64) plot.HeatMaps {
	picture := plot.HeatMaps{Title: title, X: "encoder's input", Y: "decoder's output", Scale: "attention weight"}
	columns := strings.Split(strings.ReplaceAll(p.Written, " ", "·"), "")
	for h, weights := range heads {
		picture.Maps = append(picture.Maps, plot.HeatMap{Title: fmt.Sprintf("head %d of %d", h+1, len(heads)),
			Columns: columns, Rows: strings.Split(p.ISO, ""), Values: weights})
	}
	return picture
}
