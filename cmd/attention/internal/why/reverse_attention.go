package why

import (
	"fmt"
	"strings"

	"attention/cmd/attention/internal/plot"
	"attention/internal/dense"
	"attention/layers"
	"attention/train"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// drawnLength is the length of the string in the picture of attention weights.
const drawnLength = 20

// drawReverseAttention draws at which letters the models of the first seed look when they write a string backwards.
func (c *comparison) drawReverseAttention(models []learner) error {
	b := newStringBatch(1, streamed(c.seeds[0], shownStream+1))
	b.drawEach([]int{drawnLength})
	text, reverse := b.row(0)
	columns, rows := append(strings.Split(text, ""), "end"), strings.Split(reverse, "")
	picture := plot.HeatMaps{X: "the string", Y: "what is written", Scale: "attention weight",
		Title: fmt.Sprintf("where they look to write each letter, seed %d", c.seeds[0])}
	for i, name := range rivals {
		if name == squeezed {
			continue
		}
		heads, err := reverseWeights(models[i].(rival), b)
		if err != nil {
			return err
		}
		for h, weights := range heads {
			title := name
			if len(heads) > 1 {
				title = fmt.Sprintf("%s, head %d of %d", name, h+1, len(heads))
			}
			picture.Maps = append(picture.Maps, plot.HeatMap{Title: title, Columns: columns, Rows: rows, Values: weights})
		}
	}
	return c.draw("reverse-attention.png", picture.Write)
}

// reverseWeights returns the attention weights (T, S) of each head, from each letter that is written to each of the
// string and its end.
func reverseWeights(m rival, batch *stringBatch) (heads [][]float64, err error) {
	b := layers.NewBuild(m.Params(), layers.Eval)
	source, target := b.InputOf(tensor.Int, sourceInput, drawnLength+1), b.InputOf(tensor.Int, targetInput, drawnLength)
	weights, err := crossWeights(b, m, source, target) // (H, T, S)
	if err != nil {
		return nil, err
	}
	cut := func(ids []int, n int) *tensor.Dense {
		return tensor.New(tensor.WithShape(n), tensor.WithBacking(ids[:n]))
	}
	got, err := train.Predict(b, train.Values{sourceInput: cut(batch.source, drawnLength+1),
		targetInput: cut(batch.target, drawnLength)}, weights)
	if err != nil {
		return nil, err
	}
	all, n := dense.Float64s(got[0]), drawnLength*(drawnLength+1)
	for ; len(all) > 0; all = all[n:] {
		heads = append(heads, all[:n])
	}
	return heads, nil
}

// crossWeights returns the node of the weights with which a target sees a source.
func crossWeights(b *layers.Build, m rival, source, target *G.Node) (*G.Node, error) {
	if rnn, ok := m.reverser.(*layers.RNNSeq2Seq); ok {
		memory, err := rnn.Encode(b, source, nil)
		if err != nil {
			return nil, err
		}
		out, err := rnn.Decode(b, target, memory)
		return out.Weights, err
	}
	b.Observe("*.multihead_attn")
	if _, err := m.Forward(b, source, target, nil); err != nil {
		return nil, err
	}
	return b.Calls("*.multihead_attn")[0].Weights()
}
