package text

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// modelJSON is the model of a tokenizer.json.
type modelJSON struct {
	kind                         string // BPE or WordPiece; "" is BPE
	prefix                       string // prefix of a WordPiece token that continues a word
	mostLetters                  int    // longest word that WordPiece splits, in characters
	unknown                      string
	fuse, fallback, ignoreMerges bool
	tokens                       []string // tokens by id; "" for an unused id
	ids                          map[string]int32
	merges                       [][2]string
	table                        *pairTable // table of merges; nil until it is needed
}

// read reads a model.
func (m *modelJSON) read(r jsonReader) error {
	none := func() error { // a missing option
		value, err := r.ReadValue()
		if err == nil && !slices.Contains([]string{"null", `""`, "0", "0.0"}, string(value)) {
			err = fmt.Errorf("got %.100s, want null", value)
		}
		return err
	}
	err := r.fields(map[string]func() error{
		"type":      func() error { return m.readKind(r) },
		"unk_token": r.to(&m.unknown), "fuse_unk": r.to(&m.fuse), "byte_fallback": r.to(&m.fallback),
		"ignore_merges": r.to(&m.ignoreMerges),
		"dropout":       none, "end_of_word_suffix": none,
		"continuing_subword_prefix": r.to(&m.prefix), "max_input_chars_per_word": r.to(&m.mostLetters),
		"unk_id": func() error { return fmt.Errorf("belongs to a Unigram model, want one of type BPE") },
		"vocab":  func() error { return m.readVocab(r) },
		"merges": func() error { return m.readMerges(r) },
	})
	if m.kind == wordPieceKind {
		m.prefix, m.mostLetters = cmp.Or(m.prefix, "##"), cmp.Or(m.mostLetters, 100)
		return err
	}
	if err == nil && (m.prefix != "" || m.mostLetters != 0) {
		err = fmt.Errorf("got continuing_subword_prefix %.100q and max_input_chars_per_word %d with type BPE, want neither",
			m.prefix, m.mostLetters)
	}
	return err
}

// wordPieceKind is the type of BERT's models.
const wordPieceKind = "WordPiece"

// readKind reads the type of a model.
func (m *modelJSON) readKind(r jsonReader) (err error) {
	if m.kind, err = r.string(); err == nil && m.kind != "BPE" && m.kind != wordPieceKind {
		err = fmt.Errorf("got %.100q, want BPE or %s: other models of tokens are not supported", m.kind, wordPieceKind)
	}
	return err
}

// readVocab reads the ids of tokens.
func (m *modelJSON) readVocab(r jsonReader) error {
	if r.PeekKind() == '[' {
		return fmt.Errorf("got a list, as Unigram models have it, want an object as of type BPE")
	}
	m.tokens, m.ids = []string{}, make(map[string]int32, 1+len(r.text)/80)
	return r.members(func(token string) error {
		value, err := r.ReadValue()
		if err != nil {
			return err
		}
		id, digits := 0, value
		for ; len(digits) > 0 && digits[0] >= '0' && digits[0] <= '9' && id < mostIDs; digits = digits[1:] {
			id = id*10 + int(digits[0]-'0')
		}
		if len(digits) > 0 || id >= mostIDs {
			return fmt.Errorf("%.100q: got id %.20s, want 0 to %d", token, value, mostIDs-1)
		}
		return m.add(token, id)
	})
}

// add adds a token to the vocabulary.
func (m *modelJSON) add(token string, id int) error {
	if before, ok := m.ids[token]; ok {
		return fmt.Errorf("token %.100q comes twice, with ids %d and %d", token, before, id)
	}
	for len(m.tokens) <= id {
		m.tokens = append(m.tokens, "")
	}
	if m.tokens[id] != "" {
		return fmt.Errorf("id %d comes twice, of tokens %.100q and %.100q", id, m.tokens[id], token)
	}
	m.tokens[id], m.ids[token] = token, int32(id)
	return nil
}

// readMerges reads the pairs of tokens that are joined, in order, each as "a b" or ["a", "b"].
func (m *modelJSON) readMerges(r jsonReader) error {
	if err := r.open('[', "a list"); err != nil {
		return err
	}
	for r.PeekKind() == '"' || r.PeekKind() == '[' {
		pair, err := r.pair()
		if err != nil {
			return err
		}
		if err := m.addMerge(pair); err != nil {
			return err
		}
	}
	return r.close(']', "a merge, as a string or a list")
}

// addMerge adds a pair.
func (m *modelJSON) addMerge(pair [2]string) error {
	if len(m.merges) == mostPairs {
		return fmt.Errorf("got more than %d pairs, want fewer", mostPairs)
	}
	m.merges = append(m.merges, pair)
	return nil
}

// cutMerge returns the two tokens of a merge that is written as one text.
func cutMerge(merge string) (pair [2]string, err error) {
	left, right, ok := strings.Cut(merge, " ")
	if !ok || strings.Contains(right, " ") {
		return pair, fmt.Errorf("got merge %.100q, want two tokens with a blank between them", merge)
	}
	return [2]string{left, right}, nil
}

// pairs returns the table of merges.
func (m *modelJSON) pairs() (*pairTable, error) {
	if m.table != nil {
		return m.table, nil
	}
	table := newPairTable(len(m.merges))
	joined, made := int32(0), false
	for rank, merge := range m.merges {
		left, ok := m.ids[merge[0]]
		right, and := m.ids[merge[1]]
		if joined, made = m.joined(merge, joined+1); !ok || !and || !made {
			return nil, fmt.Errorf("model: merges: got %.100q and %.100q at %d, want tokens of the vocabulary that make another",
				merge[0], merge[1], rank)
		}
		table.set(left, right, int32(rank), joined)
	}
	return table, nil
}

// joined returns the id of the token that a pair makes. Often it is one more than the id that the pair before makes.
func (m *modelJSON) joined(merge [2]string, next int32) (id int32, ok bool) {
	if int(next) < len(m.tokens) {
		token, n := m.tokens[next], len(merge[0])
		if len(token) == n+len(merge[1]) && token[:n] == merge[0] && token[n:] == merge[1] {
			return next, true
		}
	}
	id, ok = m.ids[merge[0]+merge[1]]
	return id, ok
}

// alphabet returns the symbols of a model, either bytes or characters.
func (m *modelJSON) alphabet(ofBytes bool) (a alphabet, err error) {
	a = alphabet{unknown: noToken, fuse: m.fuse}
	if m.unknown != "" {
		id, ok := m.ids[m.unknown]
		if !ok {
			return a, fmt.Errorf("model: unk_token: got %.100q, want a token of the vocabulary", m.unknown)
		}
		a.unknown = id
	}
	token := func(name string) int32 {
		if id, ok := m.ids[name]; ok {
			return id
		}
		return noToken
	}
	if ofBytes {
		a.bytes = new([256]int32)
		for b, r := range byteLetters {
			a.bytes[b] = token(string(r))
		}
		return a, nil
	}
	if m.fallback {
		a.fallback = new([256]int32)
		for b := range a.fallback {
			a.fallback[b] = token(fmt.Sprintf("<0x%02X>", b))
		}
	}
	for id, name := range m.tokens {
		if r, n := utf8.DecodeRuneInString(name); n > 0 && n == len(name) {
			for len(a.runes) <= int(r) {
				a.runes = append(a.runes, noToken)
			}
			a.runes[r] = int32(id)
		}
	}
	return a, nil
}
