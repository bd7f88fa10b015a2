package text

import (
	"fmt"
	"slices"
	"strings"
)

// SubwordTokenizer is a byte-pair encoding or WordPiece, with all components of Hugging Face's tokenizer.json:
// normalizers, pre-tokenizers, decoders, added tokens and a template. GPT-2, Llama, Mistral, Qwen, SmolLM and Gemma have
// byte-pair encodings, BERT has WordPiece. The ids are those of Hugging Face's library.
type SubwordTokenizer struct {
	config    TokenizerConfig
	files     map[string]string
	parts     Parts
	tokens    []string // as in the file, by id; "" for an unused id
	ids       map[string]int32
	special   map[int]bool
	changed   map[int]string  // added tokens that the normalizer changes, in decoded form
	raw, done tokenFinder     // added tokens to find in a text, and in a normalized text
	normalize normalizer      // nil if there is none
	bert      *bertNormalizer // if it is the only normalizer
	cut       cutter
	alphabet  alphabet
	pairs     *pairTable
	seams     *seams     // a piece that is a token is used without joining pairs
	whole     bool       // used in place of pairs; nil if there is none
	words     *wordPiece // in place of pairs; nil if there is none
	decoder   pieceDecoder

	template
}

// Len returns V, one more than the largest id.
func (t *SubwordTokenizer) Len() int { return len(t.tokens) }

// Config returns the config with the name GPT2, or TokenizerFile.
func (t *SubwordTokenizer) Config() TokenizerConfig { return t.config }

// Files returns the files from which the tokenizer was read, by their names; GPT-2's own tokenizer has none.
func (t *SubwordTokenizer) Files() map[string][]byte {
	files := map[string][]byte{}
	for name, text := range t.files {
		files[name] = []byte(text)
	}
	return files
}

// ID returns the id of a token as the file writes it, such as "<|im_end|>" or "Ġthe".
func (t *SubwordTokenizer) ID(token string) (id int, ok bool) {
	n, ok := t.ids[token]
	return int(n), ok
}

// Token returns the token with an id as the file writes it, "" if there is none.
func (t *SubwordTokenizer) Token(id int) string {
	if id < 0 || id >= len(t.tokens) {
		return ""
	}
	return t.tokens[id]
}

// Merges returns the pairs of tokens that are joined, as in the file, the pair with the highest priority first.
func (t *SubwordTokenizer) Merges() [][2]string {
	var slots []pairSlot
	for _, s := range t.pairs.slots {
		if s.left > 0 {
			slots = append(slots, s)
		}
	}
	slices.SortFunc(slots, func(a, b pairSlot) int { return int(a.rank - b.rank) })
	merges := make([][2]string, len(slots))
	for i, s := range slots {
		merges[i] = [2]string{t.tokens[s.left-1], t.tokens[s.right]}
	}
	return merges
}

// IsSpecial reports whether an id belongs to a special token, which is not text: it begins or ends a text, or a turn of
// a conversation.
func (t *SubwordTokenizer) IsSpecial(id int) bool { return t.special[id] }

// Encode returns the ids of text. text must be UTF-8; otherwise the error names the first wrong byte and its offset.
// Added tokens in the text, such as "<|endoftext|>", become their own ids wherever the text comes from, as in Hugging
// Face's library. Encode does not apply the template (see WithTemplate). EncodeTexts returns pairs and places, too.
func (t *SubwordTokenizer) Encode(text string) ([]int, error) {
	e := encoder{SubwordTokenizer: t, joiner: joiner{pairs: t.pairs}, ids: make([]int, 0, len(text)/3)}
	err := e.text(text)
	return e.ids, err
}

// WithTemplate returns ids with the ids that the template puts before and after a text, such as Llama's <s>. Do not
// call it for the text of a chat template, which already contains these tokens.
func (t *SubwordTokenizer) WithTemplate(ids []int) []int {
	all := make([]int, 0, len(t.before)+len(ids)+len(t.after))
	return append(append(append(all, t.before...), ids...), t.after...)
}

