package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/layers"
	"attention/train/pretrained"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// templates is the folder of templates in the form of published ones.
const templates = "../../../../train/text/testdata/templates/"

// tokenizerFile returns the tokenizer.json of a byte-level tokenizer with the tokens of ChatML, <|im_end|> the last.
func tokenizerFile(t testing.TB) []byte {
	learned, err := text.LearnBytePairs(strings.Repeat("the answer is the answer to it all ", 50), 270)
	require.NoError(t, err)
	var file map[string]any
	require.NoError(t, json.Unmarshal(learned, &file))
	for i, token := range []string{"<|im_start|>", "<|im_end|>"} {
		file["added_tokens"] = append(file["added_tokens"].([]any), map[string]any{"id": 270 + i, "content": token,
			"special": true, "normalized": false, "lstrip": false, "rstrip": false, "single_word": false})
	}
	data, err := json.Marshal(file)
	require.NoError(t, err)
	return data
}

// model writes the folder of a small decoder, whose weights are changed, and returns its path and tokenizer.
func model(t testing.TB, width int, change func(*layers.Params, *text.SubwordTokenizer)) (string,
	*text.SubwordTokenizer) {
	file := tokenizerFile(t)
	tokenizer, err := text.ReadTokenizer(file)
	require.NoError(t, err)
	p := layers.NewParams(tensor.Float32, 5)
	m, err := layers.NewDecoder(p.Scope(""), layers.DecoderConfig{VocabSize: 272, ContextLength: 300, NumLayers: 2,
		Blocks: []layers.BlockConfig{{
			Attention: layers.AttentionConfig{EmbedDim: width, NumHeads: 2},
			MLP:       layers.MLPConfig{DimFeedforward: 8, Activation: layers.SwiGLU},
			Norm:      layers.NormConfig{Kind: layers.RMSNorm}}}})
	require.NoError(t, err)
	change(p, tokenizer)
	dir := filepath.Join(t.TempDir(), "model")
	g := &pretrained.GPT{Model: m, Params: p, EndOfText: 269}
	_, err = g.Write(dir, pretrained.WriteConfig{Format: pretrained.HuggingFace})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tokenizer.json"), file, 0o644))
	return dir, tokenizer
}

// parrot returns a model that writes the same text after each newline; no token occurs twice in it.
func parrot(t testing.TB, says string) (string, *text.SubwordTokenizer) {
	return model(t, 272, func(p *layers.Params, tokenizer *text.SubwordTokenizer) {
		ids, err := tokenizer.Encode("\n" + says)
		require.NoError(t, err)
		for name, v := range p.All() {
			x := v.Float32s()
			switch {
			case strings.HasSuffix(name, "embed_tokens.weight"):
				clear(x)
				for i := range 272 {
					x[i*272+i] = 1
				}
			case strings.HasSuffix(name, "lm_head.weight"):
				clear(x)
				for i, id := range ids[1:] {
					x[id*272+ids[i]] = 1
				}
			case !strings.Contains(name, "norm"):
				clear(x)
			}
		}
	})
}

// varied returns a model of random weights that says varied things.
func varied(t testing.TB) (string, *text.SubwordTokenizer) {
	return model(t, 12, func(p *layers.Params, _ *text.SubwordTokenizer) {
		for _, v := range p.All() {
			for i := range v.Float32s() {
				v.Float32s()[i] *= 6
			}
		}
	})
}

// chatted runs attention chat with lines as its input.
func chatted(ctx context.Context, input string, args ...string) (said, notes string, err error) {
	var out, errs bytes.Buffer
	cmd := New()
	root := commandtest.Root(cmd)
	root.SetIn(strings.NewReader(input))
	root.SetOut(&out)
	root.SetErr(&errs)
	root.SetArgs(append([]string{"chat"}, args...))
	err = root.ExecuteContext(ctx)
	return out.String(), errs.String(), err
}

// greedy runs attention chat on a model with ChatML, always with the likeliest tokens.
func greedy(t testing.TB, dir, input string, args ...string) (said, notes string) {
	args = append([]string{"--model", dir, "--template", "chatml", "--temperature", "0"}, args...)
	said, notes, err := chatted(t.Context(), input, args...)
	require.NoError(t, err)
	return said, notes
}

// say returns a message.
func say(role, content string) text.Message { return text.Message{Role: role, Content: content} }

func write(t testing.TB, path, content string) {
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
}

func read(t testing.TB, path string) string {
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(content)
}
