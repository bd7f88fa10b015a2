package train_test

import (
	"math"
	"testing"

	"attention/graph"
	"attention/internal/golden"
	"attention/internal/small"
	"attention/layers"
	"attention/train"
	"attention/train/loop"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// clipped returns the norm of gradients as a step measures it, and the gradients that the step passes to the solver:
// the loss Σ g⊙w has the gradients g, and a step of SGD with the learning rate 1 changes parameters from 0 to −g.
func clipped(t *testing.T, limit float64, names []string,
	grads []*tensor.Dense) (float64, map[string][]float64, error) {
	p, inputs := layers.NewParams(grads[0].Dtype(), 1), train.Values{}
	var params []layers.Param
	for i, name := range names {
		param := must(p.Scope("").Param(name, layers.Constant(0), grads[i].Shape()...))
		params, inputs["gradient of "+name] = append(params, param), grads[i]
	}
	l := must(loop.New(p, func(b *layers.Build, in layers.Inputs) []*G.Node {
		var loss *G.Node
		for i, param := range params {
			term := b.Of(graph.Sum(b.Of(graph.Mul(b.Node(param), in["gradient of "+names[i]])), graph.ReduceConfig{}))
			if loss == nil {
				loss = term
				continue
			}
			loss = b.Of(graph.Add(loss, term))
		}
		return []*G.Node{loss}
	}, loop.Config{Steps: 1, StepConfig: train.StepConfig{ClipNorm: limit, Schedule: train.ConstantRate(1),
		Solver: train.SolverConfig{Name: train.SGD}}}))
	r, err := l.Step(train.Batch{Inputs: inputs, Tokens: 1})
	all := small.Values(t, p)
	for _, list := range all {
		for i := range list {
			list[i] = 0 - list[i]
		}
	}
	return r.GradNorm, all, err
}

// firstGradients returns the gradients of the problem's step 0.
func firstGradients(t *testing.T, dtype tensor.Dtype) (names []string, grads []*tensor.Dense, file *golden.File) {
	p, file := loadProblem(t, dtype)
	for i := range p.names {
		grads = append(grads, golden.Dense(dtype, p.grads[i][:len(p.values[i])], p.shapes[i]...))
	}
	return p.names, grads, file
}

func TestClippingAsPyTorch(t *testing.T) {
	for _, dtype := range []tensor.Dtype{tensor.Float64, tensor.Float32} {
		for name, limit := range map[string]float64{"1": 1, "1000": 1000} {
			names, grads, file := firstGradients(t, dtype)
			norm, got, err := clipped(t, limit, names, grads)
			require.NoError(t, err)
			// One rounding of the gradients and one of the product, in the dtype.
			tol := map[tensor.Dtype]float64{tensor.Float64: 1e-14, tensor.Float32: 2e-7}[dtype]
			golden.Close(t, "norm", file.Float64("clip."+name+".norm"), []float64{norm}, 0, tol)
			for _, p := range names {
				golden.Close(t, p, file.Float64("clip."+name+"."+p), got[p], tol, tol)
			}
		}
	}
}

func TestClippingToZeroOnlyMeasures(t *testing.T) {
	names, grads, file := firstGradients(t, tensor.Float64)
	norm, got, err := clipped(t, 0, names, grads)
	require.NoError(t, err)
	golden.Close(t, "norm", file.Float64("clip.1.norm"), []float64{norm}, 0, 1e-14) // for the order of a sum
	for _, name := range names {
		require.Equal(t, file.Float64("grad." + name)[:len(got[name])], got[name])
	}
}

func TestClippingEdges(t *testing.T) {
	for _, row := range []struct {
		name string
		grad *tensor.Dense
		norm float64
		want []float64
		tol  float64
	}{
		{name: "zero", grad: small.Vector(0, 0), norm: 0, want: []float64{0, 0}},
		{name: "below the limit", grad: small.Vector(0, 0.5), norm: 0.5, want: []float64{0, 0.5}},
		{name: "at the limit: 1e-6 below it", grad: small.Vector(0, 1), norm: 1, want: []float64{0, 1 / (1 + 1e-6)},
			tol: 2e-16}, // the factor has two roundings
		{name: "1e30² is not a float32, but the sum is in float64",
			grad: golden.Dense(tensor.Float32, []float64{1e30}, 1), norm: float64(float32(1e30)), want: []float64{1},
			tol: 6e-8}, // a rounding of float32
	} {
		norm, got, err := clipped(t, 1, []string{"w"}, []*tensor.Dense{row.grad})
		require.NoError(t, err, row.name)
		require.Equal(t, row.norm, norm, row.name)
		require.InDeltaSlice(t, row.want, got["w"], row.tol, row.name)
	}
	for _, row := range []struct {
		name string
		grad float64
		want string
	}{
		{name: "NaN", grad: math.NaN(), want: "NaN"},
		{name: "infinite", grad: 1e200, want: "gradient of w: got a norm of +Inf, which is not finite"}, // its square is
	} {
		_, got, err := clipped(t, 1, []string{"fine", "w"}, []*tensor.Dense{small.Vector(3, 4), small.Vector(row.grad)})
		require.ErrorContains(t, err, row.want, row.name)
		require.ErrorIs(t, err, train.ErrNotFinite, row.name)
		require.Equal(t, map[string][]float64{"fine": {0, 0}, "w": {0}}, got, "a refused step changes nothing")
	}
	for _, limit := range []float64{-1, math.NaN(), math.Inf(1)} {
		c := train.StepConfig{ClipNorm: limit, Schedule: train.ConstantRate(1)}
		require.ErrorContains(t, c.Validate(), "ClipNorm: got")
	}
}
