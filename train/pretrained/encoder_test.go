package pretrained_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"attention/graph/machine"
	"attention/internal/golden"
	"attention/layers"
	"attention/train/pretrained"
	texts "attention/train/text"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// encoderCases are the folders in testdata/encoders, which encoders.py made.
var encoderCases = []string{"bert", "bert_relu", "bert_head", "distilbert"}

// encoderFolder returns a copy of the folder of a case.
func encoderFolder(t testing.TB, name string) string {
	from, err := golden.Path("encoders", name)
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(from)))
	return dir
}

// For each family, the encoder's vectors, the vectors of texts by each kind of pooling, and the gradients equal those
// of transformers, with padding and types of tokens.
func TestEncoders(t *testing.T) {
	for _, name := range encoderCases {
		for dt, tolerance := range map[tensor.Dtype]float64{tensor.Float64: 1e-10, tensor.Float32: 1e-5} {
			t.Run(name+" "+dt.String(), func(t *testing.T) {
				f := golden.Load(t, "encoders/"+name+"/values.safetensors")
				e, err := pretrained.OpenEncoder(encoderFolder(t, name))
				require.NoError(t, err)
				c := e.Model.Config()
				p := layers.NewBlankParams(dt)
				m, err := layers.NewEncoder(p.Scope(""), c)
				require.NoError(t, err)
				for key, v := range e.Params.All() {
					require.NoError(t, p.Set(key, golden.Dense(dt, golden.Floats(t, v), v.Shape()...)))
				}
				b := layers.NewBuild(p, layers.Eval)
				integers := func(key string) *G.Node {
					n := b.InputOf(tensor.Int64, key, f.Shape(key)...)
					require.NoError(t, b.Err())
					require.NoError(t, G.Let(n, tensor.New(tensor.WithShape(f.Shape(key)...), tensor.WithBacking(f.Int64(key)))))
					return n
				}
				in := layers.EncoderInput{IDs: integers("ids"), Lengths: integers("lengths")}
				if c.TypeVocabSize > 1 {
					in.Types = integers("types")
				}
				weights := b.Input("weights", f.Shape("weights")...)
				require.NoError(t, G.Let(weights, golden.Dense(dt, f.Float64("weights"), f.Shape("weights")...)))
				x, err := m.Forward(b, in)
				require.NoError(t, err)
				loss := G.Must(G.Sum(G.Must(G.HadamardProd(x, weights))))
				out := map[string]*G.Node{}
				for _, pooling := range []layers.Pooling{layers.MeanPooling, layers.FirstPooling, layers.MaxPooling} {
					out[string(pooling)], err = m.Embedding(b, in, pooling, false)
					require.NoError(t, err)
				}
				grads, err := G.Grad(loss, b.Learnables()...)
				require.NoError(t, err)
				for i, n := range b.Learnables() {
					prefix := map[bool]string{true: "bert."}[name == "bert_head"]
					out["grad."+prefix+pretrained.NameInFolder(strings.Split(name, "_")[0], n.Name())] = grads[i]
				}
				run, err := machine.New(append(slices.Collect(maps.Values(out)), x, loss)...)
				require.NoError(t, err)
				require.NoError(t, run.RunAll())
				for key, n := range out {
					require.Equal(t, tensor.Shape(f.Shape(key)).TotalSize(), n.Shape().TotalSize(), key)
					golden.Close(t, key, f.Float64(key), golden.Floats(t, n.Value()), tolerance, tolerance)
				}
				golden.Close(t, "loss", f.Float64("loss"), []float64{scalar(loss)}, tolerance, tolerance)
				require.Len(t, f.Names(), len(out)+6, "a gradient for each weight")
				got, width := golden.Floats(t, x.Value()), f.Shape("vectors")[2]
				for i, n := range f.Int64("lengths") { // padding means nothing
					from := i * f.Shape("ids")[1] * width
					golden.Close(t, fmt.Sprint("vectors of text ", i), f.Float64("vectors")[from:from+int(n)*width],
						got[from:from+int(n)*width], tolerance, tolerance)
				}
			})
		}
	}
}

// The files of sentence-transformers determine how a text becomes a vector; without them the vector is the mean.
func TestSentences(t *testing.T) {
	for name, want := range map[string]pretrained.Sentence{
		"bert":       {Pooling: layers.MeanPooling, Normalize: true, MaxLength: 24},
		"bert_relu":  {Pooling: layers.FirstPooling, MaxLength: 24},
		"bert_head":  {Pooling: layers.MeanPooling, MaxLength: 24},
		"distilbert": {Pooling: layers.MaxPooling, MaxLength: 24},
	} {
		e, err := pretrained.OpenEncoder(encoderFolder(t, name))
		require.NoError(t, err)
		require.Equal(t, want, e.Sentence, name)
	}
}

