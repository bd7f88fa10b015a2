package why

import (
	"context"
	"slices"

	"attention/layers"
	"attention/train"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// judge runs a model that writes strings backwards.
type judge struct{ *evaluation }

// newJudge returns the judge of a model, which writes some strings at once.
func newJudge(m reverser, size int) (judge, error) {
	e, err := newEvaluation(m.Params(), func(b *layers.Build) G.Nodes {
		source, target, lengths, _ := stringInputs(b, size)
		return G.Nodes{likeliest(b, b.Of(m.Forward(b, source, target, lengths)))}
	})
	return judge{e}, err
}

// next returns the likeliest next letters (B, T) at all positions of the targets.
func (j judge) next(ctx context.Context, v train.Values) ([]int, error) {
	ids, err := j.run(ctx, v)
	if err != nil {
		return nil, err
	}
	return ids[0].Ints(), nil
}

// exact returns the share of n new strings of each length that the model writes right to the last letter, when it
// writes the likeliest letter each time. One pass with the right answer as its input decides that: up to the first
// wrong letter, the model would have written the same letters itself.
func (j judge) exact(ctx context.Context, n int, seed int64) ([]float64, error) {
	b := newStringBatch(n, streamed(seed, testStream))
	shares := make([]float64, 0, longest-shortest+1)
	for length := shortest; length <= longest; length++ {
		b.draw(func() int { return length })
		got, err := j.next(ctx, b.batch.Inputs)
		if err != nil {
			return nil, err
		}
		right := 0
		for row := range n {
			if slices.Equal(got[row*longest:][:length], b.targets[row*longest:][:length]) {
				right++
			}
		}
		shares = append(shares, float64(right)/float64(n))
	}
	return shares, nil
}

// write returns what the model writes for each string of a batch, letter by letter.
func (j judge) write(ctx context.Context, b *stringBatch) ([]string, error) {
	values := train.Values{sourceInput: b.batch.Inputs[sourceInput], lengthsInput: b.batch.Inputs[lengthsInput]}
	own := tensor.New(tensor.Of(tensor.Int), tensor.WithShape(len(b.lengths), longest))
	values[targetInput] = own
	target, written := own.Ints(), make([][]int, len(b.lengths))
	for row := range b.lengths {
		target[row*longest] = endMark
	}
	for at := range longest {
		got, err := j.next(ctx, values)
		if err != nil {
			return nil, err
		}
		for row, n := range b.lengths {
			id := got[row*longest+at]
			if at < n-1 {
				written[row] = append(written[row], id)
			}
			if at+1 < longest {
				target[row*longest+at+1] = id
			}
		}
	}
	texts := make([]string, len(written))
	for row, ids := range written {
		texts[row] = spell(ids)
	}
	return texts, nil
}
