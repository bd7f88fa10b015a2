package train_test

import (
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"

	"attention/internal/golden"
	"attention/train"
)

const solverSteps = 10

// problem is a model of four tensors with ten given gradients each.
type problem struct {
	dtype  tensor.Dtype
	names  []string
	shapes [][]int
	values [][]float64 // at the start
	grads  [][]float64 // all steps, one after the other
	rates  []float64
}

func loadProblem(t *testing.T, dtype tensor.Dtype) (*problem, *golden.File) {
	file := golden.Load(t, "torch/solvers.safetensors")
	p := &problem{dtype: dtype, names: []string{"matrix", "bias", "cube", "gain"}, rates: file.Float64("lr")}
	for _, name := range p.names {
		p.shapes = append(p.shapes, file.Shape("value."+name))
		p.values = append(p.values, file.Float64("value."+name))
		p.grads = append(p.grads, file.Float64("grad."+name))
	}
	return p, file
}

// dense makes a tensor of dtype from float64 elements.
func dense(dtype tensor.Dtype, shape []int, from []float64) *tensor.Dense {
	d := tensor.New(tensor.Of(dtype), tensor.WithShape(shape...))
	for i, v := range from {
		if dtype == tensor.Float32 {
			d.Float32s()[i] = float32(v)
		} else {
			d.Float64s()[i] = v
		}
	}
	return d
}

func floats(d *tensor.Dense) []float64 {
	if d.Dtype() == tensor.Float64 {
		return d.Float64s()
	}
	var wide []float64
	for _, v := range d.Float32s() {
		wide = append(wide, float64(v))
	}
	return wide
}

func (p *problem) start() []train.Param {
	params := make([]train.Param, len(p.names))
	for i, name := range p.names {
		params[i] = train.Param{Name: name, Value: dense(p.dtype, p.shapes[i], p.values[i])}
	}
	return params
}

// step gives the params fresh tensors with the gradients of step n and updates them.
func (p *problem) step(t *testing.T, s train.Solver, params []train.Param, n int) {
	for i := range params {
		size := len(p.values[i])
		params[i].Grad = dense(p.dtype, p.shapes[i], p.grads[i][n*size:(n+1)*size])
	}
	require.NoError(t, s.Step(p.rates[n], params))
}

// solverCases are the configs of testdata/torch/solvers.py.
var solverCases = map[string]train.SolverConfig{
	"sgd":                {Name: train.SGD},
	"sgd_decay":          {Name: train.SGD, WeightDecay: 0.1},
	"sgd_momentum":       {Name: train.SGD, Momentum: 0.9},
	"sgd_momentum_decay": {Name: train.SGD, Momentum: 0.9, WeightDecay: 0.1},
	"adam":               {Name: train.Adam},
	"adam_decay":         {Name: train.Adam, WeightDecay: 0.1, Beta1: 0.8, Beta2: 0.95, Eps: 1e-6},
	"adamw":              {},
	"adamw_decay":        {Name: train.AdamW, WeightDecay: 0.1, Beta1: 0.8, Beta2: 0.95, Eps: 1e-6},
	"adamw_matrices":     {Name: train.AdamW, WeightDecay: 0.1, Decay: train.DecayMatrices},
}

// Values are of order 1 and PyTorch may fuse a multiplication with an addition,
// so ten steps leave a few roundings of difference: float64's is 1e-16 and
// float32's 6e-8; seen are 9e-16 and 5e-7, at values of about 3.
var solverTolerance = map[tensor.Dtype]float64{tensor.Float64: 1e-14, tensor.Float32: 1e-6}

func eachSolver(t *testing.T, test func(t *testing.T, name string, c train.SolverConfig, dtype tensor.Dtype)) {
	for name, c := range solverCases {
		for _, dtype := range []tensor.Dtype{tensor.Float64, tensor.Float32} {
			t.Run(name+"."+dtype.String(), func(t *testing.T) { test(t, name+"."+dtype.String(), c, dtype) })
		}
	}
}