// Decode returns the text of ids as the beginning of a text. It is not UTF-8 if the ids end within a character. The
// text includes special tokens. To decode ids that follow others, use a Decoder. The error for an id outside [0, V)
// names it and its position.
func (t *SubwordTokenizer) Decode(ids []int) (string, error) {
	var text strings.Builder
	state := t.decoder.begin()
	for i, id := range ids {
		if err := checkID(i, id, t.Len()); err != nil {
			return "", err
		}
		text.WriteString(t.decodeNext(&state, id))
	}
	return text.String(), nil
}

// decodeNext returns the bytes that an id adds to a text.
func (t *SubwordTokenizer) decodeNext(state *decoding, id int) string {
	if t.tokens[id] == "" {
		return ""
	}
	if changed, ok := t.changed[id]; ok {
		return t.decoder.text(state, changed)
	}
	return t.decoder.text(state, t.tokens[id])
}

// encoder encodes one text.
type encoder struct {
	*SubwordTokenizer
	joiner  joiner
	ids     []int
	known   map[string][2]int // pieces that have been encoded, and the indices of their ids
	symbols []int32
	letters []byte
	places  *places // of the ids; nil if they are not wanted
}

// text encodes a whole text.
func (e *encoder) text(text string) error {
	if err := checkUTF8(text); err != nil {
		return fmt.Errorf("text: %w", err)
	}
	err := e.raw.split(text, func(start, end int, token *AddedToken) error {
		if token != nil {
			e.ids = append(e.ids, token.ID)
			e.places.add(span{start, end})
			return nil
		}
		return e.normal(part{text[start:end], start})
	})
	if err != nil {
		return fmt.Errorf("text: tokenizer: %w", err)
	}
	return nil
}

// normal encodes a text without added tokens of the kind that is matched before normalization.
func (e *encoder) normal(p part) error {
	text, piece := p.text, e.piece
	switch {
	case e.places != nil:
		text = e.places.normalize(p)
		piece = e.placed
	case e.normalize != nil:
		var err error
		if text, err = e.normalize(text); err != nil {
			return err
		}
	}
	return e.done.split(text, func(start, end int, token *AddedToken) error {
		if token != nil {
			e.ids = append(e.ids, token.ID)
			e.places.add(e.places.of(p.at+start, p.at+end))
			return nil
		}
		return e.cut.cut(part{text[start:end], p.at + start}, piece)
	})
}

// The largest size of a cached piece in bytes, and the largest number of cached pieces.
const (
	longKnown = 64
	mostKnown = 1 << 17
)

// piece encodes a part of a text.
func (e *encoder) piece(p part) error {
	if len(p.text) <= longKnown {
		e.short(p.text)
		return nil
	}
	if e.whole && e.token(p.text) {
		return nil
	}
	if e.seams == nil {
		e.join(p.text)
		return nil
	}
	e.seams.cut(p.text, func(text string) {
		if len(text) <= longKnown {
			e.short(text)
		} else {
			e.join(text)
		}
	})
	return nil
}

// short encodes a piece that may be in the cache.
func (e *encoder) short(text string) {
	if at, ok := e.known[text]; ok {
		e.ids = append(e.ids, e.ids[at[0]:at[1]]...)
		return
	}
	begin := len(e.ids)
	if !e.whole || !e.token(text) {
		e.join(text)
	}
	if e.known == nil {
		e.known = map[string][2]int{}
	}
	if len(e.known) < mostKnown {
		e.known[text] = [2]int{begin, len(e.ids)}
	}
}

// token adds the id of a piece that is a token and reports whether it is.
func (e *encoder) token(text string) bool {
	e.letters = append(e.letters[:0], text...)
	if e.alphabet.bytes != nil {
		e.letters = appendLetters(e.letters[:0], text)
	}
	id, ok := e.SubwordTokenizer.ids[string(e.letters)]
	if ok {
		e.ids = append(e.ids, int(id))
	}
	return ok
}

// join adds the tokens that result from joining the pairs of a piece.
func (e *encoder) join(text string) {
	if e.words != nil {
		e.ids = e.words.append(e.ids, text)
		return
	}
	e.symbols = e.alphabet.append(e.symbols[:0], text)
	e.ids = e.joiner.append(e.ids, e.symbols)
}
