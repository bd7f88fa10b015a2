package text

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"attention/internal/gguf"
)

// A GGUF file replaces the tokenizer.json and the tokenizer_config.json of a model's folder.

// ggufTokens is a tokenizer in the form of a GGUF file.
type ggufTokens struct {
	model, pre string // llama: SentencePiece; gpt2: byte-pair encoding that splits words by one of gguf.Cuts
	tokens     []string
	kinds      []int32   // types of the tokens; nil if all are normal
	merges     []string  // of gpt2
	scores     []float32 // of llama
	blank      bool      // with llama: whether a blank is put before a text
	begins     bool      // whether a text gets the token that begins one
	ends       bool      // and the token that ends one
	bos, eos   int       // ids of the two; −1 if there are none
	template   string    // template of conversations; "" if there is none
}

// readGGUF reads the tokenizer of a file.
func readGGUF(path string) (*ggufTokens, error) {
	f, err := gguf.Open(path)
	if err != nil {
		return nil, err
	}
	const key = "tokenizer.ggml."
	of := &ggufTokens{blank: true, bos: -1, eos: -1}
	if err := cmp.Or(gguf.Get(f, key+"model", &of.model), gguf.Get(f, key+"pre", &of.pre)); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	cut, _ := gguf.CutOf(of.pre)
	of.begins = cut.Begins
	if of.model == "llama" {
		of.begins, of.bos, of.eos = true, 1, 2
	}
	err = cmp.Or(gguf.Get(f, key+"tokens", &of.tokens), gguf.Get(f, key+"token_type", &of.kinds),
		gguf.Get(f, key+"merges", &of.merges), gguf.Get(f, key+"scores", &of.scores),
		gguf.Get(f, key+"add_space_prefix", &of.blank), gguf.Get(f, key+"add_bos_token", &of.begins),
		gguf.Get(f, key+"add_eos_token", &of.ends), gguf.Get(f, key+"bos_token_id", &of.bos),
		gguf.Get(f, key+"eos_token_id", &of.eos), gguf.Get(f, "tokenizer.chat_template", &of.template))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return of, nil
}

// openGGUF returns the tokenizer of a file.
func openGGUF(path string) (*SubwordTokenizer, error) {
	of, err := readGGUF(path)
	if err != nil {
		return nil, err
	}
	file, err := of.tokenizerJSON()
	if err == nil {
		var t *SubwordTokenizer
		if t, err = ReadTokenizer(file); err == nil {
			return t, nil
		}
	}
	return nil, fmt.Errorf("%s: tokenizer: %w", path, err)
}

// tokenizerJSON returns the tokenizer.json.
func (g *ggufTokens) tokenizerJSON() ([]byte, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	vocab, added := map[string]int{}, []object{}
	for id, token := range g.tokens {
		kind := int32(gguf.NormalToken)
		if g.kinds != nil {
			kind = g.kinds[id]
		}
		if kind == gguf.UnusedToken && token == fmt.Sprintf("[PAD%d]", id) || token == "" {
			continue
		}
		if before, taken := vocab[token]; taken {
			return nil, fmt.Errorf("token %.100q comes twice, with ids %d and %d", token, before, id)
		}
		vocab[token] = id
		if kind == gguf.ControlToken || kind == gguf.UserToken || kind == gguf.UnknownToken {
			added = append(added, object{"id": id, "content": token, "single_word": false, "lstrip": false, "rstrip": false,
				"normalized": false, "special": kind != gguf.UserToken})
		}
	}
	model := bpeJSON(vocab, g.merges)
	all := wholeJSON(object{"added_tokens": added, "model": model, "post_processor": g.around()})
	if g.model == "llama" {
		merges, err := g.merged(vocab)
		if err != nil {
			return nil, err
		}
		model["merges"], model["byte_fallback"], model["fuse_unk"] = merges, true, true
		if id := slices.Index(g.kinds, gguf.UnknownToken); id >= 0 {
			model["unk_token"] = g.tokens[id]
		}
		all["normalizer"], all["decoder"] = g.blanks()
		return json.Marshal(all)
	}
	cut, _ := gguf.CutOf(g.pre)
	model["ignore_merges"] = cut.Whole
	all["pre_tokenizer"], all["decoder"] = partsOf(cut.Cut), byteLevelPart(true)
	return json.Marshal(all)
}

