package train

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
	"attention/cmd/attention/internal/view/forward"
	"attention/layers"
	"attention/layers/generate"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
)

// tinyDecoder is a config file of a decoder of two kinds of blocks: E 8, H 2 and 4, T 6, five layers.
const tinyDecoder = `{"model": {"type": "decoder", "num_layers": 5, "pattern": [0, 0, 1], "embedding_scale": 2.5,
	"logit_scale": 0.5, "logit_softcap": 9, "tie_word_embeddings": false, "blocks": [
	{"attention": {"embed_dim": 8, "num_heads": 2, "rope": {}}, "mlp": {"dim_feedforward": 12, "activation": "swiglu"},
	 "norm": {"kind": "rms"}, "norm_placement": "sandwich", "residual_scale": 0.5},
	{"attention": {"embed_dim": 8, "num_heads": 4, "num_kv_heads": 2, "head_dim": 4, 
	 "mask": {"type": "sliding_window", "left": 2},
	 "out_dropout": 0.25}, "mlp": {"activation": "relu"}, "norm": {"kind": "rms"}, "parallel": true}]}}`

// decoderFlags are the flags of runs of decoders on a text: one that a config file puts together, and a GPT with
// Llama's parts.
func decoderFlags(t *testing.T, text, folder string) map[string][]string {
	file := filepath.Join(t.TempDir(), "decoder.json")
	require.NoError(t, os.WriteFile(file, []byte(tinyDecoder), 0o644))
	common := strings.Fields("--context 6 --batch 3 --steps 12 --eval-every 5 --sample 40 --lr 0.01 --head-stats " +
		"--accumulate 2 --keep 1 --text " + text + " --out " + folder)
	return map[string][]string{
		"decoder": append([]string{"--config", file}, common...),
		"gpt": append(strings.Fields("--model gpt --width 8 --heads 2 --layers 2 --rope --norm rms --mlp swiglu --hidden 12 "+
			"--bias=false --window 3 --dropout 0.25"), common...),
		"linear": append(strings.Fields("--model gpt --width 8 --heads 2 --layers 2 --hidden 12 "+
			"--attention gated_delta_net --full-attention-every 2"), common...),
		"moba":         append(strings.Fields("--model gpt --width 8 --heads 2 --layers 2 --rope --attention moba"), common...),
		"differential": append(strings.Fields("--model gpt --width 8 --heads 2 --layers 2 --attention differential"), common...),
		"latent": append(strings.Fields("--model gpt --width 8 --heads 2 --layers 2 --hidden 12 --rope --dropout 0.25 "+
			"--attention latent"), common...),
		"forgetting": append(strings.Fields("--model gpt --width 8 --heads 2 --layers 2 --kv-heads 1 --attention forgetting"),
			common...),
		"sigmoid": append(strings.Fields("--model gpt --width 8 --heads 2 --layers 3 --rope --attention sigmoid "+
			"--full-attention-every 3"), common...),
	}
}

// A decoder's run reports, stops, resumes to the same bits, and its model continues texts.
func TestTrainDecoder(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(text, []byte(tinyText), 0o644))
	for name, head := range map[string]string{
		"decoder": "model     decoder, 5 layers of 2 kinds, 2 to 4 heads, width 8, float32:\n          3672 parameters\n",
		"gpt": "model     gpt, 2 layers, 2 heads, width 8, rotary positions, rms norms, swiglu,\n" +
			"          window 3, dropout of embeddings 0.25, dropout of attention 0.25,\n" +
			"          dropout of residuals 0.25, float32: 1352 parameters\n",
		"linear": "model     gpt, 2 layers, 2 heads, width 8,\n" +
			"          attention by gated_delta_net but in one of 2 layers, float32:\n",
		"moba":         "model     gpt, 2 layers, 2 heads, width 8, rotary positions, attention by moba,\n",
		"differential": "model     gpt, 2 layers, 2 heads, width 8, attention by differential, float32:\n",
		"latent": "model     gpt, 2 layers, 2 heads, width 8, rotary positions,\n" +
			"          attention by latent, ",
		"forgetting": "model     gpt, 2 layers, 2 heads (1 of keys and values), width 8,\n" +
			"          attention by forgetting, float32: 1924 parameters\n",
		"sigmoid": "model     gpt, 3 layers, 2 heads, width 8, rotary positions,\n" +
			"          attention by sigmoid but in one of 3 layers, float32:",
	} {
		calm, folder := filepath.Join(t.TempDir(), "calm/run"), filepath.Join(t.TempDir(), "stopped/run")
		var printed bytes.Buffer
		require.NoError(t, trainTo(t.Context(), &printed, decoderFlags(t, text, calm)[name]...))
		require.Contains(t, printed.String(), head)
		require.Contains(t, printed.String(), "A corner of model.layers.0.self_attn.q_proj.weight before:")
		softmax := 0
		if name == "linear" {
			softmax = 1
		}
		require.Contains(t, printed.String(), fmt.Sprintf("(layers.%d.self_attn, head ", softmax))
		require.Equal(t, gptFiles, namesIn(t, calm))
		stopAfter(t, 5, decoderFlags(t, text, folder)[name]...)
		require.Contains(t, resume(t, folder, "--checkpoint-activations"), "7 steps in ")
		require.Equal(t, outcome(t, calm)["model.safetensors"], outcome(t, folder)["model.safetensors"], name)

		m, err := commandtest.Inspect(t, calm).Open()
		require.NoError(t, err)
		g, err := models.NewGenerator(m.Model, generate.Config{}, 100)
		require.NoError(t, err)
		require.NoError(t, g.Prompt(t.Context(), []int{1, 2, 3}))
		for range 9 { // past the context
			_, err := g.Next(t.Context())
			require.NoError(t, err)
		}
		requireSeen(t, calm)
		pretrainedModel, err := commandtest.Inspect(t, calm).GPT()
		require.NoError(t, err)
		out := filepath.Join(t.TempDir(), "out")
		_, err = pretrainedModel.Write(out, pretrained.WriteConfig{Format: pretrained.HuggingFace})
		if name != "gpt" {
			require.ErrorContains(t, err, "got a decoder that is none of gpt2, llama, mistral")
			continue
		}
		require.NoError(t, err)
		again, err := pretrained.ReadGPT(out)
		require.NoError(t, err)
		require.Equal(t, pretrainedModel.Params.Len(), again.Params.Len())
		for name, value := range again.Params.All() {
			want, _ := pretrainedModel.Params.Get(name)
			require.Equal(t, want.Data(), value.Data(), name)
		}
		text, err := os.ReadFile(filepath.Join(out, "config.json"))
		require.NoError(t, err)
		require.Contains(t, string(text), `"model_type": "mistral"`)
	}
}