// The maximal length of a text is the smallest of the values in sentence_bert_config.json, tokenizer_config.json and
// the number of positions (text-embeddings-inference#146, fastembed#531); the truncation in tokenizer.json does not
// count: all-MiniLM-L6-v2 has 128 there, and its length is 256. do_lower_case lowers the text before any tokenizer
// (vllm#11815).
func TestLengthOfSentences(t *testing.T) {
	for _, row := range []struct {
		sentence, tokenizer string
		want                int
	}{
		{`{"max_seq_length": 9}`, `{"model_max_length": 12}`, 9},
		{`{"max_seq_length": 12}`, `{"model_max_length": 9}`, 9},
		{`{"max_seq_length": 100}`, `{"model_max_length": 1e30}`, 24},
		{`{"max_seq_length": null}`, `{}`, 24},
		{`{"max_seq_length": 2}`, `{}`, 2}, // the template alone
	} {
		dir := encoderFolder(t, "bert")
		write := func(name, text string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
		}
		write("sentence_bert_config.json", row.sentence)
		write("tokenizer_config.json", row.tokenizer)
		tokenizer, err := os.ReadFile(filepath.Join(dir, "tokenizer.json"))
		require.NoError(t, err)
		write("tokenizer.json", strings.Replace(string(tokenizer), `"truncation": null`,
			`"truncation": {"max_length": 5, "strategy": "LongestFirst", "stride": 0}`, 1))
		e, err := pretrained.OpenEncoder(dir)
		require.NoError(t, err)
		ids, err := e.IDs(strings.Repeat("the ", 50))
		require.NoError(t, err)
		require.Len(t, ids, row.want)
		first, _ := e.Tokenizer.ID("[CLS]")
		last, _ := e.Tokenizer.ID("[SEP]")
		require.Equal(t, []int{first, last}, []int{ids[0], ids[row.want-1]})
	}
}

// Two flags make letters lower case: do_lower_case of sentence_bert_config.json, before any tokenizer (vllm#11815), and
// the tokenizer's own flag. Each works alone, and strip_accents: null follows the tokenizer's flag only (ollama#15609,
// llama.cpp#5496). The flags of tokenizer_config.json, or their defaults, win over those of tokenizer.json in the
// classes of BERT's tokenizers. The ids are those of transformers 5.24.0, and with do_lower_case those of
// sentence-transformers 6.2.0.
func TestLowercase(t *testing.T) {
	const plain = `{"tokenizer_class": "PreTrainedTokenizerFast", "do_lower_case": true}` // this tokenizer has no flags
	hello, cafe := []int{44, 135, 142, 142, 145}, []int{71, 163, 168, 211}                // HELLO, café as letters
	for _, row := range []struct {
		sentence, tokenizer bool
		accents, config     string
		want                [][]int // of HELLO, Café, İS and 日本, without the template
	}{
		{false, true, "null", plain, [][]int{{221}, {224}, {236}, {193, 194}}},
		{true, true, "null", plain, [][]int{{221}, {224}, {236}, {193, 194}}},
		{false, false, "null", plain, [][]int{hello, {39, 163, 168, 211}, {1}, {193, 194}}},
		{true, false, "null", plain, [][]int{{221}, cafe, {1}, {193, 194}}},
		{true, false, "true", plain, [][]int{{221}, {224}, {236}, {193, 194}}},
		{false, true, "false", plain, [][]int{{221}, cafe, {1}, {193, 194}}},
		{false, true, "null", `{"tokenizer_class": "BertTokenizer", "do_lower_case": false}`,
			[][]int{hello, {39, 163, 168, 211}, {1}, {193, 194}}},
		{false, false, "null", `{"tokenizer_class": "DistilBertTokenizer"}`, [][]int{{221}, {224}, {236}, {193, 194}}},
		{false, false, "null", `{}`, [][]int{{221}, {224}, {236}, {193, 194}}},
		{false, false, "null", `{"tokenizer_class": "BertTokenizerFast", "do_lower_case": true, "strip_accents": false}`,
			[][]int{{221}, cafe, {1}, {193, 194}}},
		{false, true, "null", `{"do_lower_case": false, "strip_accents": true, "tokenize_chinese_chars": false}`,
			[][]int{hello, {39, 163, 225}, {45, 149}, {1}}},
	} {
		dir := encoderFolder(t, "bert")
		write := func(name, format string, values ...any) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), fmt.Appendf(nil, format, values...), 0o644))
		}
		write("sentence_bert_config.json", `{"do_lower_case": %v}`, row.sentence)
		write("tokenizer_config.json", "%s", row.config)
		text, err := os.ReadFile(filepath.Join(dir, "tokenizer.json"))
		require.NoError(t, err)
		from := `"strip_accents": null, "lowercase": true`
		require.Contains(t, string(text), from)
		write("tokenizer.json", "%s", strings.Replace(string(text), from,
			fmt.Sprintf(`"strip_accents": %s, "lowercase": %v`, row.accents, row.tokenizer), 1))
		e, err := pretrained.OpenEncoder(dir)
		require.NoError(t, err)
		mask := []int{4} // which is no text: sentence-transformers does not lower it
		for i, given := range []string{"HELLO", "Café", "İS", "日本", "[MASK]"} {
			ids, err := e.IDs(given)
			require.NoError(t, err)
			require.Equal(t, append(row.want[:4:4], mask)[i], ids[1:len(ids)-1], "%s %+v", given, row)
			encoded, err := e.Tokenizer.EncodeTexts(texts.TruncationConfig{}, given)
			require.NoError(t, err)
			require.Equal(t, ids, encoded.IDs)
			require.Equal(t, len(given), encoded.Bytes[len(ids)-2][1])
		}
	}
}