func TestTenStepsAsPyTorch(t *testing.T) {
	eachSolver(t, func(t *testing.T, name string, c train.SolverConfig, dtype tensor.Dtype) {
		p, file := loadProblem(t, dtype)
		params := p.start()
		solver, err := c.New(params)
		require.NoError(t, err)
		tol := solverTolerance[dtype]
		for n := range solverSteps {
			p.step(t, solver, params, n)
			for i, param := range params {
				size := len(p.values[i])
				want := file.Float64(name + ".value." + param.Name)[n*size : (n+1)*size]
				golden.Close(t, fmt.Sprintf("step %d: %s", n, param.Name), want, floats(param.Value), tol, tol)
			}
		}
		entries := 0
		for entry, value := range solver.State() {
			if entry == "step" {
				require.Equal(t, []int64{solverSteps}, value.Int64s())
				continue
			}
			entries++
			golden.Close(t, entry, file.Float64(name+"."+entry), floats(value), tol, tol)
		}
		want := map[string]int{train.Adam: 8, train.AdamW: 8, "": 8, train.SGD: 0}[c.Name]
		if c.Momentum != 0 {
			want = 4
		}
		require.Equal(t, want, entries)
	})
}

// bits returns every value's bits.
func bits(params []train.Param) []uint64 {
	var all []uint64
	for _, p := range params {
		for _, v := range floats(p.Value) {
			all = append(all, math.Float64bits(v))
		}
	}
	return all
}

func TestRestoredSolverGivesTheSameBits(t *testing.T) {
	eachSolver(t, func(t *testing.T, _ string, c train.SolverConfig, dtype tensor.Dtype) {
		p, _ := loadProblem(t, dtype)
		params := p.start()
		solver, err := c.New(params)
		require.NoError(t, err)
		for n := range solverSteps / 2 {
			p.step(t, solver, params, n)
		}
		twinParams := make([]train.Param, len(params))
		for i, param := range params {
			twinParams[i] = train.Param{Name: param.Name, Value: param.Value.Clone().(*tensor.Dense)}
		}
		twin, err := c.New(twinParams)
		require.NoError(t, err)
		require.NoError(t, twin.SetState(maps.Collect(solver.State())))
		for n := solverSteps / 2; n < solverSteps; n++ {
			p.step(t, solver, params, n)
			p.step(t, twin, twinParams, n)
		}
		require.Equal(t, bits(params), bits(twinParams))

		if len(maps.Collect(solver.State())) > 0 { // and a solver that lost its state takes other steps
			lost, err := c.New(p.start())
			require.NoError(t, err)
			require.NoError(t, lost.SetState(mustState(t, c, p)))
			p.step(t, lost, twinParams, solverSteps-1)
			p.step(t, solver, params, solverSteps-1)
			require.NotEqual(t, bits(params), bits(twinParams))
		}
	})
}

// mustState returns the state of a solver that has not stepped.
func mustState(t *testing.T, c train.SolverConfig, p *problem) map[string]*tensor.Dense {
	s, err := c.New(p.start())
	require.NoError(t, err)
	return maps.Collect(s.State())
}

func TestSetStateListsWhatDoesNotFit(t *testing.T) {
	p, _ := loadProblem(t, tensor.Float64)
	params := p.start()
	solver, err := train.SolverConfig{}.New(params)
	require.NoError(t, err)
	p.step(t, solver, params, 0)

	other, err := train.SolverConfig{}.New(p.start())
	require.NoError(t, err)
	state := maps.Collect(solver.State())
	state["exp_avg.matrix"] = dense(tensor.Float64, []int{5, 3}, nil)
	state["exp_avg_sq.matrix"] = dense(tensor.Float32, []int{3, 5}, nil)
	state["exp_avg.other"] = state["exp_avg.bias"]
	delete(state, "exp_avg.bias")
	state["exp_avg_sq.cube"] = nil
	err = other.SetState(state)
	require.EqualError(t, err, "train: solver state: missing exp_avg.bias; unknown exp_avg.other; "+
		"exp_avg.matrix is float64 (5, 3), want float64 (3, 5), exp_avg_sq.matrix is float32 (3, 5), want float64 (3, 5), "+
		"exp_avg_sq.cube is nil, want float64 (2, 3, 2)")
	for name, value := range other.State() {
		if name == "step" {
			require.Equal(t, []int64{0}, value.Int64s())
			continue
		}
		require.Zero(t, value.Float64s()[0], name)
	}

	transposed := maps.Collect(solver.State())
	view := dense(tensor.Float64, []int{5, 3}, nil)
	require.NoError(t, view.T())
	transposed["exp_avg.matrix"] = view
	require.ErrorContains(t, other.SetState(transposed), "exp_avg.matrix is a view")

	column := maps.Collect(solver.State())
	column["exp_avg.bias"] = dense(tensor.Float64, []int{7, 1}, nil)
	require.EqualError(t, other.SetState(column), "train: solver state: exp_avg.bias is float64 (7, 1), want float64 (7)")

	negative := maps.Collect(solver.State())
	negative["step"] = tensor.New(tensor.WithShape(1), tensor.WithBacking([]int64{-1}))
	require.EqualError(t, other.SetState(negative), "train: solver state: step: got -1, want a number >= 0")

	sgd, err := train.SolverConfig{Name: train.SGD}.New(p.start())
	require.NoError(t, err)
	require.NoError(t, sgd.SetState(nil))
	err = sgd.SetState(maps.Collect(solver.State()))
	require.EqualError(t, err, "train: solver state: unknown exp_avg.bias, exp_avg.cube, exp_avg.gain and 6 more")
}