// requireSeen requires that attention view opens a run and finds weights in every layer.
func requireSeen(t *testing.T, folder string) {
	t.Helper()
	model, err := forward.Open(folder)
	require.NoError(t, err)
	seen, err := model.Forward(t.Context(), forward.Request{Text: "the cat"})
	require.NoError(t, err)
	require.Greater(t, len(seen.Layers), 1)
	for _, layer := range seen.Layers {
		summary, err := layer.Summary(layer.Heads - 1)
		require.NoError(t, err)
		require.Positive(t, summary.Thumbnail[0], layer.Path)
		require.NotNil(t, summary.Statistics.Entropy, layer.Path)
	}
}

// The preset of Llama's shape learns.
func TestTrainLlamaChar(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(text, []byte(tinyText), 0o644))
	folder := filepath.Join(t.TempDir(), "run")
	var printed bytes.Buffer
	require.NoError(t, trainTo(t.Context(), &printed, "--preset", "llama-char", "--text", text, "--out", folder,
		"--steps", "8", "--lr", "0.003", "--warmup", "0", "--context", "16", "--eval-every", "0", "--sample", "5"))
	require.Contains(t, printed.String(),
		"model     gpt, 4 layers, 4 heads, width 128, rotary positions, rms norms,\n"+
			"          swiglu, float32: 795264 parameters\n")
	require.Less(t, lastLoss(t, folder), 3.0, "ln 28 is 3.33")
}

// The weights of a decoder's folder begin another run, with a shorter context too, and what does not fit is named.
func TestTrainInitOfADecoder(t *testing.T) {
	text, dir := filepath.Join(t.TempDir(), "text"), t.TempDir()
	require.NoError(t, os.WriteFile(text, []byte(tinyText), 0o644))
	for _, name := range []string{"decoder", "gpt"} {
		first, again := filepath.Join(dir, name), filepath.Join(dir, name+"-again")
		require.NoError(t, trainTo(t.Context(), new(bytes.Buffer), decoderFlags(t, text, first)[name]...))
		begin := append(stay, "--text", text, "--batch", "3", "--init", first, "--sample", "0", "--preset", "llama-char")
		require.NoError(t, trainTo(t.Context(), new(bytes.Buffer), append(begin, "--out", again)...))
		require.InDelta(t, lastLoss(t, first), lastLoss(t, again), 1e-6, name)
		short := filepath.Join(dir, name+"-short")
		require.NoError(t, trainTo(t.Context(), new(bytes.Buffer), append(begin, "--context", "4", "--out", short)...))
		c, err := models.ReadConfig(short, settings.Train)
		require.NoError(t, err)
		require.Equal(t, 4, c.Model.Context())
	}
	decoder, gpt := filepath.Join(dir, "decoder"), filepath.Join(dir, "gpt")
	other := filepath.Join(dir, "other.json")
	twoHeads := strings.Replace(tinyDecoder, `"num_heads": 4`, `"num_heads": 2`, 1)
	require.NoError(t, os.WriteFile(other, []byte(twoHeads), 0o644))
	for _, r := range []refused{
		{args: "--init " + gpt + " --norm layer", want: "--init: " + gpt + ": --norm: got layer, want rms, that of the"},
		{args: "--init " + gpt + " --rope=false", want: "--init: " + gpt + ": --rope: got none, want true, that of the"},
		{args: "--init " + gpt + " --model decoder", want: "--init: " + gpt + ": --model: got decoder, want gpt, that of"},
		{args: "--init " + decoder + " --layers 4", want: "--init: " + decoder + ": --layers: got 4, want 5, that of"},
		{args: "--init " + decoder + " --config " + other,
			want: "--init: " + decoder + ": model.blocks: got another value than that of the weights, want the same"},
		{args: "--init " + decoder + " --model gpt --width 8",
			want: "--init: " + decoder + ": --model: got gpt, want decoder, that of the weights"},
		{args: "--model gpt --layers 2 --width 8 --heads 2 --context 6 --init " + gpt + "/model.safetensors",
			want: "--init: " + gpt + "/model.safetensors: --"},
	} {
		err := trainTo(t.Context(), new(bytes.Buffer),
			append(strings.Fields(r.args), "--text", text, "--out", filepath.Join(t.TempDir(), "run"))...)
		require.ErrorContains(t, err, r.want, r.args)
	}
}

