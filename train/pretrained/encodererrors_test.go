package pretrained_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/internal/golden"
	"attention/internal/safetensors"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
)

// The error about a folder that does not fit is one line.
func TestEncoderErrors(t *testing.T) {
	const config, modules, pooling, tokenizer = "config.json", "modules.json", "1_Pooling/config.json", "tokenizer.json"
	const sentence = "sentence_bert_config.json"
	const first = `{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}`
	for _, row := range []struct{ file, from, to, want string }{
		{config, `"bert"`, `"roberta"`,
			`config.json: model_type: got "roberta": family not supported, want one of bert, distilbert`},
		{config, `"hidden_size": 8`, `"hidden_size": 9`, "num_attention_heads: got 2, want a divisor of hidden_size=9"},
		{config, `"num_attention_heads": 2`, `"num_attention_heads": 0`, "num_attention_heads: got 0, want at least 1"},
		{config, `"num_hidden_layers": 2`, `"num_hidden_layers": 3`, "weights: missing encoder.layer.2."},
		{config, `"num_hidden_layers": 2`, `"num_hidden_layers": 1000000000`,
			"num_hidden_layers: got 1000000000, want at most"},
		{config, `"num_hidden_layers": 2`, `"num_hidden_layers": 1`, `unknown "encoder.layer.1.`},
		{config, `"num_hidden_layers": 2`, `"num_hidden_layers": 60000`,
			"weights: got 39, want those of the 60000 layers of config.json"},
		{config, `"intermediate_size": 12`, `"intermediate_size": 11`,
			"intermediate.dense.bias is F64 (12), want F32 (11)"},
		{config, `"hidden_act": "gelu"`, `"hidden_act": "elu"`, `hidden_act: got "elu", want one known here`},
		{config, `"type_vocab_size": 2`, `"type_vocab_size": -1`, "type_vocab_size: got -1, want at least 0"},
		{config, `"vocab_size": 250`, `"vocab_size": 100`,
			"tokenizer: got 250 tokens, want at most the 100 of config.json"},
		{config, `"vocab_size": 250`, `"vocab_size": 300`,
			"embeddings.word_embeddings.weight: got shape [250 8], want (300, 8)"},
		{config, `"hidden_act"`, `"position_embedding_type": "relative_key", "hidden_act"`,
			`position_embedding_type: got "relative_key", want "absolute": relative positions are not supported`},
		{modules, "models.Normalize", "models.Dense", `modules.json: got "sentence_transformers.models.Dense" at 2, want`},
		{modules, "1_Pooling", "../x", `modules.json: got "sentence_transformers.models.Pooling" at 1, want`},
		{pooling, `"pooling_mode_mean_tokens": true`, `"pooling_mode_mean_tokens": false`,
			"got 0 kinds of pooling, want one"},
		{pooling, `"pooling_mode_mean_sqrt_len_tokens": false`, `"pooling_mode_mean_sqrt_len_tokens": true`,
			"pooling_mode_mean_sqrt_len_tokens: got true, want the mean, the maximum or the first token"},
		{pooling, `"pooling_mode_cls_token": false`, `"pooling_mode_cls_token": true`, "got 2 kinds of pooling, want one"},
		{config, `"max_position_embeddings": 24`, `"max_position_embeddings": 25`,
			"embeddings.position_embeddings.weight is F64 (24, 8), want F32 (25, 8)"},
		{config, `"layer_norm_eps": 1e-12`, `"layer_norm_eps": -1`,
			"layer_norm_eps: got -1, want a finite number of at least 0"},
		{config, `"bert"`, `"distilbert"`, "embeddings.word_embeddings.weight: got shape [250 8], want (250, 768)"},
		{modules, "[", `[null, `, "modules.json: [0]: got null, want a JSON object"},
		{modules, "1_Pooling", "none", "modules.json: "},
		{tokenizer, `"the": 219, `, "", ""}, // the vocabulary may have gaps
		{tokenizer, `"the": 219`, `"the": 4000000000`, `vocab: "the": got id 4000000000, want 0 to 2097151`},
		{tokenizer, `"the": 219`, `"the": -1`, `vocab: "the": got id -1, want 0 to 2097151`},
		{tokenizer, `"the": 219`, `"the": 220`, `vocab: id 220 comes twice, of tokens "the" and "word"`},
		{tokenizer, `"the": 219`, `"the": 250`, "tokenizer: got 251 tokens, want at most the 250 of config.json"},
		{tokenizer, `"unk_token": "[UNK]"`, `"unk_token": "[NONE]"`,
			`unk_token: got "[NONE]", want a token of the vocabulary`},
		{tokenizer, `"unk_token": "[UNK]", `, "", `unk_token: got "", want a token of the vocabulary`},
		{tokenizer, `"WordPiece", "unk`, `"Unigram", "unk`, `type: got "Unigram", want BPE or WordPiece`},
		{tokenizer, `"ids": [2]`, `"ids": [999]`, "post_processor: got id 999, want a token's"},
		{tokenizer, `"[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]}, `, "",
			`post_processor: single: got token "[CLS]", want one of special_tokens`},
		{tokenizer, first, `{"Sequence": {"id": "A", "type_id": 0}}`, ""}, // no [CLS] at the beginning
		{tokenizer, `"max_input_chars_per_word": 100`, `"max_input_chars_per_word": -1`, ""},
		{sentence, "", `{"max_seq_length": 1}`,
			"tokenizer: got a template of 2 tokens, want at most the 1 of the longest text"},
		{sentence, "", `{"max_seq_length": 1e300}`, "max_seq_length: got 1e300, want a whole number"},
		{sentence, "", `[]`, "sentence_bert_config.json: got [], want a JSON object"},
	} {
		dir := encoderFolder(t, "bert")
		path := filepath.Join(dir, row.file)
		text, err := os.ReadFile(path)
		require.True(t, err == nil || row.from == "")
		require.Contains(t, string(text), row.from, row.want)
		require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), row.from, row.to, 1)), 0o644))
		embeds(t, dir, row.want)
	}
}

