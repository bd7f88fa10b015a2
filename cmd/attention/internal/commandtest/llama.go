package commandtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/graph"
	"attention/layers"
	"attention/train/pretrained"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// SmallLlama writes the folder of a Llama like those of other programs: bfloat16, more rows than tokens, a
// tokenizer.json whose template begins each text with the token 264, and several ids that end a text.
func SmallLlama(t testing.TB) string { return LlamaOf(t, 12, 17) }

// LlamaOf is SmallLlama with an embedding and a feedforward part of these sizes.
func LlamaOf(t testing.TB, embed, feedforward int) string {
	learned, err := text.LearnBytePairs(strings.Repeat("the cat sat on the mat. ", 9), 265)
	require.NoError(t, err)
	file := strings.Replace(string(learned), `"post_processor": null`, `"post_processor":{"type":"TemplateProcessing",`+
		`"single":[{"SpecialToken":{"id":"<|endoftext|>","type_id":0}},{"Sequence":{"id":"A","type_id":0}}],"pair":[],`+
		`"special_tokens":{"<|endoftext|>":{"id":"<|endoftext|>","ids":[264],"tokens":["<|endoftext|>"]}}}`, 1)
	p := layers.NewParams(tensor.Float32, 5)
	m, err := layers.NewDecoder(p.Scope(""), layers.DecoderConfig{
		VocabSize: 288, ContextLength: 32, NumLayers: 2, TieWordEmbeddings: true,
		Blocks: []layers.BlockConfig{{
			Attention: layers.AttentionConfig{EmbedDim: embed, NumHeads: 3, NumKVHeads: 1, RoPE: &graph.RoPEConfig{}},
			MLP:       layers.MLPConfig{DimFeedforward: feedforward, Activation: layers.SwiGLU},
			Norm:      layers.NormConfig{Kind: layers.RMSNorm},
		}},
	})
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "llama")
	g := &pretrained.GPT{Model: m, Params: p, EndOfText: 264}
	_, err = g.Write(dir, pretrained.WriteConfig{Format: pretrained.HuggingFace, Dtype: "bfloat16"})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tokenizer.json"), []byte(file), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "generation_config.json"),
		[]byte(`{"eos_token_id": [264, 65]}`), 0o644))
	return dir
}
