package pretrained_test

import (
	"cmp"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"attention/graph/machine"
	"attention/internal/dense"
	"attention/internal/golden"
	"attention/layers"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// peftCase is PEFT's output for an adapter: see adapters.py, which made the cases.
type peftCase struct {
	Of     string    `json:"of"`
	NLL    []float64 `json:"nll"`
	Base   float64   `json:"base"`
	Losses []float64 `json:"losses"`
}

// peftCases returns all cases, and the folder that adapters.py wrote.
func peftCases(t testing.TB) (cases map[string]peftCase, dir string) {
	path, err := golden.Path("peft", "cases.json")
	require.NoError(t, err)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &cases))
	return cases, filepath.Dir(path)
}

// peftIDs are the two rows of tokens of the cases.
var peftIDs = [][]int64{{3, 1, 4, 1, 5, 9, 2, 6}, {16, 0, 7, 7, 12, 8, 15, 11}}

// nll returns the negative log-likelihoods of the tokens that follow those of peftIDs.
func nll(t testing.TB, g *pretrained.GPT) (all []float64) {
	for _, ids := range peftIDs {
		rows := logProbs(run(t, g, ids, len(ids)), len(ids))
		for i, id := range ids[1:] {
			all = append(all, -rows[i][id])
		}
	}
	return all
}

func mean(x []float64) (sum float64) {
	for _, v := range x {
		sum += v / float64(len(x))
	}
	return sum
}

// trainedLosses returns the losses before each of three steps of gradient descent with the rate 0.02.
func trainedLosses(t testing.TB, g *pretrained.GPT) (losses []float64) {
	for range 3 {
		b := layers.NewBuild(g.Params, layers.Train)
		in := map[string]*G.Node{}
		for name, from := range map[string]int{"ids": 0, "targets": 1} {
			in[name] = b.InputOf(tensor.Int64, name, 2, 7)
			require.NoError(t, b.Err())
			data := slices.Concat(peftIDs[0][from:][:7], peftIDs[1][from:][:7])
			require.NoError(t, G.Let(in[name], tensor.New(tensor.WithShape(2, 7), tensor.WithBacking(data))))
		}
		loss, err := g.Model.Loss(b, in["ids"], in["targets"])
		require.NoError(t, err)
		grads, err := G.Grad(loss, b.Learnables()...)
		require.NoError(t, err)
		m, err := machine.New(append(G.Nodes{loss}, grads...)...)
		require.NoError(t, err)
		require.NoError(t, m.RunAll())
		losses = append(losses, loss.Value().Data().(float64))
		for i, n := range b.Learnables() {
			value, _ := g.Params.Get(n.Name())
			for j, d := range grads[i].Value().Data().([]float64) {
				value.Float64s()[j] -= 0.02 * d
			}
		}
		require.NoError(t, m.Close())
	}
	return losses
}

// For each family, with adapters of every form, the model has PEFT's losses, token by token, and so do three training
// steps in float64. The merged folder that Write writes gives the same model, and so does the base with the adapter
// that WriteAdapter writes.
func TestAdaptersAsPEFT(t *testing.T) {
	cases, dir := peftCases(t)
	families := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		t.Run(name, func(t *testing.T) {
			want := cases[name]
			base := filepath.Join(dir, "bases", want.Of)
			g, err := pretrained.ReadGPT(base)
			require.NoError(t, err)
			require.InDelta(t, want.Base, mean(nll(t, g)), 1e-6, "the base alone")
			require.NoError(t, g.ReadAdapter(filepath.Join(dir, "adapters", name)))
			golden.Close(t, "nll", want.NLL, nll(t, g), 3e-6, 1e-6)
			require.InDelta(t, mean(want.NLL), mean(nll(t, g)), 1e-6)
			require.Greater(t, furthest(t, [][]float64{nll(t, g)}, [][]float64{slices.Repeat([]float64{want.Base}, 14)}), 0.1)

			whole := t.TempDir()
			_, err = g.Write(whole, pretrained.WriteConfig{Format: pretrained.HuggingFace, Dtype: "float32"})
			require.NoError(t, err)
			merged, err := pretrained.ReadGPT(whole)
			require.NoError(t, err)
			golden.Close(t, "merged", want.NLL, nll(t, merged), 1e-5, 1e-5)

			written := t.TempDir()
			_, err = g.WriteAdapter(written, base)
			require.NoError(t, err)
			again, err := pretrained.ReadGPT(base)
			require.NoError(t, err)
			require.NoError(t, again.ReadAdapter(written))
			golden.Close(t, "written again", nll(t, g), nll(t, again), 2e-6, 1e-6)

			if strings.HasPrefix(name, "adapter_") || want.Of == "gpt_neox" { // its parts are trained separately here
				return
			}
			g, err = pretrained.ReadGPT(base)
			require.NoError(t, err)
			g = as(t, g, tensor.Float64)
			require.NoError(t, g.ReadAdapter(filepath.Join(dir, "adapters", name)))
			golden.Close(t, "losses of training", want.Losses, trainedLosses(t, g), 2e-6, 0) // its norms are computed in float32
		})
		families[cases[name].Of] = true
	}
	require.Len(t, families, 11)
}

