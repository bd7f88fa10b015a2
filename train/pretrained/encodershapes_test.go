package pretrained_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/internal/golden"
	"attention/internal/safetensors"
	"attention/layers"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// encoderShapes are common encoders, given by the keys of their config.json that determine the shape, with fewer
// layers.
var encoderShapes = map[string]struct {
	width, heads, hidden, layers int
	pooling                      string
}{
	"bert-base": {768, 12, 3072, 1, "mean"},
	"bge-small": {384, 12, 1536, 2, "cls"},
	"e5-small":  {384, 12, 1536, 2, "mean"},
}

// shapeFolder returns a folder of an encoder of a published shape with random weights.
func shapeFolder(t *testing.T, name string) string {
	s := encoderShapes[name]
	dir := encoderFolder(t, "bert")
	write := func(name, format string, values ...any) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), fmt.Appendf(nil, format, values...), 0o644))
	}
	write("config.json", `{"architectures": ["BertModel"], "model_type": "bert", "vocab_size": 30522, "hidden_size": %d,
		"num_attention_heads": %d, "intermediate_size": %d, "num_hidden_layers": %d, "max_position_embeddings": 512,
		"type_vocab_size": 2, "hidden_act": "gelu", "layer_norm_eps": 1e-12, "pad_token_id": 0}`,
		s.width, s.heads, s.hidden, s.layers)
	write("1_Pooling/config.json", `{"word_embedding_dimension": %d, "pooling_mode_%s": true}`, s.width,
		map[string]string{"mean": "mean_tokens", "cls": "cls_token"}[s.pooling])
	p := layers.NewParams(tensor.Float32, 1)
	_, err := layers.NewEncoder(p.Scope(""), layers.EncoderConfig{VocabSize: 30522, ContextLength: 512, TypeVocabSize: 2,
		NumLayers: s.layers, Block: layers.BlockConfig{
			Attention: layers.AttentionConfig{EmbedDim: s.width, NumHeads: s.heads, QKVBias: true, OutBias: true},
			MLP:       layers.MLPConfig{DimFeedforward: s.hidden, Activation: "gelu", Bias: true},
			Norm:      layers.NormConfig{Bias: true, Eps: 1e-12}}})
	require.NoError(t, err)
	f := &safetensors.File{Metadata: map[string]string{"format": "pt"}}
	for name, v := range p.All() {
		f.Tensors = append(f.Tensors, safetensors.Tensor{Name: name, Shape: v.Shape(), Data: v.Float32s()})
	}
	require.NoError(t, safetensors.WriteFile(filepath.Join(dir, "model.safetensors"), f))
	return dir
}

// Encoders of published shapes are opened, compute vectors and are written bit for bit. If there is a Python with
// transformers and sentence-transformers, the vectors equal theirs. A non-finite weight that is used in the file's
// memory is an error when it is used.
func TestPublishedEncoderShapes(t *testing.T) {
	if testing.Short() {
		t.Skip("the weights have 400 MB")
	}
	text := "hello the world"
	out := filepath.Join(t.TempDir(), "out.safetensors")
	args, want := []string{out, "2,221,3", text}, [][]float32{}
	for name, s := range encoderShapes {
		dir := shapeFolder(t, name)
		e, err := pretrained.OpenEncoder(dir)
		require.NoError(t, err)
		require.Equal(t, pretrained.Sentence{Pooling: layers.Pooling(s.pooling), Normalize: true, MaxLength: 512}, e.Sentence)
		embedder, err := e.Embedder()
		require.NoError(t, err)
		v, err := embedder.Embed(t.Context(), text, strings.Repeat("hello ", 600))
		require.NoError(t, err)
		require.Len(t, v[1], s.width)
		args, want = append(args, dir), append(want, v[0])
		goesOut(t, dir, pretrained.OpenEncoder)
	}
	bad := shapeFolder(t, "bge-small")
	changeTensors(t, bad, func(x *safetensors.Tensor) {
		if x.Name == "encoder.layer.1.output.dense.weight" {
			x.Data.([]float32)[1000] = float32(math.NaN())
		}
	})
	embeds(t, bad, "not finite")
	golden.Python(t, "encoder_read.py", args...)
	f, err := safetensors.ReadFile(out)
	require.NoError(t, err)
	for i, v := range want {
		x, ok := f.Get(fmt.Sprint(i, ".text"))
		require.True(t, ok)
		golden.Close(t, args[i+3], safetensors.Floats[float32](x.Data), v, 1e-6, 1e-6)
	}
}
