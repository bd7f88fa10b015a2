//go:build examples

package machine_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Gorgonia's own examples that include their data, run unchanged and with our machine. Both start from the same numbers
// where the example seeds its random numbers by the clock. They need the module proxy:
//
//	go test -tags examples -run TestExamples -v ./graph/machine
//
// The two programs differ in the line that makes the machine. The unchanged charRNN panics on Gorgonia's Lisp machine,
// in training and in prediction. So both programs run it in the tape machine's way: with gradients by Grad, a graph for
// each sentence, since Gorgonia differentiates a node once, and without prediction.

// A change replaces one line of an example.
type change struct{ file, from, to string }

var examples = []struct {
	name string
	both []change // before either runs
	ours []change
	cost *regexp.Regexp
	same float64 // how far the last costs may differ, as a fraction
}{
	{
		name: "iris",
		both: []change{{"main.go", "gorgonia.Gaussian(0, 1)", "gorgonia.Ones()"}},
		ours: []change{
			{"main.go", "\t\"gorgonia.org/gorgonia\"\n",
				"\t\"gorgonia.org/gorgonia\"\n\tattention \"attention/graph/machine\"\n"},
			{"main.go", "machine := gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(theta))",
				"machine, _ := attention.ForGraph(g)"},
		},
		cost: regexp.MustCompile(`Cost: ([0-9.]+)`),
		same: 1e-9,
	},
	{
		name: "charRNN",
		both: []change{
			{"main.go", "i <= 100000", "i <= 4"},
			{"main.go", "i%100 == 0", "i%2 == 0"},
			{"model.go", "iter%100 == 0", "iter%2 == 0"},
			{"main.go", "if i%1000 == 0 {", "if false {"},
			{"main.go", "NewRMSPropSolver(", "NewVanillaSolver("}, // the other line uses the signs of the last digits
			{"model.go", "Gaussian32(", "numbers("},
			{"vocab.go", "\tvocab = append(vocab, END)\n", "\tslices.Sort(vocab)\n\tvocab = append(vocab, END)\n"}, // of a map
			{"vocab.go", "import \"strings\"", "import (\n\t\"slices\"\n\t\"strings\"\n)"},
			{"util.go", "import (", "import (\n\t\"math\"\n"},
			{"util.go", "func sample(", numbersSource + "\nfunc sample("},
			{"main.go", "cost, perp, err := run(r, i, solver)", "r = newCharRNN(m)\n\t\tcost, perp, err := run(r, i, solver)"},
			{"model.go", "\tmachine := NewLispMachine(g)\n", "\tmachine := machineFor(r, g, cost)\n"},
			{"model.go", "\tmachine.UnbindAll()\n", ""},
			{"model.go", "func run(", machineSource + "\nfunc run("},
		},
		ours: []change{
			{"model.go", "\t\"gorgonia.org/tensor\"\n", "\t\"gorgonia.org/tensor\"\n\tattention \"attention/graph/machine\"\n"},
			{"model.go", "m := NewTapeMachine(g, BindDualValues(weights...))", "m, _ := attention.ForGraph(g)"},
		},
		cost: regexp.MustCompile(`Cost: ([0-9.]+)`),
		same: 1e-5,
	},
}

// numbersSource is the source of the first weights, the same in each run.
const numbersSource = `
func numbers(mean, deviation float64, shape ...int) []float32 {
	v := make([]float32, tensor.Shape(shape).TotalSize())
	for i := range v {
		v[i] = float32(mean + deviation*math.Sin(float64(i*i+len(v))))
	}
	return v
}
`

const machineSource = `
func machineFor(r *charRNN, g *ExprGraph, cost *Node) VM {
	var weights Nodes
	for _, w := range r.learnables() {
		weights = append(weights, w.(*Node))
	}
	roots := g.Roots()
	grads, err := Grad(cost, weights...)
	if err != nil {
		panic(err)
	}
	g = r.g.SubgraphRoots(append(roots, grads...)...)
	m := NewTapeMachine(g, BindDualValues(weights...))
	return m
}
`

func TestExamples(t *testing.T) {
	for _, e := range examples {
		t.Run(e.name, func(t *testing.T) {
			tape := prepare(t, e.name, e.both)
			ours := prepare(t, e.name, append(e.both, e.ours...))
			var times [2]time.Duration
			var costs [2][]float64
			var tail string
			for range 2 { // in turns; the shortest time of each counts
				for i, program := range []string{tape, ours} {
					out, took := runExample(t, program)
					costs[i], tail = nil, out[max(0, len(out)-500):]
					for _, m := range e.cost.FindAllStringSubmatch(out, -1) {
						c, err := strconv.ParseFloat(m[1], 64)
						require.NoError(t, err)
						costs[i] = append(costs[i], c)
					}
					if times[i] == 0 || took < times[i] {
						times[i] = took
					}
				}
			}
			last := len(costs[0]) - 1
			require.Len(t, costs[1], last+1, "%s", tail)
			require.Positive(t, last)
			t.Logf("costs %v, on ours %v", costs[0][:min(5, last+1)], costs[1][:min(5, last+1)])
			require.InEpsilon(t, costs[0][0], costs[1][0], e.same, "the first cost")
			require.InEpsilon(t, costs[0][last], costs[1][last], e.same, "the last cost")
			t.Logf("%s: cost %v → %v, on ours %v → %v; %v, on ours %v: %.1f times as fast", e.name, costs[0][0],
				costs[0][last], costs[1][0], costs[1][last], times[0], times[1], times[0].Seconds()/times[1].Seconds())
		})
	}
}

// prepare copies an example from the module cache, changes it and builds it.
func prepare(t *testing.T, name string, changes []change) (program string) {
	t.Helper()
	from := filepath.Join(strings.TrimSpace(output(t, ".", "go", "list", "-m", "-f", "{{.Dir}}", "gorgonia.org/gorgonia")),
		"examples", name)
	dir := t.TempDir()
	files, err := os.ReadDir(from)
	require.NoError(t, err)
	for _, f := range files {
		if f.IsDir() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(from, f.Name()))
		require.NoError(t, err)
		text := string(data)
		for _, c := range changes {
			if c.file == f.Name() {
				require.Contains(t, text, c.from)
				text = strings.ReplaceAll(text, c.from, c.to)
			}
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, f.Name()), []byte(text), 0o600))
	}
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	text := strings.Replace(string(mod), "module attention", "module example", 1) +
		fmt.Sprintf("\nrequire (\n\tattention v0.0.0\n\tgithub.com/go-gota/gota v0.12.0\n)\n\nreplace attention => %s\n",
			root)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o600))
	output(t, dir, "go", "mod", "tidy")
	output(t, dir, "go", "build", "-o", "example", ".")
	return filepath.Join(dir, "example")
}

func runExample(t *testing.T, program string) (out string, took time.Duration) {
	t.Helper()
	start := time.Now()
	return output(t, filepath.Dir(program), program), time.Since(start)
}

// output returns what a command writes.
func output(t *testing.T, dir, name string, arg ...string) string {
	t.Helper()
	c := exec.Command(name, arg...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GODEBUG=randseednop=0") // as at the time of the examples
	var failure strings.Builder
	c.Stderr = &failure
	out, err := c.Output()
	require.NoError(t, err, "%s %v: %s", name, arg, failure.String())
	return string(out)
}