// LayerNorm's eps of 1e-12 is not lost in float32 (1 + 1e-12 is 1, but eps is added to a variance). Embeddings divided
// by 8192 give the same vectors, up to the effect of eps on a variance of 1e-8. With 1e-5 they would be near zero.
// Embeddings that are all equal give the bias, not NaN.
func TestSmallEps(t *testing.T) {
	e, err := pretrained.OpenEncoder(encoderFolder(t, "bert"))
	require.NoError(t, err)
	require.Equal(t, 1e-12, e.Model.Config().Block.Norm.Eps)
	p := layers.NewBlankParams(tensor.Float32)
	m, err := layers.NewEncoder(p.Scope(""), e.Model.Config())
	require.NoError(t, err)
	var vectors [][]float32
	for _, scale := range []float64{1, 1. / 8192, 0} {
		for key, v := range e.Params.All() {
			data := golden.Floats(t, v)
			for i := range data {
				if strings.HasSuffix(key, "_embeddings.weight") {
					data[i] *= scale
				}
			}
			require.NoError(t, p.Set(key, golden.Dense(tensor.Float32, data, v.Shape()...)))
		}
		embedder, err := (&pretrained.Encoder{Model: m, Params: p, Tokenizer: e.Tokenizer, Sentence: e.Sentence}).Embedder()
		require.NoError(t, err)
		v, err := embedder.Embed(t.Context(), "hello words")
		require.NoError(t, err)
		vectors = append(vectors, v[0])
	}
	golden.Close(t, "small", vectors[0], vectors[1], 1e-4, 0)
	require.InDelta(t, 1, pretrained.Cosine(vectors[2], vectors[2]), 1e-6)
}

// The vector of a text is the same alone as among longer ones, with whose length it is padded (hugot#94), by each kind
// of pooling.
func TestEmbedderPadsNothing(t *testing.T) {
	for _, name := range encoderCases {
		t.Run(name, func(t *testing.T) { padsNothing(t, name) })
	}
}

func padsNothing(t *testing.T, name string) {
	e, err := pretrained.OpenEncoder(encoderFolder(t, name))
	require.NoError(t, err)
	e.Sentence.Normalize = true
	embedder, err := e.Embedder()
	require.NoError(t, err)
	texts := []string{"hello world", "", "the words", strings.Repeat("hello ", 30), "the cafe is in İstanbul, or is it?"}
	all, err := embedder.Embed(t.Context(), texts...)
	require.NoError(t, err)
	for i, text := range texts {
		alone, err := embedder.Embed(t.Context(), text)
		require.NoError(t, err)
		golden.Close(t, text, alone[0], all[i], 1e-6, 1e-6)
		var square float64
		for _, x := range all[i] {
			square += float64(x) * float64(x)
		}
		require.InDelta(t, 1, square, 1e-6)
	}
	_, err = embedder.Embed(t.Context(), "fine", "\xff")
	require.ErrorContains(t, err, "pretrained: embed: text 1: ")
	e.Sentence.MaxLength = 100 // longer than the positions
	_, err = embedder.Embed(t.Context(), "fine", strings.Repeat("hello ", 90))
	require.EqualError(t, err, "pretrained: embed: text 1: got 92 tokens, want 1 to 24")
}

// The published all-MiniLM-L6-v2 gives the vectors of sentence-transformers.
func TestPublishedMiniLM(t *testing.T) {
	dir := golden.Published(t, "minilm")
	path, err := golden.Path("published", "minilm_texts.json")
	require.NoError(t, err)
	contents, err := os.ReadFile(path)
	require.NoError(t, err)
	var texts []string
	require.NoError(t, json.Unmarshal(contents, &texts))
	require.Len(t, texts, 200)
	e, err := pretrained.OpenEncoder(dir)
	require.NoError(t, err)
	require.Equal(t, 256, e.Sentence.MaxLength)
	embedder, err := e.Embedder()
	require.NoError(t, err)
	got, err := embedder.Embed(t.Context(), texts...)
	require.NoError(t, err)
	want := golden.Load(t, "published/minilm.safetensors").Float32("every12")
	for i, v := range got {
		var every []float32
		for j := 0; j < len(v); j += 12 {
			every = append(every, v[j])
		}
		golden.Close(t, texts[i], want[i*len(every):][:len(every)], every, 1e-6, 0)
	}
}

// scalar returns the value of a node without axes.
func scalar(n *G.Node) float64 {
	if x, ok := n.Value().Data().(float32); ok {
		return float64(x)
	}
	return n.Value().Data().(float64)
}