func TestStepRefusesWithoutChangingAnything(t *testing.T) {
	p, _ := loadProblem(t, tensor.Float64)
	for name, c := range map[string]struct {
		lr    float64
		spoil func(params []train.Param) []train.Param
		want  string
	}{
		"nan rate":      {math.NaN(), nil, "train: learning rate: got NaN, want a finite number >= 0"},
		"negative rate": {-0.1, nil, "train: learning rate: got -0.1, want a finite number >= 0"},
		"infinite rate": {math.Inf(1), nil, "train: learning rate: got +Inf, want a finite number >= 0"},
		"nil gradient": {0.1, func(ps []train.Param) []train.Param { ps[2].Grad = nil; return ps },
			"train: gradient of cube: got nil, want a tensor"},
		"shape": {0.1, func(ps []train.Param) []train.Param {
			ps[3].Grad = dense(tensor.Float64, []int{2}, nil)
			return ps
		}, "train: gradient of gain: got float64 (2), want float64 (1)"},
		"column": {0.1, func(ps []train.Param) []train.Param {
			ps[1].Grad = dense(tensor.Float64, []int{7, 1}, nil)
			return ps
		}, "train: gradient of bias: got float64 (7, 1), want float64 (7)"},
		"dtype": {0.1, func(ps []train.Param) []train.Param {
			ps[1].Grad = dense(tensor.Float32, []int{7}, nil)
			return ps
		}, "train: gradient of bias: got float32 (7), want float64 (7)"},
		"integers": {0.1, func(ps []train.Param) []train.Param {
			ps[1].Grad = tensor.New(tensor.Of(tensor.Int), tensor.WithShape(7))
			return ps
		}, "train: gradient of bias: got int, want float32 or float64"},
		"view": {0.1, func(ps []train.Param) []train.Param {
			view := dense(tensor.Float64, []int{5, 3}, nil)
			require.NoError(t, view.T())
			ps[0].Grad = view
			return ps
		}, "train: gradient of matrix: got a view or a column-major tensor of shape (3, 5), want contiguous row-major data"},
		"value of another shape": {0.1, func(ps []train.Param) []train.Param {
			ps[1].Value = dense(tensor.Float64, []int{6}, nil)
			return ps
		}, "train: value of bias: got float64 (6), want float64 (7)"},
		"order": {0.1, func(ps []train.Param) []train.Param { ps[0], ps[1] = ps[1], ps[0]; return ps },
			`train: parameter 0: got "bias", want the solver's "matrix"`},
		"one too few": {0.1, func(ps []train.Param) []train.Param { return ps[:3] },
			"train: parameters: got 3, want the solver's 4"},
	} {
		for _, config := range []train.SolverConfig{{Name: train.SGD, Momentum: 0.5}, {}} {
			t.Run(name+"."+config.Name, func(t *testing.T) {
				params := p.start()
				solver, err := config.New(params)
				require.NoError(t, err)
				p.step(t, solver, params, 0)
				before := bits(params)
				state := fmt.Sprint(maps.Collect(solver.State()))
				spoilt := append([]train.Param{}, params...)
				if c.spoil != nil {
					spoilt = c.spoil(spoilt)
				}
				require.EqualError(t, solver.Step(c.lr, spoilt), c.want)
				require.Equal(t, before, bits(params))
				require.Equal(t, state, fmt.Sprint(maps.Collect(solver.State())))
			})
		}
	}
}

