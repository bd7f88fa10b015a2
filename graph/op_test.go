package graph_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"attention/graph"
	"attention/graph/gradcases"
	"attention/graph/machine"
	"attention/graph/mask"
	"attention/internal/golden"
	"attention/internal/simd"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// TestKernelsNotHad: in a process whose environment asks for kernels that do not exist there, every function returns
// that error.
func TestKernelsNotHad(t *testing.T) {
	if os.Getenv(simd.Variable) == "sse" {
		g := G.NewGraph()
		x := G.NewMatrix(g, tensor.Float32, G.WithShape(2, 2), G.WithName("x"))
		for _, apply := range []func(*G.Node) (*G.Node, error){
			graph.Softmax,
			func(x *G.Node) (*G.Node, error) { return graph.MatMul(x, x) },
		} {
			_, err := apply(x)
			require.ErrorContains(t, err, `graph: ATTENTION_KERNELS: got "sse", want go`)
		}
		_, err := machine.New(G.Must(G.Mul(x, x)))
		require.ErrorContains(t, err, `machine: ATTENTION_KERNELS: got "sse", want go`)
		return
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKernelsNotHad$", "-test.v")
	child.Env = append(os.Environ(), simd.Variable+"=sse")
	printed, err := child.CombinedOutput()
	require.NoError(t, err, "%s", printed)
	require.Contains(t, string(printed), "--- PASS: TestKernelsNotHad")
}

// opCase is one op of the package with inputs whose sizes are different primes. A name that the scripts in
// testdata/torch also use means the same op there.
type opCase struct {
	name string
	op   func(in G.Nodes) (*G.Node, error)
	want func(in []array) array // reference by plain loops; nil if another test has it
	in   func(r *rand.Rand) []input
}

// shapes returns inputs of normally distributed numbers.
func shapes(shapes ...[]int) func(r *rand.Rand) []input {
	return func(r *rand.Rand) []input {
		var in []array
		for _, s := range shapes {
			in = append(in, normal(r, s...))
		}
		return inputs(in...)
	}
}

// then appends an input of integers, or a mask.
func then(first func(r *rand.Rand) []input, last input) func(r *rand.Rand) []input {
	return func(r *rand.Rand) []input { return append(first(r), last) }
}

func ids(v []float64, shape ...int) input { return input{array: of(v, shape...), integer: true} }

// key returns a key of a dropout.
func key(v float64) input { return input{array: array{nil, []float64{v}}, integer: true} }

func opCases() []opCase {
	return slices.Concat(matMulCases(), arithmeticCases(), reduceCases(), topKCases(), whereCases(),
		elementwiseCases(), gatedCases(), dropoutCases(), concatCases(), splitCases(), transposeCases(), headsCases(),
		repeatHeadsCases(), averageHeadsCases(), softmaxCases(), logSoftmaxCases(), divideBySumCases(), layerNormCases(),
		rootNormCases(), gruCases(), embeddingCases(), crossEntropyCases(), linearCrossEntropyCases(), lossCases(),
		additiveCases(), maskFillCases(), attentionCases(), fusedAttentionCases(), ropeCases(), sinusoidalCases(),
		biasCases(), alibiCases(), maskedMeanCases(), maskedMaxCases(), linearAttentionCases(), causalConvCases())
}

type s = []int

func unary(op func(x *G.Node) (*G.Node, error)) func(in G.Nodes) (*G.Node, error) {
	return func(in G.Nodes) (*G.Node, error) { return op(in[0]) }
}

// tolerances: the sums of these tests have at most a few hundred terms of size 1, each with a rounding error of 1e-16
// (float64) or 6e-8 (float32) of its size, and float32 inputs are rounded once more.
var tolerances = []struct {
	dt  tensor.Dtype
	tol float64
}{{dt: tensor.Float64, tol: 1e-12}, {dt: tensor.Float32, tol: 1e-5}}

func TestOpsEqualPlainLoops(t *testing.T) {
	for _, c := range opCases() {
		if c.want == nil {
			continue
		}
		for _, p := range tolerances {
			t.Run(c.name+"/"+p.dt.String(), func(t *testing.T) {
				in := c.in(rand.New(rand.NewPCG(1, 2)))
				got := express(t, c.op, in, p.dt).onOurs(t)
				var plain []array
				for _, x := range in {
					plain = append(plain, x.array)
				}
				near(t, c.name, c.want(plain), got.out, p.tol)
			})
		}
	}
}

// allCases returns opCases and the gradient cases, which have no reference.
func allCases() []opCase {
	cases := opCases()
	for _, c := range gradcases.Cases() {
		cases = append(cases, opCase{name: c.Name(), op: c.Apply, in: func(r *rand.Rand) (in []input) {
			for _, x := range c.Inputs {
				switch a := (array{shape: x.Shape, v: x.Floats}); {
				case x.IDs != nil:
					for _, id := range x.IDs {
						a.v = append(a.v, float64(id))
					}
					in = append(in, input{array: a, integer: true})
				case x.Floats != nil:
					in = append(in, input{array: a, fixed: true})
				default:
					in = append(in, input{array: normal(r, x.Shape...), fixed: x.Constant})
				}
			}
			return in
		}})
	}
	return cases
}

// Gorgonia's machine and ours must give the same bits, forward and backward.
func TestOpsAreEqualOnBothMachines(t *testing.T) {
	for _, c := range allCases() {
		for _, p := range tolerances {
			t.Run(c.name+"/"+p.dt.String(), func(t *testing.T) {
				r := rand.New(rand.NewPCG(3, 4))
				in := c.in(r)
				e := express(t, c.op, in, p.dt)
				e.differentiate(t, in, normal(r, e.out.Shape()...), p.dt)
				ours, tape := e.onOurs(t), e.onTape(t)
				require.Equal(t, tape.out.shape, ours.out.shape)
				require.Equal(t, bits(tape.out), bits(ours.out), "forward")
				require.Equal(t, len(tape.grads), len(ours.grads))
				for i := range tape.grads {
					require.Equal(t, tape.grads[i].shape, ours.grads[i].shape)
					require.Equal(t, bits(tape.grads[i]), bits(ours.grads[i]), "gradient %d", i)
				}
			})
		}
	}
}

// torchOnly lists cases of testdata/torch that are not in opCases: the same ops on other numbers.
var torchOnly = map[string]func(in G.Nodes) (*G.Node, error){
	"softmax_edges":       unary(graph.Softmax),
	"cross_entropy_huge":  crossEntropyBy(graph.CrossEntropyConfig{}),
	"layer_norm_offset":   layerNorm,
	"layer_norm_constant": layerNorm,
	"rms_norm_sizes":      rmsNorm,
	"l2_norm_sizes":       l2Norm,
	"gelu_far":            unary(graph.GELU),
	"gelu_tanh_far":       unary(graph.GELUTanh),
	"silu_far":            unary(graph.SiLU),
	"sigmoid_far":         unary(graph.Sigmoid),
	"softcap_far":         unary(softcapBy(0.7)),
	"swiglu_far":          gatedOf(graph.SwiGLU),
	"geglu_far":           gatedOf(graph.GeGLU),
	"geglu_tanh_far":      gatedOf(graph.GeGLUTanh),
	"relu_squared_far":    unary(graph.ReLUSquared),
	"max_equals": unary(func(x *G.Node) (*G.Node, error) {
		return graph.Max(x, graph.ReduceConfig{Dim: []int{1}})
	}),
	"max_equals_whole": unary(func(x *G.Node) (*G.Node, error) { return graph.Max(x, graph.ReduceConfig{}) }),
	"clamp_limits":     unary(clampTo(-0.3, 0.8)),
	"log_softmax_far":  unary(graph.LogSoftmax),
	"l1_equals":        func(in G.Nodes) (*G.Node, error) { return graph.L1(in[0], in[1], graph.LossConfig{}) },
	"huber_ends": func(in G.Nodes) (*G.Node, error) {
		return graph.Huber(in[0], in[1], graph.HuberConfig{Delta: 0.7})
	},
	"bce_far": func(in G.Nodes) (*G.Node, error) {
		return graph.BCEWithLogits(in[0], in[1], graph.BCEConfig{})
	},
}

// torchFused lists cases that the fused attention computes, too.
var torchFused = map[string]graph.AttentionConfig{
	"attention":              {},
	"attention_scale":        {Scale: 0.3},
	"attention_causal":       {Mask: mask.Causal{}},
	"attention_renormalized": {Mask: mask.Causal{}}, // PyTorch divides the weights of the visible keys by their sum
}

// torchLoose lists cases with larger rounding errors than others: an angle of 10⁶ is known to 10⁻¹⁰, and PyTorch is no
// more exact.
var torchLoose = map[string]float64{"rope_huge_start": 1e-9}

// Values and gradients of every op are PyTorch's.
func TestOpsEqualPyTorch(t *testing.T) {
	ops := map[string]func(in G.Nodes) (*G.Node, error){}
	for _, c := range opCases() {
		require.NotContains(t, ops, c.name)
		ops[c.name] = c.op
	}
	for name, op := range torchOnly {
		require.NotContains(t, ops, name)
		ops[name] = op
	}
	for _, c := range []struct {
		file  string
		cases int
	}{{file: "ops", cases: 36}, {file: "norms", cases: 28}, {file: "positions", cases: 32},
		{file: "elements", cases: 120}, {file: "decoder_parts", cases: 12},
		{file: "linearattention", cases: 20}} {
		file, seen := golden.Load(t, "torch/"+c.file+".safetensors"), 0
		for _, entry := range file.Names() {
			name, isOut := strings.CutSuffix(entry, ".out")
			if !isOut {
				continue
			}
			seen++
			require.Contains(t, ops, name)
			for _, p := range tolerances {
				t.Run(name+"/"+p.dt.String(), func(t *testing.T) {
					tol := max(p.tol, torchLoose[name])
					equalPyTorch(t, file, name, ops[name], p.dt, tol)
					if c, ok := torchFused[name]; ok {
						equalPyTorch(t, file, name, fusedBy(c), p.dt, tol)
					}
				})
			}
		}
		require.Equal(t, c.cases, seen, c.file)
	}
}

// equalPyTorch checks the value and the gradients of a case. Inputs without a gradient in the file are ids or the mask
// of a dropout.
func equalPyTorch(
	t *testing.T, file *golden.File, name string, op func(in G.Nodes) (*G.Node, error), dt tensor.Dtype, tol float64,
) {
	load := func(entry string) array { return array{file.Shape(name + entry), file.Float64(name + entry)} }
	has := func(entry string) bool { return slices.Contains(file.Names(), name+entry) }
	var in []input
	var grads []array
	for i := 0; has(fmt.Sprintf(".in.%d", i)); i++ {
		entry, grad := fmt.Sprintf(".in.%d", i), fmt.Sprintf(".din.%d", i)
		var x input
		switch {
		case has(grad):
			x.array = load(entry)
			grads = append(grads, load(grad))
		case name == "dropout_mask", strings.HasSuffix(name, "_weighted") && !has(fmt.Sprintf(".in.%d", i+1)):
			x.array, x.fixed = load(entry), true
		default:
			x.array, x.integer = array{shape: file.Shape(name + entry)}, true
			for _, v := range file.Int64(name + entry) {
				x.v = append(x.v, float64(v))
			}
		}
		in = append(in, x)
	}
	e := express(t, op, in, dt)
	e.differentiate(t, in, load(".dout"), dt)
	got := e.onOurs(t)
	near(t, name, load(".out"), got.out, tol)
	require.Len(t, got.grads, len(grads))
	for i := range grads {
		near(t, fmt.Sprintf("%s: gradient %d", name, i), grads[i], got.grads[i], tol)
	}
}
