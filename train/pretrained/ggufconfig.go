package pretrained

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"attention/graph"
	"attention/internal/gguf"
)

// harmlessGGUF are settings that do not change a model's results; harmlessValues are settings that do not with one
// value.
var (
	harmlessGGUF   = []string{"vocab_size", "rope.scaling.finetuned", "tensor_data_layout"}
	harmlessValues = map[string]string{"attention.causal": "true", "rope.scaling.type": `"none"`,
		"rope.scaling.factor": "1", "rope.scale_linear": "1", "rope.scaling.attn_factor": "1"}
)

// config returns the settings of a model as the keys of a config.json.
func (g *ggufFile) config(f *family) (fields map[string]any, err error) {
	fields = map[string]any{"model_type": f.name, "architectures": []string{f.architecture}, "torch_dtype": "float32"}
	renamed := map[*family]map[string]string{&gptNeoX: {"rope_theta": "rotary_emb_base"}, &gpt2: {
		"intermediate_size": "n_inner", "layer_norm_eps": "layer_norm_epsilon", "num_key_value_heads": "n_kv_head"}}[f]
	read := map[string]json.RawMessage{}
	for _, s := range g.Settings {
		if name, ok := strings.CutPrefix(s.Key, f.gguf.name+"."); ok {
			if read[name], err = json.Marshal(s.Value); err != nil {
				return nil, fmt.Errorf("%s: got %v, want a finite number", s.Key, s.Value)
			}
		}
	}
	for _, k := range ggufKeys {
		key := k.key
		if renamed[key] != "" {
			key = renamed[key]
		}
		if value, ok := read[k.name]; ok && key != "" && f.knows(key) {
			fields[key] = value
		}
	}
	for _, name := range []string{"context_length", "embedding_length", "block_count", "feed_forward_length",
		"attention.head_count"} {
		if read[name] == nil {
			return nil, fmt.Errorf("%s.%s: missing, want a number", f.gguf.name, name)
		}
	}
	if err := g.addHeads(f, fields, read); err != nil {
		return nil, err
	}
	if err := g.addLayers(f, fields, read); err != nil {
		return nil, err
	}
	return fields, g.addTokens(f, fields)
}

// addHeads adds the keys of heads and positions, with defaults for those that the file leaves out.
func (g *ggufFile) addHeads(f *family, fields map[string]any, read map[string]json.RawMessage) error {
	var heads, width, kv, headDim, turned int
	for name, to := range map[string]*int{"attention.head_count": &heads, "embedding_length": &width,
		"attention.head_count_kv": &kv, "attention.key_length": &headDim, "rope.dimension_count": &turned} {
		if value := read[name]; value != nil && json.Unmarshal(value, to) != nil {
			return fmt.Errorf("%s.%s: got %s, want a number", f.gguf.name, name, short(value))
		}
	}
	if heads < 1 {
		return nil // which the family refuses
	}
	if headDim == 0 {
		headDim = width / heads
	}
	if kv == 0 {
		kv = heads
	}
	for key, value := range map[string]any{"num_key_value_heads": kv, "head_dim": headDim} {
		if f.knows(key) {
			fields[key] = value
		}
	}
	if kv == heads {
		delete(fields, "n_kv_head")
	}
	switch {
	case f == &gptNeoX && turned > 0:
		fields["rotary_pct"] = float64(turned) / float64(max(headDim, 1))
	case f == &gpt2 || f == &gptNeoX:
	case fields["rope_theta"] == nil:
		fields["rope_theta"] = 10000
	}
	if f.knows("query_pre_attn_scalar") {
		fields["query_pre_attn_scalar"] = headDim
		if string(read["block_count"]) == fmt.Sprint(f.gguf.wide) {
			fields["query_pre_attn_scalar"] = float64(width) / float64(heads)
		}
	}
	scaling := map[string]any{}
	for key, name := range map[string]string{"rope_type": "type", "factor": "factor",
		"original_max_position_embeddings": "original_context_length"} {
		if value := read["rope.scaling."+name]; value != nil && string(value) != harmlessValues["rope.scaling."+name] {
			scaling[key] = value
		}
	}
	if scaling["factor"] != nil && scaling["rope_type"] == nil {
		scaling["rope_type"] = "linear"
	}
	if factors, ok := g.tensors["rope_freqs.weight"]; ok {
		return g.addFactors(f, fields, factors, headDim)
	}
	if scaling["rope_type"] != nil {
		fields["rope_scaling"] = scaling
	}
	return nil
}