func TestNewRefusesParameters(t *testing.T) {
	a := dense(tensor.Float64, []int{2}, nil)
	column := tensor.New(tensor.Of(tensor.Float64), tensor.WithShape(2, 3), tensor.AsFortran(nil))
	wide := dense(tensor.Float64, []int{3, 4}, nil)
	part, err := wide.Slice(nil, tensor.S(0, 2))
	require.NoError(t, err)
	for want, params := range map[string][]train.Param{
		"train: parameters: got none, want at least one":                      {},
		"train: parameter 0: got no name, want one":                           {{Value: a}},
		"train: value of a: got nil, want a tensor":                           {{Name: "a"}},
		"train: parameter a: got the name twice, want it once":                {{Name: "a", Value: a}, {Name: "a", Value: a.Clone().(*tensor.Dense)}},
		"train: parameter b: got the tensor of a, want its own":               {{Name: "a", Value: a}, {Name: "b", Value: a}},
		"train: value of a: got int, want float32 or float64":                 {{Name: "a", Value: tensor.New(tensor.Of(tensor.Int), tensor.WithShape(2))}},
		"train: value of a: got a view or a column-major tensor of shape (2,": {{Name: "a", Value: column}},
		"train: value of a: got a view or a column-major tensor of shape (3,": {{Name: "a", Value: part.(*tensor.Dense)}},
	} {
		_, err := train.SolverConfig{}.New(params)
		require.ErrorContains(t, err, want)
	}
}

func TestScalarsAndEvenSlicesAreParameters(t *testing.T) {
	whole := dense(tensor.Float32, []int{4, 3}, make([]float64, 12))
	rows, err := whole.Slice(tensor.S(1, 3))
	require.NoError(t, err)
	scalar := tensor.New(tensor.FromScalar(float32(0)))
	params := []train.Param{
		{Name: "rows", Value: rows.(*tensor.Dense), Grad: dense(tensor.Float32, []int{2, 3}, []float64{1, 1, 1, 1, 1, 1})},
		{Name: "scalar", Value: scalar, Grad: tensor.New(tensor.FromScalar(float32(2)))},
	}
	solver, err := train.SolverConfig{Name: train.SGD}.New(params)
	require.NoError(t, err)
	require.NoError(t, solver.Step(1, params))
	require.Equal(t, []float32{0, 0, 0, -1, -1, -1, -1, -1, -1, 0, 0, 0}, whole.Float32s())
	require.Equal(t, float32(-2), scalar.Data())
}

func TestSolverConfigValidate(t *testing.T) {
	for want, c := range map[string]train.SolverConfig{
		`Name: got "rmsprop", want one of sgd, adam, adamw`:                 {Name: "rmsprop"},
		"WeightDecay: got -0.01, want a finite number of at least 0":        {WeightDecay: -0.01},
		"WeightDecay: got NaN, want a finite number of at least 0":          {WeightDecay: math.NaN()},
		"Momentum: got 1, want a number from 0 to below 1":                  {Name: train.SGD, Momentum: 1},
		"Momentum: got NaN, want a number from 0 to below 1":                {Name: train.SGD, Momentum: math.NaN()},
		"Beta1: got 1, want a number from 0 to below 1":                     {Beta1: 1},
		"Beta2: got -0.5, want a number from 0 to below 1":                  {Beta2: -0.5},
		"Eps: got +Inf, want a finite number of at least 0":                 {Eps: math.Inf(1)},
		"Momentum: got 0.9 with Name=adamw, want 0: only sgd has it":        {Momentum: 0.9},
		"Beta1: got 0.9 with Name=sgd, want 0: only adam and adamw have it": {Name: train.SGD, Beta1: 0.9},
		"Eps: got 0.1 with Name=sgd, want 0: only adam and adamw have it":   {Name: train.SGD, Eps: 0.1},
		"Decay: got Decay(7), want all or matrices":                         {Decay: 7},
	} {
		require.EqualError(t, c.Validate(), want)
		_, err := c.New(nil)
		require.EqualError(t, err, "train: "+want)
	}
	for name, c := range solverCases {
		require.NoError(t, c.Validate(), name)
		require.False(t, strings.Contains(c.String(), "\n"))
	}
}
