package train_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"attention/internal/golden"
	"attention/train"
	"attention/train/small"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// firstGradients returns the problem's parameters with step 0's gradients.
func firstGradients(t *testing.T, dtype tensor.Dtype) ([]train.Param, *golden.File) {
	p, file := loadProblem(t, dtype)
	params := p.start()
	for i := range params {
		params[i].Grad = golden.Dense(dtype, p.grads[i][:len(p.values[i])], p.shapes[i]...)
	}
	return params, file
}

func TestClipNormAsPyTorch(t *testing.T) {
	for _, dtype := range []tensor.Dtype{tensor.Float64, tensor.Float32} {
		for name, limit := range map[string]float64{"1": 1, "1000": 1000} {
			params, file := firstGradients(t, dtype)
			norm, err := train.ClipNorm(params, limit)
			require.NoError(t, err)
			// One rounding of the gradients and one of the product, in the dtype.
			tol := map[tensor.Dtype]float64{tensor.Float64: 1e-14, tensor.Float32: 2e-7}[dtype]
			golden.Close(t, "norm", file.Float64("clip."+name+".norm"), []float64{norm}, 0, tol)
			for _, p := range params {
				golden.Close(t, p.Name, file.Float64("clip."+name+"."+p.Name), golden.Floats(t, p.Grad), tol, tol)
			}
		}
	}
}

func TestClipNormOfZeroOnlyMeasures(t *testing.T) {
	params, file := firstGradients(t, tensor.Float64)
	norm, err := train.ClipNorm(params, 0)
	require.NoError(t, err)
	golden.Close(t, "norm", file.Float64("clip.1.norm"), []float64{norm}, 0, 1e-14) // the order of a sum
	for _, p := range params {
		require.Equal(t, file.Float64("grad." + p.Name)[:len(p.Grad.Float64s())], p.Grad.Float64s())
	}
}

func TestClipNormEdges(t *testing.T) {
	params := func(grad *tensor.Dense) []train.Param {
		return []train.Param{{Name: "fine", Grad: small.Vector(3, 4)}, {Name: "w", Grad: grad}}
	}
	norm, err := train.ClipNorm(nil, 1)
	require.NoError(t, err)
	require.Zero(t, norm)

	zero := params(small.Zeros(tensor.Float32, 1))
	zero[0].Grad.Zero()
	norm, err = train.ClipNorm(zero, 1)
	require.NoError(t, err)
	require.Zero(t, norm)

	// 1e30² is not a float32, but the sum is in float64.
	mixed := params(golden.Dense(tensor.Float32, []float64{1e30}, 1))
	norm, err = train.ClipNorm(mixed, 1)
	require.NoError(t, err)
	require.InEpsilon(t, 1e30, norm, 1e-7) // 1e30 as float32
	require.InEpsilon(t, 1, mixed[1].Grad.Float32s()[0], 1e-6)

	for _, row := range []struct {
		grad *tensor.Dense
		want string
	}{
		{grad: nil, want: "train: gradient of w: got nil or the zero value, want a tensor"},
		{grad: small.Vector(math.NaN()), want: "train: gradient of w: got a norm of NaN, which is not finite"},
		{grad: small.Vector(math.Inf(-1)), want: "train: gradient of w: got a norm of +Inf, which is not finite"},
		{grad: small.Zeros(tensor.Int, 2), want: "train: gradient of w: got int, want float32 or float64"},
	} {
		ps := params(row.grad)
		_, err := train.ClipNorm(ps, 1)
		require.EqualError(t, err, row.want)
		require.Equal(t, strings.Contains(row.want, "finite"), errors.Is(err, train.ErrNotFinite))
		require.Equal(t, []float64{3, 4}, ps[0].Grad.Float64s(), "a refused clip changes nothing")
	}
	for _, limit := range []float64{-1, math.NaN(), math.Inf(1)} {
		_, err := train.ClipNorm(params(small.Vector(1)), limit)
		require.ErrorContains(t, err, "train: gradient norm limit: got")
	}
}

func TestClipNormScalesASharedGradientOnce(t *testing.T) {
	shared := small.Vector(3, 0)
	view := shared.ShallowClone()
	params := []train.Param{{Name: "a", Grad: shared}, {Name: "b", Grad: view}, {Name: "c", Grad: small.Vector(1)}}
	norm, err := train.ClipNorm(params, 1)
	require.NoError(t, err)
	require.Equal(t, math.Sqrt(19), norm)
	require.Equal(t, []float64{3 * (1 / (math.Sqrt(19) + 1e-6)), 0}, shared.Float64s())
}
