package train_test

import (
	"fmt"
	"math"
	"testing"

	"attention/internal/dense"
	"attention/internal/golden"
	"attention/train"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

const solverSteps = 10

// problem is a model of four tensors, with ten given gradients for each.
type problem struct {
	dtype  tensor.Dtype
	names  []string
	shapes [][]int
	values [][]float64 // at the start
	grads  [][]float64 // all steps concatenated
	rates  []float64
}

func loadProblem(t *testing.T, dtype tensor.Dtype) (*problem, *golden.File) {
	return loadProblemOf(t, dtype, "torch/solvers.safetensors", "matrix", "bias", "cube", "gain")
}

func loadProblemOf(t *testing.T, dtype tensor.Dtype, path string, names ...string) (*problem, *golden.File) {
	file := golden.Load(t, path)
	p := &problem{dtype: dtype, names: names, rates: file.Float64("lr")}
	for _, name := range p.names {
		p.shapes = append(p.shapes, file.Shape("value."+name))
		p.values = append(p.values, file.Float64("value."+name))
		p.grads = append(p.grads, file.Float64("grad."+name))
	}
	return p, file
}

func (p *problem) start() []train.Param {
	params := make([]train.Param, len(p.names))
	for i, name := range p.names {
		params[i] = train.Param{Name: name, Value: golden.Dense(p.dtype, p.values[i], p.shapes[i]...)}
	}
	return params
}

// step gives the params fresh tensors with the gradients of step n and updates them.
func (p *problem) step(t *testing.T, s *train.Solver, params []train.Param, n int) {
	for i := range params {
		size := len(p.values[i])
		params[i].Grad = golden.Dense(p.dtype, p.grads[i][n*size:(n+1)*size], p.shapes[i]...)
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

// Values are of order 1, and PyTorch may fuse a multiplication with an addition, so ten steps differ by a few roundings
// of 1e-16 (float64) or 6e-8 (float32); differences of 9e-16 and 5e-7 were seen, at values of about 3.
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
		entries := p.checkSteps(t, file, name, c, solverTolerance[dtype])
		want := map[string]int{train.Adam: 8, train.AdamW: 8, "": 8, train.SGD: 0}[c.Name]
		if c.Momentum != 0 {
			want = 4
		}
		require.Equal(t, want, entries)
	})
}

// checkSteps compares the values after each of ten steps and the state after the last one, and returns the number of
// state tensors besides the number of steps.
func (p *problem) checkSteps(t *testing.T, file *golden.File, name string, c train.SolverConfig, tol float64) (entries int) {
	params := p.start()
	solver := must(c.New(params))
	for n := range solverSteps {
		p.step(t, solver, params, n)
		for i, param := range params {
			size := len(p.values[i])
			want := file.Float64(name + ".value." + param.Name)[n*size : (n+1)*size]
			golden.Close(t, fmt.Sprintf("step %d: %s", n, param.Name), want, golden.Floats(t, param.Value), tol, tol)
		}
	}
	for entry, value := range stateOf(solver) {
		if entry == "step" {
			require.Equal(t, []int64{solverSteps}, value.Int64s())
			continue
		}
		entries++
		golden.Close(t, entry, file.Float64(name+"."+entry), golden.Floats(t, value), tol, tol)
	}
	return entries
}

// bits returns every value's bits.
func bits(t *testing.T, params []train.Param) []uint64 {
	var all []uint64
	for _, p := range params {
		for _, v := range golden.Floats(t, p.Value) {
			all = append(all, math.Float64bits(v))
		}
	}
	return all
}

func TestRestoredSolverGivesTheSameBits(t *testing.T) {
	eachSolver(t, func(t *testing.T, _ string, c train.SolverConfig, dtype tensor.Dtype) {
		p, _ := loadProblem(t, dtype)
		p.testRestored(t, c)
	})
	p, _ := loadProblemOf(t, tensor.Float32, "torch/muon.safetensors", "wide", "tall", "table", "bias")
	p.testRestored(t, muonCases["muon_match"])
}

func (p *problem) testRestored(t *testing.T, c train.SolverConfig) {
	params := p.start()
	solver := must(c.New(params))
	for n := range solverSteps / 2 {
		p.step(t, solver, params, n)
	}
	twinParams := make([]train.Param, len(params))
	for i, param := range params {
		twinParams[i] = train.Param{Name: param.Name, Value: param.Value.Clone().(*tensor.Dense)}
	}
	twin := must(c.New(twinParams))
	restore(twin, solver)
	for n := solverSteps / 2; n < solverSteps; n++ {
		p.step(t, solver, params, n)
		p.step(t, twin, twinParams, n)
	}
	require.Equal(t, bits(t, params), bits(t, twinParams))

	if len(solver.State()) > 0 { // and a solver without its state takes other steps
		p.step(t, must(c.New(p.start())), twinParams, solverSteps-1)
		p.step(t, solver, params, solverSteps-1)
		require.NotEqual(t, bits(t, params), bits(t, twinParams))
	}
}

// restore copies the state of one solver to another for parameters of the same shapes.
func restore(to, from *train.Solver) {
	state := stateOf(from)
	for name, value := range stateOf(to) {
		dense.SetSlice(value, dense.Slice(state[name]))
	}
}

// stateOf returns the tensors of a solver's state by their names.
func stateOf(s *train.Solver) map[string]*tensor.Dense {
	state := map[string]*tensor.Dense{}
	for _, p := range s.State() {
		state[p.Name] = p.Value
	}
	return state
}
