package layers_test

import (
	"testing"

	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
)

// Logits, losses and the gradients of every parameter of the decoderCases, as PyTorch has them in float64.
func TestDecodersEqualPyTorch(t *testing.T) {
	file := golden.Load(t, "torch/decoder.safetensors")
	for name, change := range decoderCases {
		for _, p := range torchTypes {
			t.Run(name+"/"+p.label, func(t *testing.T) {
				testModule(t, torchCase{file, name + ".", p.dt, p.tol}, func(s layers.Scope) (module, error) {
					c := tinyDecoder()
					change(&c)
					m, err := layers.NewDecoder(s, c)
					return module{
						func(b *layers.Build, in map[string]*G.Node) (*G.Node, error) { return m.Forward(b, in["ids"]) },
						func(b *layers.Build, in map[string]*G.Node) (*G.Node, error) {
							return m.Loss(b, in["ids"], in["targets"])
						},
					}, err
				})
			})
		}
	}
}

// Gorgonia's tape machine gives the results of package machine: the loss and all gradients.
func TestDecodersOnBothMachines(t *testing.T) {
	for name, change := range decoderCases {
		for _, p := range torchTypes {
			c := tinyDecoder()
			change(&c)
			m, params := newDecoder(t, p.dt, c)
			b := layers.NewBuild(params, layers.Train)
			loss := b.Of(m.Loss(b, input(t, b, "ids", sequences(2, 5)), input(t, b, "targets", sequences(2, 5))))
			require.NoError(t, b.Err())
			nodes := must(G.Grad(loss, b.Learnables()...))
			tape := G.NewTapeMachine(b.Graph())
			require.NoError(t, tape.RunAll())
			want, wantLoss := make([][]float64, len(nodes)), number(loss.Value())
			for i, n := range nodes {
				want[i] = golden.Floats(t, n.Value())
			}
			require.NoError(t, tape.Close())
			run(t, append(nodes, loss)...)
			require.InDelta(t, wantLoss, number(loss.Value()), p.tol, name)
			for i, n := range nodes {
				require.InDeltaSlice(t, want[i], golden.Floats(t, n.Value()), p.tol, "%s: %s", name, b.Learnables()[i].Name())
			}
		}
	}
}
