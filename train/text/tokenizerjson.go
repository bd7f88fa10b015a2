package text

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// The largest numbers of a tokenizer's ids and pairs, of bytes of its added tokens, of parts of a Sequence, and of
// nested Sequences. Gemma 3 has 262,144 ids, 514,906 pairs and 6,415 added tokens.
const (
	mostIDs   = 1 << 21
	mostPairs = 1 << 21
	mostAdded = 1 << 20
	mostParts = 64
	mostDeep  = 8
)

// tokenizerJSON is the content of a tokenizer.json, except parts that do not affect ids.
type tokenizerJSON struct {
	model                                            modelJSON
	added                                            []AddedToken
	normalizer, preTokenizer, postProcessor, decoder jsontext.Value
}

// readTokenizerJSON reads a tokenizer.json.
func readTokenizerJSON(text string) (t tokenizerJSON, err error) {
	r := newJSONReader(text)
	err = r.fields(map[string]func() error{
		"version": r.skip, "truncation": r.skip, "padding": r.skip,
		"added_tokens": r.to(&t.added),
		"normalizer":   r.raw(&t.normalizer), "pre_tokenizer": r.raw(&t.preTokenizer),
		"post_processor": r.raw(&t.postProcessor), "decoder": r.raw(&t.decoder),
		"model": func() error { return t.model.read(r) },
	})
	if err == io.EOF {
		err = errors.New("got an empty file, want an object")
	}
	if err != nil {
		return t, err
	}
	if rest := strings.TrimSpace(text[r.InputOffset():]); len(rest) > 0 {
		return t, fmt.Errorf("got %.20q after the object, want its end", rest)
	}
	if t.model.tokens == nil {
		return t, fmt.Errorf("got no model with a vocab, want one")
	}
	return t, nil
}
