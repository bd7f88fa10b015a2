package encoders

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"attention/graph"
	"attention/internal/dense"
	"attention/layers"
	"attention/train/pretrained"
	"attention/train/text"

	G "gorgonia.org/gorgonia"
)

// checkTags returns an error for an example that is not words with tags that are learned.
func (s *Batches) checkTags(e text.Example) error {
	if len(e.Words) == 0 || len(e.Words) != len(e.Tags) {
		return fmt.Errorf("got %d words with %d tags, want words with a tag each", len(e.Words), len(e.Tags))
	}
	for i, tag := range e.Tags {
		if !slices.Contains(s.config.Classes, tag) {
			return fmt.Errorf("word %d, %.60q: got the tag %.60q, want one of the %d that are learned", i+1, e.Words[i], tag,
				len(s.config.Classes))
		}
	}
	return nil
}

// first is the first token of a word.
type first struct{ word, token int }

// firstTokens returns the first tokens of words, which are a text with blanks between them, among the first tokens of
// the text. These tokens have the words' tags, and others have none.
func firstTokens(words []string, of text.Encoding, most int) (all []first) {
	word, end, last := 0, len(words[0]), -1
	for i, at := range of.Bytes[:min(most, len(of.Bytes))] {
		if of.Texts[i] < 0 {
			continue
		}
		for at[0] >= end && word+1 < len(words) {
			word++
			end += 1 + len(words[word])
		}
		if word > last {
			all, last = append(all, first{word, i}), word
		}
	}
	return all
}

// EvaluateTags returns SpanF1's measures of the tags that an encoder's Tokens give to words, and the share of correct
// tags. It reads the batches of a source with Config.Tagged and Once, up to io.EOF. Words that do not fit into the
// longest text are not measured, as in transformers' example of token classification.
func EvaluateTags(ctx context.Context, e *pretrained.Encoder, from *Batches) ([]Measure, error) {
	if ctx == nil || e == nil || e.Tokens == nil || from == nil || !from.config.Tagged || !from.config.Once {
		return nil, errors.New("encoders: evaluate tags: got nil, an encoder without tags or other batches, want a context, " +
			"a token classifier, and batches of words with tags that end")
	}
	scores, err := layers.NewFunc(e.Params, func(b *layers.Build, in layers.Inputs) []*G.Node { // (B, T, C)
		return b.Nodes(e.Tokens.Forward(b, layers.EncoderInput{IDs: in[IDs(0)], Lengths: in[Lengths(0)]}))
	}, layers.FuncConfig{Graphs: 16})
	if err != nil {
		return nil, err
	}
	var want, got [][]string
	right, words, classes := 0.0, 0.0, from.config.Classes
	for {
		b, err := from.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		rows, targets := b.Inputs[Rows].Ints(), b.Inputs[Targets].Ints()
		delete(b.Inputs, Rows)
		delete(b.Inputs, Targets)
		out, err := scores.Call(ctx, b.Inputs)
		if err != nil {
			return nil, err
		}
		values, n, width, sentence := dense.Float64s(out[0]), len(classes), out[0].Shape()[1], -1
		for i, row := range rows {
			if targets[i] == graph.IgnoreTarget {
				break
			}
			if row/width != sentence {
				sentence, want, got = row/width, append(want, nil), append(got, nil)
			}
			best, most := 0, math.Inf(-1)
			for j, x := range values[row*n : (row+1)*n] {
				if x > most {
					best, most = j, x
				}
			}
			last := len(want) - 1
			want[last], got[last] = append(want[last], classes[targets[i]]), append(got[last], classes[best])
			if words++; best == targets[i] {
				right++
			}
		}
	}
	measures, err := SpanF1(want, got)
	return append(measures, Measure{"accuracy", right / words}), err
}