// check returns an error for a tokenizer that is not supported.
func (g *ggufTokens) check() error {
	switch _, known := gguf.CutOf(g.pre); {
	case g.model != "gpt2" && g.model != "llama":
		return fmt.Errorf("tokenizer.ggml.model: got %.60q, want gpt2 or llama: other models of tokens are not read", g.model)
	case g.model == "gpt2" && !known:
		return fmt.Errorf("tokenizer.ggml.pre: got %.60q, which is not known, want a way to cut texts such as gpt-2, "+
			"llama-bpe, qwen2, smollm, dbrx or tekken", g.pre)
	case len(g.tokens) > mostIDs:
		return fmt.Errorf("tokenizer.ggml.tokens: got %d, want at most %d", len(g.tokens), mostIDs)
	case g.kinds != nil && len(g.kinds) != len(g.tokens):
		return fmt.Errorf("tokenizer.ggml.token_type: got %d, want one for each of the %d tokens", len(g.kinds), len(g.tokens))
	case g.model == "llama" && len(g.scores) != len(g.tokens):
		return fmt.Errorf("tokenizer.ggml.scores: got %d, want one for each of the %d tokens", len(g.scores), len(g.tokens))
	}
	for id, token := range g.tokens {
		if len(token) > mostToken || !utf8.ValidString(token) {
			return fmt.Errorf("tokenizer.ggml.tokens: token %d: got %.60q, want UTF-8 of at most %d bytes", id, token, mostToken)
		}
	}
	return nil
}

// mostToken is the largest number of bytes of a token, mostSplitting the largest number of bytes that merged reads.
const mostToken, mostSplitting = 1 << 10, 1 << 28

// partsOf returns a pre-tokenizer of gguf.Cuts as JSON.
func partsOf(cut string) object {
	level := byteLevelPart(true)
	first, ok := strings.CutSuffix(cut, ", ByteLevel")
	switch {
	case ok:
		level["use_regex"] = false
		return object{"type": "Sequence", "pretokenizers": []object{{"type": "Split", "pattern": object{"Regex": first},
			"behavior": "Isolated", "invert": false}, level}}
	case strings.HasPrefix(cut, "Digits, "):
		return object{"type": "Sequence", "pretokenizers": []object{{"type": "Digits", "individual_digits": true}, level}}
	}
	return level
}

// around returns the template that puts tokens before and behind a text; nil if there are none.
func (g *ggufTokens) around() any {
	single, special := []object{{"Sequence": object{"id": "A", "type_id": 0}}}, object{}
	token := func(is bool, id int) []object {
		if !is || g.name(id) == "" {
			return nil
		}
		special[g.name(id)] = object{"id": g.name(id), "ids": []int{id}, "tokens": []string{g.name(id)}}
		return []object{{"SpecialToken": object{"id": g.name(id), "type_id": 0}}}
	}
	single = slices.Concat(token(g.begins, g.bos), single, token(g.ends, g.eos))
	if len(single) == 1 {
		return nil
	}
	return object{"type": "TemplateProcessing", "single": single, "pair": single, "special_tokens": special}
}

// name returns the token with an id, "" if there is none.
func (g *ggufTokens) name(id int) string {
	if id < 0 || id >= len(g.tokens) {
		return ""
	}
	return g.tokens[id]
}

// blanks returns the normalizer, which replaces blanks by SentencePiece's mark, and the decoder, which does the
// reverse.
func (g *ggufTokens) blanks() (normalizer, decoder object) {
	replace := func(old, by string) object {
		return object{"type": "Replace", "pattern": object{"String": old}, "content": by}
	}
	normalizer = replace(" ", "▁")
	decoders := []object{replace("▁", " "), {"type": "ByteFallback"}, {"type": "Fuse"}}
	if g.blank {
		normalizer = object{"type": "Sequence", "normalizers": []object{{"type": "Prepend", "prepend": "▁"}, normalizer}}
		decoders = append(decoders, object{"type": "Strip", "content": " ", "start": 1, "stop": 0})
	}
	return normalizer, object{"type": "Sequence", "decoders": decoders}
}

// merged returns the pairs of tokens that make other tokens, in the order of the scores of these tokens, the highest
// first. SentencePiece has no list of pairs: it joins two tokens if the result is one.
func (g *ggufTokens) merged(vocab map[string]int) (merges [][2]string, err error) {
	work := 0
	for _, token := range g.tokens {
		if _, ok := vocab[token]; !ok {
			continue
		}
		if work += len(token) * len(token); work > mostSplitting {
			return nil, fmt.Errorf("tokenizer.ggml.tokens: got a sum of %d of their squared lengths, want at most %d", work,
				mostSplitting)
		}
		for at := range token {
			_, left := vocab[token[:at]]
			_, right := vocab[token[at:]]
			if !left || !right {
				continue
			}
			if merges = append(merges, [2]string{token[:at], token[at:]}); len(merges) > mostPairs {
				return nil, fmt.Errorf("tokenizer.ggml.tokens: got more than %d pairs of tokens that make others, want fewer",
					mostPairs)
			}
		}
	}
	score := func(pair [2]string) float32 { return g.scores[vocab[pair[0]+pair[1]]] }
	slices.SortStableFunc(merges, func(a, b [2]string) int {
		return cmp.Or(cmp.Compare(score(b), score(a)), cmp.Compare(len(b[0]), len(a[0])))
	})
	return merges, nil
}

// readGGUFTemplate returns the template of conversations of a file, with its tokens.
func readGGUFTemplate(path string) (c templateConfig, err error) {
	of, err := readGGUF(path)
	if err == nil {
		c = templateConfig{File: of.template, BOS: specialToken(of.name(of.bos)), EOS: specialToken(of.name(of.eos))}
	}
	return c, err
}
