package graph_test

import (
	"fmt"
	"testing"

	"attention/graph/mask"
	"attention/internal/golden"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// The error of PyTorch's float32 attention of plain operations against float64 is no smaller than that of the composed
// form: each is closer about equally often. The error of the fused form is at most twice as large. The test compares
// medians over the cases whose queries and keys have the same deviation.
func TestAttentionIsAsAccurateAsPyTorch(t *testing.T) {
	file := golden.Load(t, "torch/attention_accuracy.safetensors")
	const cases, deviations = 100, 13
	torch, composed, fused, least := errors{}, errors{}, errors{}, errors{}
	for n := range cases {
		load := func(name string) array {
			name = fmt.Sprintf("%d.%s", n, name)
			return array{file.Shape(name), file.Float64(name)}
		}
		a := drawnAttention{dt: tensor.Float32, q: load("q"), k: load("k"), v: load("v")}
		a.z = sizes{H: 1, T: a.q.axis(0), S: a.k.axis(0)}
		if n%2 == 1 {
			a.mask = &drawnMask{kind: "causal", align: mask.UpperLeft}
		}
		dout := load("dout")
		ours, theirs, terms := a.run(t, false, dout), load("torch"), a.largestTerms(a.dropped(t), dout)
		other := a.run(t, true, dout)
		for i, name := range []string{"out", "q", "k", "v"} {
			exact, key := load("exact."+name), fmt.Sprint(name, ", deviation ", n%deviations)
			composed.add(key, exact, ours.of(i))
			fused.add(key, exact, other.of(i))
			torch[key] = append(torch[key], theirs.v[i])
			least[key] = append(least[key], terms[name])
		}
	}
	nearer := 0
	for name := range torch {
		floor := 4 * 0x1p-23 * least.median(name)
		require.LessOrEqual(t, fused.median(name), max(2*torch.median(name), floor), name)
		require.LessOrEqual(t, composed.median(name), max(2*torch.median(name), floor), name)
		if torch.median(name) < composed.median(name) {
			nearer++
		}
	}
	require.LessOrEqual(t, nearer, len(torch)/2)
}
