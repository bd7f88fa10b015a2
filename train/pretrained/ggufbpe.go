package pretrained

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"attention/internal/gguf"
	"attention/train/text"
)

// checkAdded returns an error for an added token with properties that llama.cpp ignores: it keeps the blanks beside a
// token, and finds the token within words.
func checkAdded(a text.AddedToken) error {
	for _, flag := range []struct {
		name string
		set  bool
	}{{"lstrip", a.LStrip}, {"rstrip", a.RStrip}, {"single_word", a.SingleWord}} {
		if flag.set {
			return fmt.Errorf("added token %.60q: %s: got true, want false: GGUF has no field for it, and llama.cpp "+
				"would cut texts with the token otherwise", a.Content, flag.name)
		}
	}
	return nil
}

// fillBPE adds the tokens of a byte-pair encoding.
func (v *ggufVocabulary) fillBPE(t *text.SubwordTokenizer) error {
	parts := t.Parts()
	if err := v.fillCut(parts); err != nil {
		return err
	}
	kinds := map[int]int32{}
	for _, a := range parts.Added {
		if err := checkAdded(a); err != nil {
			return err
		}
		kinds[a.ID] = gguf.UserToken
	}
	for id := range t.Len() {
		kind := kinds[id]
		name := t.Token(id)
		switch {
		case name == "":
			name, kind = fmt.Sprintf("[PAD%d]", id), gguf.UnusedToken
		case v.model == "llama" && name == parts.Unknown:
			kind, v.unknown = gguf.UnknownToken, id
		case t.IsSpecial(id), kind == gguf.UserToken && looksSpecial(name), slices.Contains(endings, name):
			kind = gguf.ControlToken
		case kind == 0 && v.model == "llama" && isByteToken(name):
			kind = gguf.ByteToken
		case kind == 0:
			kind = gguf.NormalToken
		}
		v.add(name, kind)
	}
	v.fillMerges(t)
	return v.fillTemplate(t)
}

// fillCut sets how texts are split into words.
func (v *ggufVocabulary) fillCut(parts text.Parts) error {
	change, cut := parts.Normalizer, parts.PreTokenizer
	whole := parts.IgnoreMerges
	for _, c := range gguf.Cuts {
		bytes := c.Pre != ""
		if (change == c.Change || bytes && change == "NFC") && cut == c.Cut && (whole == c.Whole || !bytes) {
			if !bytes && !parts.ByteFallback {
				return errors.New("byte_fallback: got false, want true: llama.cpp writes unknown characters as bytes")
			}
			v.model, v.pre, v.blank = "gpt2", c.Pre, c.Blank
			if !bytes {
				v.model = "llama"
			}
			return nil
		}
	}
	return fmt.Errorf("got the normalizer %.200q, the pre-tokenizer %.200q and ignore_merges %v, want those of GPT-2, "+
		"Llama 2 or 3, Qwen 2, SmolLM, Mistral or Gemma, which llama.cpp has", change, cut, whole)
}

// endings are tokens whose names make llama.cpp treat them as ends of a text or as marks in code.
var endings = []string{"</s>", "<eos>", "<end_of_turn>", "<end_of_utterance>", "<EOT>", "_<EOT>", "[EOT]", "[EOS]",
	"<turn|>", "<|tool_response>", "[e~[", "<fim-prefix>", "<fim_prefix>", "<PRE>", "▁<PRE>", "<fim-suffix>",
	"<fim_suffix>", "<SUF>", "▁<SUF>", "<fim-middle>", "<fim_middle>", "<MID>", "▁<MID>", "<fim-pad>", "<PAD>", "[PAD]",
	"<fim-repo>", "<REPO>", "<reponame>"}

// looksSpecial reports whether an added token is a special one by its name.
func looksSpecial(name string) bool {
	return strings.HasPrefix(name, "<|") && strings.HasSuffix(name, "|>") ||
		strings.HasPrefix(name, "<unused") && strings.HasSuffix(name, ">") || name == "<pad>" || name == "<mask>"
}

// isByteToken reports whether a token is a byte, such as <0x0A>.
func isByteToken(name string) bool {
	var b byte
	n, _ := fmt.Sscanf(name, "<0x%02X>", &b)
	return n == 1 && name == fmt.Sprintf("<0x%02X>", b)
}

// fillMerges sets the merges. A SentencePiece vocabulary gets them as scores of the merged tokens: an earlier merge has
// a higher score.
func (v *ggufVocabulary) fillMerges(t *text.SubwordTokenizer) {
	merges := t.Merges()
	if v.model == "gpt2" {
		for _, pair := range merges {
			v.merges = append(v.merges, pair[0]+" "+pair[1])
		}
		return
	}
	for id := range v.scores {
		v.scores[id] = -float32(len(merges))
	}
	for rank := len(merges) - 1; rank >= 0; rank-- {
		if id, ok := t.ID(merges[rank][0] + merges[rank][1]); ok {
			v.scores[id] = -float32(rank)
		}
	}
}

// fillTemplate sets the tokens that go before and behind a text.
func (v *ggufVocabulary) fillTemplate(t *text.SubwordTokenizer) error {
	const mark = -1
	around := t.WithTemplate([]int{mark})
	for i, id := range around {
		switch {
		case id == mark:
		case i == 0 && around[1] == mark:
			v.begin, v.addsBegin = id, true
		case i == len(around)-1 && around[i-1] == mark:
			v.end, v.addsEnd = id, true
		default:
			return errors.New("post_processor: got several tokens before or behind a text, want at most one each")
		}
	}
	return nil
}
