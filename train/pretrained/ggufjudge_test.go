package pretrained_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"attention/internal/dense"
	"attention/internal/golden"
	"attention/layers"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
)

// quantised are the formats that the package gguf can write, and onlyRead the others.
var (
	quantised = []string{"F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1"}
	onlyRead  = []string{"Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS"}
)

// inBlocks returns a config with matrices whose rows are whole blocks of 32 or 256 numbers.
func inBlocks(c layers.DecoderConfig, numbers int) layers.DecoderConfig {
	c.Blocks = slices.Clone(c.Blocks)
	for i := range c.Blocks {
		b := &c.Blocks[i]
		b.Attention.EmbedDim, b.MLP.DimFeedforward = 3*numbers, max(64, numbers)
		if b.Attention.HeadDim > 0 {
			b.Attention.HeadDim = max(64, numbers)
		}
	}
	if c.EmbeddingScale > 0 {
		c.EmbeddingScale = math.Sqrt(float64(3 * numbers))
	}
	return c
}

// requireSameModel requires that two models give the same probabilities and the same greedy text, to the bit.
func requireSameModel(t *testing.T, want, got *pretrained.GPT, ids []int64, name string) {
	t.Helper()
	text := slices.Clone(ids)
	for range 4 {
		n := len(text)
		probs := logProbs(run(t, want, text, n), n)
		require.Equal(t, probs, logProbs(run(t, got, text, n), n), name)
		last := probs[len(probs)-1]
		text = append(text, int64(slices.Index(last, slices.Max(last))))
	}
}

// Files of every family that the package gguf quantises, in every format that it writes, are opened with its numbers, and
// so are files of random blocks in the formats that it only reads. llama.cpp opens all of them, too; it rounds the
// vectors as well, so its scores are compared with the same numbers in F32.
func TestGGUFQuantised(t *testing.T) {
	script, err := golden.Path("gguf", "quantise.py")
	require.NoError(t, err)
	python, err := exec.LookPath(cmp.Or(os.Getenv("ATTENTION_PYTHON"), "python3"))
	if err != nil || exec.Command(python, "-c", "import gguf").Run() != nil {
		t.Skip("needs ATTENTION_PYTHON, a Python with gguf")
	}
	type step struct {
		From   string `json:"from"`
		To     string `json:"to"`
		As     string `json:"as"`
		Format string `json:"format"`
	}
	dir, ids := t.TempDir(), []int64{3, 0, 12, 7, 7, 1, 9, 4}
	var steps []step
	var jobs []job
	var names []string
	var bounds []float64
	add := func(name string, numbers int, formats ...string) {
		from := filepath.Join(dir, fmt.Sprintf("%s %d.gguf", name, numbers))
		require.NoError(t, decoder(t, inBlocks(decoders[name].config, numbers)).WriteGGUF(from, "f32"), name)
		for _, format := range formats {
			to := filepath.Join(dir, name+"."+format+".gguf")
			steps = append(steps, step{from, to, to + ".f32", format})
			jobs = append(jobs, job{Model: to, Letters: true}, job{Model: to + ".f32", IDs: ids, Letters: true})
			names, bounds = append(names, name+" "+format), append(bounds, cmp.Or(decoders[name].bound, 1e-4))
		}
	}
	for i, name := range slices.Sorted(maps.Keys(decoders)) {
		add(name, 32, quantised...)
		add(name, 256, onlyRead[i%len(onlyRead)])
	}
	path := filepath.Join(dir, "jobs.json")
	writeJSON(t, path, steps)
	wrong, err := exec.Command(python, script, path).CombinedOutput()
	require.NoError(t, err, "%s", wrong)
	var models []*pretrained.GPT
	for i, s := range steps {
		got, err := pretrained.ReadGPT(s.To)
		require.NoError(t, err, names[i])
		plain, err := pretrained.ReadGPT(s.As)
		require.NoError(t, err, names[i])
		for name, want := range plain.Params.All() {
			value, ok := got.Params.Get(name)
			require.True(t, ok)
			n := want.Shape().TotalSize()
			require.Equal(t, dense.Float32s(want, 0, n), dense.Float32s(value, 0, n), "%s: %s", names[i], name)
		}
		requireSameModel(t, plain, got, ids, names[i])
		models = append(models, got)
	}
	for i, v := range llamacpp(t, jobs...) {
		i, name := i/2, names[i/2]
		require.Empty(t, v.Error, name)
		if len(v.LogProbs) > 0 {
			require.Less(t, furthest(t, logProbs(run(t, models[i], ids, len(ids)), len(ids)), v.LogProbs), bounds[i], name)
		}
	}
}
