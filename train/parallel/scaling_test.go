package parallel

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shape is a model with the size of its steps, for the README's section on many nodes.
type shape struct {
	name      string
	gradients float64 // G, in bytes
	compute   float64 // C, in seconds
}

// network is a link: B in bytes per second, L in seconds per message.
type network struct{ bandwidth, latency float64 }

// stepSeconds returns the time of a step of 2^k processes: the computation, the exchange of gradients and the exchange
// of weights. A message of round i is half as long as the message before it, but no shorter than a block.
func (s shape) stepSeconds(k int, n network) float64 {
	const block, piece = 4 << 16, 16 << 20
	bytes := 0.0
	for i := range k {
		bytes += max(s.gradients/math.Exp2(float64(i+1)), block)
	}
	pieces := math.Ceil(s.gradients / piece)
	return s.compute + 2*bytes/n.bandwidth + n.latency*float64(k)*(2*pieces+4)
}

// The README's table has the results of its formula.
func TestScalingTable(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, s := range []shape{{"0.8M", 3.22e6, 7e-3}, {"124M", 495.4e6, 1.4}, {"1.5B", 6.23e9, 18}} {
		for _, n := range []network{{1.25e9, 85e-6}, {12.5e9, 20e-6}} {
			row := ""
			for _, k := range []int{3, 4, 6, 8, 10} {
				row += fmt.Sprintf(" %.2f |", s.compute/s.stepSeconds(k, n))
			}
			row = fmt.Sprintf("| %.0f |", n.bandwidth*8/1e9) + row
			if !strings.Contains(string(readme), row) {
				t.Errorf("%s: got no row %s", s.name, row)
			}
		}
	}
	nano := shape{"0.8M", 3.22e6, 62e-3}
	for _, row := range []struct {
		rate float64
		want string
	}{{125e6, "| 1 Gbit/s | %.1fk tokens/s |"}, {25e6, "| 200 Mbit/s | %.1fk |"}} {
		require.Contains(t, string(readme), fmt.Sprintf(row.want, 1.536/nano.stepSeconds(1, network{row.rate, 85e-6})))
	}
}