// addFactors adds the scaling of Llama 3. A file has only the divisor of each frequency, so the scaling's parameters
// are found by search.
func (g *ggufFile) addFactors(f *family, fields map[string]any, t gguf.Tensor, headDim int) error {
	var theta float64
	text, _ := json.Marshal(fields["rope_theta"]) // the position of each divisor
	if err := json.Unmarshal(text, &theta); err != nil {
		return fmt.Errorf("%s.rope.freq_base: got %s, want a number", f.gguf.name, short(text))
	}
	if len(t.Shape) != 1 || t.Shape[0] != headDim/2 || headDim > 1<<16 || f.gguf.name != llamaForm.name {
		return fmt.Errorf("tensor rope_freqs.weight: got the shape %v, want one for each pair of a head of a llama", t.Shape)
	}
	got := make([]float32, headDim/2)
	if err := t.Fill(got); err != nil {
		return err
	}
	if !slices.ContainsFunc(got, func(v float32) bool { return v != 1 }) {
		return nil
	}
	r := graph.RoPEConfig{Base: theta, Scaling: graph.Llama3Scaling, Factor: float64(slices.Max(got)), LowFreqFactor: 1,
		HighFreqFactor: 4, Dims: headDim}
	for r.OriginalLength = 1 << 24; r.OriginalLength > 0; r.OriginalLength /= 2 {
		want, different := llama3Factors(r), false
		for i, v := range got {
			different = different || math.Abs(float64(v)-want(i)) > 1e-6*want(i)
		}
		if !different {
			fields["rope_scaling"] = ropeText(&r)
			return nil
		}
	}
	return errors.New("tensor rope_freqs.weight: got factors of frequencies that are not those of Llama 3, want these")
}

// addLayers adds the keys about windows and about the head.
func (g *ggufFile) addLayers(f *family, fields map[string]any, read map[string]json.RawMessage) error {
	layers, period := 0, 2 // the value of Gemma 2; Gemma 3 has 6
	if f == &gemma3 {
		period = 6
	}
	for name, to := range map[string]*int{"block_count": &layers, "attention.sliding_window_pattern": &period} {
		if value := read[name]; value != nil && json.Unmarshal(value, to) != nil || period < 1 {
			return fmt.Errorf("%s.%s: got %s, want a number of at least 1", f.gguf.name, name, short(value))
		}
	}
	if f.gguf.slides && layers <= maxGGUFLayers {
		types := make([]string, max(layers, 0))
		for i := range types {
			if types[i] = slidingAttention; (i+1)%period == 0 {
				types[i] = fullAttention
			}
		}
		fields["layer_types"] = types
	}
	tokens, ok := g.tensors["token_embd.weight"]
	if !ok || len(tokens.Shape) != 2 {
		return errors.New("tensor token_embd.weight: missing, want the matrix of the tokens' embeddings")
	}
	head, has := g.tensors["output.weight"]
	copied := has && f.gguf.head && head.Type == tokens.Type && bytes.Equal(head.Stored, tokens.Stored)
	fields["vocab_size"], fields["tie_word_embeddings"] = tokens.Shape[0], !has || copied
	return nil
}

// addTokens adds the ids that begin and end texts, and a tokenizer of characters or bytes.
func (g *ggufFile) addTokens(f *family, fields map[string]any) error {
	const key = "tokenizer.ggml."
	if g.Value(key+"model") == "llama" {
		fields["bos_token_id"], fields["eos_token_id"] = 1, []int{2}
	}
	var ends []int
	for _, name := range []string{"eos", "eot", "eom"} {
		id := -1
		if err := gguf.Get(g.File, key+name+"_token_id", &id); err != nil {
			return err
		}
		if id >= 0 && !slices.Contains(ends, id) {
			ends = append(ends, id)
		}
	}
	if len(ends) > 0 {
		fields["eos_token_id"] = ends
	}
	if id := g.Value(key + "bos_token_id"); id != nil {
		fields["bos_token_id"] = id
	}
	if g.Value(key+"model") == "rwkv" {
		c, err := g.vocabulary()
		fields["vocabulary"] = c
		return err
	}
	return nil
}
