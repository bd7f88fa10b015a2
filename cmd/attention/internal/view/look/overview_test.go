package look

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// An overview has the largest weight of each block, of weights that are computed one by one.
func TestOverview(t *testing.T) {
	for _, size := range []int{1, 5, 1024, 1025, 2051} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			const width = 2
			x := make([]float32, size*width)
			for i := range x {
				x[i] = float32(math.Sin(float64(3 * i)))
			}
			start, keys := []uint32{0}, []uint32(nil)
			for i := range size { // causal, in a window
				keys = append(keys, uint32(max(0, i-700)), uint32(i+1))
				start = append(start, uint32(i+1))
			}
			l := &Layer{T: size, S: size, Heads: 1, KeyHeads: 1, Width: width, Scale: 2, q: x, k: x,
				shown: Runs{Start: start, Keys: keys}, summaries: make([]*Summary, 1)}
			o := l.Overview(0, 1024)
			level := map[int]int{1025: 1, 2051: 2}[size]
			side := (size + 1<<level - 1) >> level
			require.Equal(t, []int{level, side, side}, []int{o.Level, o.Rows, o.Cols})
			want := make([]float64, side*side)
			for i := range want {
				want[i] = math.NaN()
			}
			for i := range size {
				scores, sum := l.Scores(0, i, i+1), 0.0
				for s := keys[2*i]; s < keys[2*i+1]; s++ {
					sum += math.Exp(float64(scores[s]))
				}
				for s := keys[2*i]; s < keys[2*i+1]; s++ {
					at := i>>level*side + int(s)>>level
					if w := math.Exp(float64(scores[s])) / sum; math.IsNaN(want[at]) || w > want[at] {
						want[at] = w
					}
				}
			}
			for i, w := range want {
				if got := float64(o.Weights[i]); !(math.Abs(got-w) <= 1e-5) && !(math.IsNaN(w) && math.IsNaN(got)) {
					require.Equal(t, w, got, "block %d", i)
				}
			}
		})
	}
}