// A decoder of linear attention alone trains: it has no attention weights to record, and no heads to report.
func TestTrainLinearDecoder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "linear.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"model": {"type": "decoder", "num_layers": 2, "blocks": [{
		"attention": {"embed_dim": 8, "num_heads": 2}, "linear": {"delta": true, "decay": "head"},
		"norm": {"kind": "rms"}}]}}`),
		0o644))
	flags := strings.Fields("--batch 3 --context 6 --steps 3 --eval-every 2 --sample 9 --config " + file)
	text, folder := filepath.Join(t.TempDir(), "text"), filepath.Join(t.TempDir(), "run")
	require.NoError(t, os.WriteFile(text, []byte(tinyText), 0o644))
	flags = append(flags, "--text", text, "--out", folder)
	require.NoError(t, trainTo(t.Context(), new(bytes.Buffer), flags...))
	require.NotContains(t, namesIn(t, folder), session.StepsPicture)
	model, err := forward.Open(folder)
	require.NoError(t, err)
	seen, err := model.Forward(t.Context(), forward.Request{Text: "the"})
	require.NoError(t, err)
	require.Len(t, seen.Layers, 2)
	require.True(t, seen.Layers[1].Linear)
	require.EqualError(t, trainTo(t.Context(), new(bytes.Buffer), append(flags, "--out", folder+"2", "--head-stats")...),
		"--head-stats: got layer decoder, which has no heads, want another")
}

// Every form of linear attention, alone in all layers, resumes to the same bits, writes a sample, and its implied
// weights are seen.
func TestTrainLinearForms(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(text, []byte(tinyText), 0o644))
	for _, form := range layers.LinearForms() {
		flags := strings.Fields("--model gpt --width 8 --heads 2 --layers 1 --hidden 12 --context 6 --batch 3 --steps 6 " +
			"--eval-every 3 --sample 9 --lr 0.01 --keep 1 --attention " + form + " --text " + text)
		calm, stopped := filepath.Join(t.TempDir(), "calm/run"), filepath.Join(t.TempDir(), "stopped/run")
		require.NoError(t, trainTo(t.Context(), new(bytes.Buffer), append(flags, "--out", calm)...))
		stopAfter(t, 3, append(flags, "--out", stopped)...)
		require.Contains(t, resume(t, stopped), "3 steps in ")
		require.Equal(t, outcome(t, calm)["model.safetensors"], outcome(t, stopped)["model.safetensors"], form)
		model, err := forward.Open(calm)
		require.NoError(t, err)
		seen, err := model.Forward(t.Context(), forward.Request{Text: "the cat"})
		require.NoError(t, err)
		weights, _, norms, err := seen.Layers[0].Implied(1)
		require.NoError(t, err)
		require.NotZero(t, weights[0])
		require.Positive(t, norms[5])
	}
}

// The model of another family's folder learns on with its own tokenizer, and goes out as it came in but for its
// weights.
func TestTrainInitOfAFamily(t *testing.T) {
	text, dir := filepath.Join(t.TempDir(), "text"), commandtest.SmallLlama(t)
	require.NoError(t, os.WriteFile(text, []byte(strings.Repeat("the cat sat on the mat. ", 99)), 0o644))
	folder, out := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "out")
	require.NoError(t, trainTo(t.Context(), new(bytes.Buffer), "--init", dir, "--text", text, "--out", folder, "--steps", "30",
		"--lr", "0.01", "--warmup", "0", "--eval-every", "0", "--sample", "0"))
	require.Less(t, lastLoss(t, folder), 4.0, "ln 265 is 5.58")
	g, err := commandtest.Inspect(t, folder).GPT()
	require.NoError(t, err)
	_, err = g.Write(out, pretrained.WriteConfig{Format: pretrained.HuggingFace, Dtype: "bfloat16"})
	require.NoError(t, err)
	want, err := pretrained.ReadGPT(dir)
	require.NoError(t, err)
	got, err := pretrained.ReadGPT(out)
	require.NoError(t, err)
	require.Equal(t, want.Model.Config(), got.Model.Config())
	require.Equal(t, want.Tokenizer.Config(), got.Tokenizer.Config())
	require.Equal(t, want.EndOfText, got.EndOfText)
}
