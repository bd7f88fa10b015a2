package train_test

import (
	"fmt"
	"math"
	"testing"

	"attention/internal/golden"
	"attention/internal/small"
	"attention/train"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

func TestStepRefusesWithoutChangingAnything(t *testing.T) {
	p, _ := loadProblem(t, tensor.Float64)
	grad := func(at int, to *tensor.Dense) func([]train.Param) []train.Param {
		return func(ps []train.Param) []train.Param { ps[at].Grad = to; return ps }
	}
	view := small.Zeros(tensor.Float64, 5, 3)
	require.NoError(t, view.T())
	for _, row := range []struct {
		name  string
		lr    float64
		spoil func(params []train.Param) []train.Param
		want  string
	}{
		{"nan rate", math.NaN(), nil, "learning rate: got NaN, want a finite number >= 0"},
		{"negative rate", -0.1, nil, "learning rate: got -0.1, want a finite number >= 0"},
		{"infinite rate", math.Inf(1), nil, "learning rate: got +Inf, want a finite number >= 0"},
		{"nil gradient", 0.1, grad(2, nil), "gradient of cube: got nil or the zero value, want a tensor"},
		{"shape", 0.1, grad(3, small.Zeros(tensor.Float64, 2)), "gradient of gain: got float64 (2), want float64 (1)"},
		{"column", 0.1, grad(1, small.Zeros(tensor.Float64, 7, 1)), "gradient of bias: got float64 (7, 1), want float64 (7)"},
		{"dtype", 0.1, grad(1, small.Zeros(tensor.Float32, 7)), "gradient of bias: got float32 (7), want float64 (7)"},
		{"integers", 0.1, grad(1, small.Zeros(tensor.Int, 7)), "gradient of bias: got int, want float32 or float64"},
		{"view", 0.1, grad(0, view),
			"gradient of matrix: " + "got a view or a column-major tensor of shape (3, 5), want contiguous row-major data"},
		{"value of another shape", 0.1, func(ps []train.Param) []train.Param {
			ps[1].Value = small.Zeros(tensor.Float64, 6)
			return ps
		}, "value of bias: got float64 (6), want float64 (7)"},
		{"order", 0.1, func(ps []train.Param) []train.Param { ps[0], ps[1] = ps[1], ps[0]; return ps },
			`parameter 0: got "bias", want the solver's "matrix"`},
		{"one too few", 0.1, func(ps []train.Param) []train.Param { return ps[:3] },
			"parameters: got 3, want the solver's 4"},
	} {
		for _, config := range []train.SolverConfig{{Name: train.SGD, Momentum: 0.5}, {}} {
			t.Run(row.name+"."+config.Name, func(t *testing.T) {
				params := p.start()
				solver := must(config.New(params))
				p.step(t, solver, params, 0)
				before := bits(t, params)
				state := fmt.Sprint(stateOf(solver))
				spoilt := append([]train.Param{}, params...)
				if row.spoil != nil {
					spoilt = row.spoil(spoilt)
				}
				require.EqualError(t, solver.Step(row.lr, spoilt), "train: "+row.want)
				require.Equal(t, before, bits(t, params))
				require.Equal(t, state, fmt.Sprint(stateOf(solver)))
			})
		}
	}
}

func TestNewRefusesParameters(t *testing.T) {
	a := small.Zeros(tensor.Float64, 2)
	column := tensor.New(tensor.Of(tensor.Float64), tensor.WithShape(2, 3), tensor.AsFortran(nil))
	wide := small.Zeros(tensor.Float64, 3, 4)
	part := must(wide.Slice(nil, tensor.S(0, 2)))
	for _, row := range []struct {
		name   string
		params []train.Param
		want   string
	}{
		{name: "none", params: []train.Param{}, want: "parameters: got none, want at least one"},
		{name: "no name", params: []train.Param{{Value: a}}, want: "parameter 0: got no name, want one"},
		{name: "no value", params: []train.Param{{Name: "a"}}, want: "value of a: got nil or the zero value, want a tensor"},
		{name: "a name twice", params: []train.Param{{Name: "a", Value: a}, {Name: "a", Value: small.Zeros(tensor.Float64, 2)}},
			want: "parameter a: got the name twice, want it once"},
		{name: "a tensor twice", params: []train.Param{{Name: "a", Value: a}, {Name: "b", Value: a}},
			want: "parameter b: got the tensor of a, want its own"},
		{name: "integers", params: []train.Param{{Name: "a", Value: small.Zeros(tensor.Int, 2)}},
			want: "value of a: got int, want float32 or float64"},
		{name: "columns first", params: []train.Param{{Name: "a", Value: column}},
			want: "value of a: got a view or a column-major tensor of shape (2,"},
		{name: "a view", params: []train.Param{{Name: "a", Value: part.(*tensor.Dense)}},
			want: "value of a: got a view or a column-major tensor of shape (3,"},
	} {
		_, err := train.SolverConfig{}.New(row.params)
		require.ErrorContains(t, err, "train: "+row.want, row.name)
	}
}

func TestScalarsAndEvenSlicesAreParameters(t *testing.T) {
	whole := golden.Dense(tensor.Float32, make([]float64, 12), 4, 3)
	rows := must(whole.Slice(tensor.S(1, 3)))
	scalar := tensor.New(tensor.FromScalar(float32(0)))
	params := []train.Param{
		{Name: "rows", Value: rows.(*tensor.Dense), Grad: golden.Dense(tensor.Float32, []float64{1, 1, 1, 1, 1, 1}, 2, 3)},
		{Name: "scalar", Value: scalar, Grad: tensor.New(tensor.FromScalar(float32(2)))},
	}
	require.NoError(t, must(train.SolverConfig{Name: train.SGD}.New(params)).Step(1, params))
	require.Equal(t, []float32{0, 0, 0, -1, -1, -1, -1, -1, -1, 0, 0, 0}, whole.Float32s())
	require.Equal(t, float32(-2), scalar.Data())
}
