package why

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"attention/cmd/attention/internal/plot"
	"attention/internal/dense"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// drawnLength is the length of the string in the picture of attention weights.
const drawnLength = 20

// drawReverseAttention draws at which letters the models of the first seed look when they write a string backwards.
func (c *comparison) drawReverseAttention(ctx context.Context, models []learner) error {
	b := newStringBatch(1, streamed(c.seeds[0], shownStream+1))
	b.drawEach([]int{drawnLength})
	text, reverse := b.row(0)
	columns, rows := append(strings.Split(text, ""), "end"), strings.Split(reverse, "")
	picture := plot.HeatMaps{X: "the string", Y: "what is written", Scale: "attention weight",
		Title: fmt.Sprintf("where they look to write each letter, seed %d", c.seeds[0])}
	for i := 1; i < len(rivals); i++ { // the first has no attention
		heads, err := reverseWeights(ctx, models[i].(rival), b)
		if err != nil {
			return err
		}
		for h, weights := range heads {
			title := rivals[i].name
			if len(heads) > 1 {
				title = fmt.Sprintf("%s, head %d of %d", title, h+1, len(heads))
			}
			picture.Maps = append(picture.Maps, plot.HeatMap{Title: title, Columns: columns, Rows: rows, Values: weights})
		}
	}
	return c.draw("reverse-attention.png", picture.Write)
}

// reverseWeights returns the attention weights (T, S) of each head, from each letter that is written to each of the
// string and its end.
func reverseWeights(ctx context.Context, m rival, batch *stringBatch) (heads [][]float64, err error) {
	e, err := newEvaluation(m.Params(), func(b *layers.Build) G.Nodes {
		source, target, lengths, _ := stringInputs(b, 1)
		return G.Nodes{b.Of(crossWeights(b, m, source, target, lengths))} // (1, [H,] longest, longest+1)
	})
	if err != nil {
		return nil, err
	}
	values, err := e.run(ctx, batch.batch.Inputs)
	if err != nil {
		return nil, err
	}
	for padded := range slices.Chunk(dense.Float64s(values[0]), longest*(longest+1)) {
		var head []float64
		for row := range drawnLength {
			head = append(head, padded[row*(longest+1):][:drawnLength+1]...)
		}
		heads = append(heads, head)
	}
	return heads, nil
}

// crossWeights returns the node of the weights with which a target sees a source.
func crossWeights(b *layers.Build, m rival, source, target, lengths *G.Node) (*G.Node, error) {
	if rnn, ok := m.reverser.(*layers.RNNSeq2Seq); ok {
		memory, err := rnn.Encode(b, source, lengths)
		if err != nil {
			return nil, err
		}
		out, err := rnn.Decode(b, target, memory)
		return out.Weights, err
	}
	b.Observe("*.multihead_attn")
	if _, err := m.Forward(b, source, target, lengths); err != nil {
		return nil, err
	}
	return b.Calls("*.multihead_attn")[0].Weights()
}
