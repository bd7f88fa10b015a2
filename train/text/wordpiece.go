package text

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// wordPiece is WordPiece (Schuster and Nakajima 2012) as in BERT: a word becomes the longest token at its beginning,
// then the longest token that continues it, and so on. A continuing token is written with the prefix ##. A word that
// cannot be split in this way becomes one unknown token.
type wordPiece struct {
	unknown int
	prefix  string
	most    int         // the most characters of a word that is cut
	begin   tokenFinder // tokens that continue a word, without their prefix
	goOn    tokenFinder // tokens that go on, without their prefix
}

// wordPiece returns the model of a tokenizer.json.
func (m *modelJSON) wordPiece() (*wordPiece, error) {
	unknown, ok := m.ids[m.unknown]
	if !ok {
		return nil, fmt.Errorf("unk_token: got %.100q, want a token of the vocabulary", m.unknown)
	}
	w := &wordPiece{unknown: int(unknown), prefix: m.prefix, most: m.mostLetters}
	for id, token := range m.tokens {
		w.begin.add(AddedToken{ID: id}, token)
		if len(token) > len(m.prefix) && token[:len(m.prefix)] == m.prefix {
			w.goOn.add(AddedToken{ID: id}, token[len(m.prefix):])
		}
	}
	return w, nil
}

// append adds the tokens of a word.
func (w *wordPiece) append(ids []int, word string) []int {
	begin := len(ids)
	if len(word) > w.most && utf8.RuneCountInString(word) > w.most {
		return append(ids, w.unknown)
	}
	for at, of := 0, &w.begin; at < len(word); of = &w.goOn {
		t, n := of.longest(word[at:])
		if t == nil {
			return append(ids[:begin], w.unknown)
		}
		ids, at = append(ids, t.ID), at+n
	}
	return ids
}

// clean lists the blanks that BERT's decoder removes from a token, in this order.
var clean = [][2]string{{" .", "."}, {" ?", "?"}, {" !", "!"}, {" ,", ","}, {" ' ", "'"}, {" n't", "n't"}, {" 'm", "'m"},
	{" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}}

// wordPieceText puts a blank before each token except the first one and tokens that continue a word.
func wordPieceText(prefix string, cleanup bool) func(token string, first bool) string {
	return func(token string, first bool) string {
		if !first {
			if rest, ok := strings.CutPrefix(token, prefix); ok {
				token = rest
			} else {
				token = " " + token
			}
		}
		if cleanup {
			for _, pair := range clean {
				token = strings.ReplaceAll(token, pair[0], pair[1])
			}
		}
		return token
	}
}