// requirePEFT skips the test if PEFT is not installed, and returns the path of Python and the script.
func requirePEFT(t testing.TB) (python, script string) {
	script, err := golden.Path("peft", "adapters.py")
	require.NoError(t, err)
	python, err = exec.LookPath(cmp.Or(os.Getenv("ATTENTION_PYTHON"), "python3"))
	if err != nil || exec.Command(python, "-c", "import peft, transformers, torch").Run() != nil {
		t.Skip("needs ATTENTION_PYTHON, a Python with torch, transformers and peft")
	}
	return python, script
}

// PEFT reads the folders of WriteAdapter, with adapters of every form, and computes the same losses.
func TestWrittenAdaptersByPEFT(t *testing.T) {
	python, script := requirePEFT(t)
	_, dir := peftCases(t)
	all, proj := []string{layers.AllLinear}, []string{"q_proj"}
	type job struct {
		Base    string `json:"base"`
		Adapter string `json:"adapter"`
	}
	var jobs []job
	var wants [][]float64
	for _, row := range []struct {
		base string
		lora layers.LoRAConfig
	}{
		{"llama", layers.LoRAConfig{Targets: all}},
		{"mistral", layers.LoRAConfig{Targets: all, RankStabilized: true}},
		{"qwen3", layers.LoRAConfig{Targets: []string{"lm_head", "k_proj"}}},
		{"llama", layers.LoRAConfig{Targets: []string{"embed_tokens", "lm_head"}}},
		{"llama_tied", layers.LoRAConfig{Targets: []string{"embed_tokens", "q_proj"}}},
		{"gemma3", layers.LoRAConfig{Targets: []string{"embed_tokens"}}},
		{"gpt2", layers.LoRAConfig{Targets: []string{"wte", "c_fc"}}},
		{"gpt_neox", layers.LoRAConfig{Targets: []string{"lm_head", "q_proj", "up_proj"}}},
		{"gpt_neox", layers.LoRAConfig{Targets: all}},
		{"llama_tied", layers.LoRAConfig{Targets: proj, Whole: []string{"embed_tokens"}}},
		{"gpt2", layers.LoRAConfig{Targets: []string{"c_attn"}, Whole: []string{"wte", "ln_f"}}},
		{"gemma2", layers.LoRAConfig{Targets: proj, Whole: []string{"embed_tokens", "model.norm"}}},
		{"gpt_neox", layers.LoRAConfig{Targets: proj, Whole: []string{"lm_head"}}},
		{"qwen2", layers.LoRAConfig{Targets: proj, Whole: []string{"q_proj.bias"}}},
		{"qwen2", layers.LoRAConfig{Targets: []string{"o_proj"}, Whole: []string{"bias"}}},
		{"gpt_neox", layers.LoRAConfig{Targets: proj, Whole: []string{"0.self_attn.k_proj.bias", "1.mlp.up_proj.weight"}}},
		{"gpt2", layers.LoRAConfig{Targets: []string{"c_attn"}, Whole: []string{"bias", "ln_1.weight"}}},
		{"olmo2", layers.LoRAConfig{Targets: []string{"q_proj", "down_proj"}, RankPattern: map[string]int{"q_proj": 3},
			AlphaPattern: map[string]float64{"layers.1": 5}}},
	} {
		row.lora.Rank = cmp.Or(row.lora.Rank, 2)
		base, to := filepath.Join(dir, "bases", row.base), t.TempDir()
		g, err := pretrained.ReadGPT(base)
		require.NoError(t, err)
		require.NoError(t, g.Params.AddLoRA(row.lora))
		g.Params.Widen()
		r := rand.New(rand.NewPCG(3, 4))
		for _, value := range g.Params.Own() {
			data := slices.Clone(dense.Float64s(value))
			for i := range data {
				data[i] += float64(float32(0.3 * r.NormFloat64()))
			}
			dense.SetFloats(value, data)
		}
		_, err = g.WriteAdapter(to, base)
		require.NoError(t, err, row)
		jobs, wants = append(jobs, job{base, to}), append(wants, nll(t, g))
	}
	asked, answered := filepath.Join(t.TempDir(), "jobs"), filepath.Join(t.TempDir(), "answers")
	writeJSON(t, asked, jobs)
	said, err := exec.Command(python, script, asked, answered).CombinedOutput()
	require.NoError(t, err, "%s", said)
	text, err := os.ReadFile(answered)
	require.NoError(t, err)
	var got []peftCase
	require.NoError(t, json.Unmarshal(text, &got))
	for i, want := range wants {
		require.InDelta(t, mean(want), mean(got[i].NLL), 1e-6, jobs[i].Base)
		golden.Close(t, jobs[i].Base, got[i].NLL, want, 5e-6, 1e-6)
	}
}
