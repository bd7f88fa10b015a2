package parallel_test

import (
	"context"
	"testing"

	"attention/internal/small"
	"attention/layers"
	"attention/train"
	"attention/train/loop"
	"attention/train/parallel"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// counting is a process that counts its exchanges.
type counting struct {
	parallel.Transport
	exchanges int
}

func (c *counting) Exchange(to int, send []byte, from int, receive []byte) error {
	c.exchanges++
	return c.Transport.Exchange(to, send, from, receive)
}

// gpt is the model of attention train --preset nano-char, of 0.8 million parameters.
func gpt(t testing.TB) (*layers.Params, layers.Formula) {
	p := layers.NewParams(tensor.Float32, 1)
	g := must(layers.NewGPT(p.Scope(""), layers.GPTConfig{VocabSize: 65, ContextLength: 64, EmbedDim: 128, NumLayers: 4,
		NumHeads: 4, TieWordEmbeddings: true}))
	return p, text.TokenLoss(g.Loss)
}

// A step sends 2·(N − 1)/N of the gradients, and at most a tenth more: for a model of 0.8 million parameters and a
// power of two of processes, which exchange log₂ N messages.
func TestGroupTrafficOfGPT(t *testing.T) {
	for _, row := range []struct {
		size, n, rounds int
		most            float64 // times the least
	}{
		{size: 2, n: 4, rounds: 1, most: 1.1},
		{size: 4, n: 8, rounds: 2, most: 1.1},
		{size: 8, n: 8, rounds: 3, most: 1.15}, // the processes share 13 blocks
	} {
		small.RequireNone(t, small.Together(t, row.size, func(g *parallel.Group) error {
			own := &counting{Transport: g.Transport}
			group := must(parallel.New(own))
			c := small.Config()
			c.Group, c.Accumulate, c.Steps = group, row.n, 2
			p, loss := gpt(t)
			after := map[int]int{}
			c.OnStep = func(s train.StepResult) { after[s.Step] = own.exchanges }
			l, err := loop.New(p, loss, c)
			if err != nil {
				return err
			}
			if err := l.Run(context.Background(), small.Batches(100), nil); err != nil {
				return err
			}
			sent, least := l.Traffic()
			require.Equal(t, int64(2*(row.size-1)*4*p.Count()/row.size), least)
			require.LessOrEqual(t, float64(sent), row.most*float64(least), "rank %d of %d", g.Rank(), row.size)
			require.Equal(t, (2+4)*row.rounds, after[2]-after[1]) // the gradients, the weights, two agreements, losses and norms
			return nil
		}))
	}
}