// embeds opens a folder and computes the vectors of some texts. If want is not "", this must fail with that error in
// one line.
func embeds(t *testing.T, dir, want string) {
	t.Helper()
	e, err := pretrained.OpenEncoder(dir)
	if err == nil {
		embedder, makeErr := e.Embedder()
		require.NoError(t, makeErr)
		_, err = embedder.Embed(t.Context(), "the hello", "[UNK] x", "日本", "", strings.Repeat("the ", 60))
	}
	if want == "" {
		require.NoError(t, err)
		return
	}
	require.ErrorContains(t, err, want)
	require.NotContains(t, err.Error(), "\n")
}

// The error about weights that do not fit is one line, whichever they are.
func TestEncoderWeightErrors(t *testing.T) {
	for _, row := range []struct {
		end    string // in the name of a tensor
		change func(x *safetensors.Tensor)
		want   string
	}{
		{"LayerNorm.bias", func(x *safetensors.Tensor) { x.Data.([]float64)[3] = math.NaN() },
			"LayerNorm.bias: has values that are not finite"},
		{"word_embeddings.weight", func(x *safetensors.Tensor) { x.Data.([]float64)[2] = math.Inf(1) },
			"word_embeddings.weight: has values that are not finite"},
		{"word_embeddings.weight", func(x *safetensors.Tensor) { x.Data = make([]int64, 250*8) },
			"word_embeddings.weight is I64 (250, 8), want F32 (250, 8)"},
		{"0.output.dense.bias", func(x *safetensors.Tensor) { x.Name = "encoder.layer.7" + x.Name },
			`missing encoder.layer.0.output.dense.bias; unknown "encoder.layer.7bert`},
		{"cls.predictions.bias", func(x *safetensors.Tensor) { x.Name = "embeddings.word_embeddings.weight" },
			`tensor "embeddings.word_embeddings.weight" comes twice, with and without a prefix or by an old name`},
	} {
		dir := encoderFolder(t, "bert_head")
		changeTensors(t, dir, func(x *safetensors.Tensor) {
			if strings.HasSuffix(x.Name, row.end) {
				row.change(x)
			}
		})
		embeds(t, dir, row.want)
	}
	for _, row := range []struct{ index, want string }{
		{`{"weight_map": {"a": "none.safetensors"}}`, `index.json: got the file "none.safetensors", which is missing`},
		{`{"weight_map": {"a": "../x.safetensors"}}`, `index.json: got the file "../x.safetensors", want names of files`},
		{`{"weight_map": {}}`, "index.json: weight_map: got no file, want at least one"},
		{`{"weight_map": {"a": "x.safetensors", "b": "y.safetensors"}}`, `tensor "embeddings.LayerNorm.bias" comes twice`},
		{"", "index.json: not JSON: unexpected end of JSON input, want one JSON object"},
	} {
		dir := encoderFolder(t, "bert")
		x := filepath.Join(dir, "x.safetensors")
		require.NoError(t, os.Rename(filepath.Join(dir, "model.safetensors"), x))
		text, err := os.ReadFile(x)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "y.safetensors"), text, 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "model.safetensors.index.json"), []byte(row.index), 0o644))
		embeds(t, dir, row.want)
	}
}

// For any content, a config.json and files of sentence-transformers are read or refused in one line.
func FuzzEncoder(f *testing.F) {
	from, err := golden.Path("encoders", "bert")
	require.NoError(f, err)
	names := []string{"config.json", "modules.json", "1_Pooling/config.json"}
	seeds := []string{}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(from, name))
		require.NoError(f, err)
		seeds = append(seeds, string(text))
	}
	f.Add(seeds[0], seeds[1], seeds[2], `{"max_seq_length": 9, "do_lower_case": true}`, `{"model_max_length": 1e30}`)
	f.Add(strings.Replace(seeds[0], `"hidden_size": 8`, `"hidden_size": 40000`, 1), "[]", "{}", "{}", "{}")
	f.Add(`{"model_type": "distilbert", "dim": 8}`, "[null]", `{"pooling_mode": "max"}`, `{"max_seq_length": -1}`, "[]")
	f.Fuzz(func(t *testing.T, config, modules, pooling, sentence, tokenizer string) {
		dir := encoderFolder(t, "bert")
		for i, text := range []string{config, modules, pooling, sentence, tokenizer} {
			name := append(names, "sentence_bert_config.json", "tokenizer_config.json")[i]
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
		}
		e, err := pretrained.OpenEncoder(dir)
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		ids, err := e.IDs(strings.Repeat("the ", 60))
		require.NoError(t, err)
		require.LessOrEqual(t, len(ids), e.Model.Config().ContextLength)
	})
}
