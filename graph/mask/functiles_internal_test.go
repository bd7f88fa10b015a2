package mask

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// A function of positions is called once for each pair, for all batches and heads, unless a tile is shown in part.
func TestAFunctionIsAskedOnceATile(t *testing.T) {
	asked := new(atomic.Int64)
	of := func(visible func(t, s int) bool) Mask {
		return Func{VisibleAt: func(t, s int) bool {
			asked.Add(1)
			return visible(t, s)
		}}
	}
	s := Scores{Batch: tensor.Shape{2}, Heads: true, H: 3, T: 70, S: 300}
	for _, c := range []struct {
		name      string
		mask      Mask
		most, min int
	}{
		{name: "tiles", mask: of(func(t, s int) bool { return (t/32+s/128)%2 == 0 }), min: 70 * 300, most: 70 * 300},
		{name: "all", mask: of(func(t, s int) bool { return true }), min: 70 * 300, most: 70 * 300},
		{name: "a tile in part", mask: of(func(t, s int) bool { return t > 0 || s > 0 }),
			min: 70*300 - 31*128 + 6*32*128, most: 70*300 + 6*32*128},
	} {
		t.Run(c.name, func(t *testing.T) {
			keys, err := Bind(c.mask, nil, s)
			require.NoError(t, err)
			asked.Store(0)
			var tasks sync.WaitGroup
			for row := range s.B() * s.H * s.T {
				tasks.Go(func() { keys.Fill(row/s.T/s.H, row/s.T%s.H, row%s.T, 0, make([]bool, s.S)) })
			}
			tasks.Wait()
			require.LessOrEqual(t, int(asked.Load()), c.most)
			require.GreaterOrEqual(t, int(asked.Load()), c.min)
		})
	}
}
