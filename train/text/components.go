package text

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// component is a normalizer, a pre-tokenizer, a post-processor or a decoder of a tokenizer.json: its type and the
// fields that some type has.
type component struct {
	Type             string           `json:"type"`
	Normalizers      []jsontext.Value `json:"normalizers"`
	Pretokenizers    []jsontext.Value `json:"pretokenizers"`
	Decoders         []jsontext.Value `json:"decoders"`
	Processors       []jsontext.Value `json:"processors"`
	Pattern          patternJSON      `json:"pattern"`
	Content          string           `json:"content"`
	Prepend          string           `json:"prepend"`
	StripLeft        bool             `json:"strip_left"`
	StripRight       bool             `json:"strip_right"`
	Behavior         behavior         `json:"behavior"`
	Invert           bool             `json:"invert"`
	IndividualDigits bool             `json:"individual_digits"`
	CleanText        *bool            `json:"clean_text"`
	ChineseChars     *bool            `json:"handle_chinese_chars"`
	StripAccents     *bool            `json:"strip_accents"`
	Lowercase        *bool            `json:"lowercase"`
	Prefix           string           `json:"prefix"`
	Cleanup          bool             `json:"cleanup"`
	AddPrefixSpace   *bool            `json:"add_prefix_space"`
	TrimOffsets      bool             `json:"trim_offsets"`
	UseRegex         *bool            `json:"use_regex"`
	Replacement      string           `json:"replacement"`
	StrRep           string           `json:"str_rep"`
	PrependScheme    string           `json:"prepend_scheme"`
	Split            *bool            `json:"split"`
	Start            int              `json:"start"`
	Stop             int              `json:"stop"`
	Single           []templatePiece  `json:"single"`
	Pair             jsontext.Value   `json:"pair"`
	SpecialTokens    map[string]struct {
		ID     string   `json:"id"`
		IDs    []int    `json:"ids"`
		Tokens []string `json:"tokens"`
	} `json:"special_tokens"`
}

// templatePiece is a special token of a template, or the text.
type templatePiece struct {
	SpecialToken, Sequence *struct {
		ID     string `json:"id"`
		TypeID int    `json:"type_id"`
	}
}

// patternJSON is a string or a regular expression.
type patternJSON struct{ String, Regex *string }

// matches returns a function that finds the matches of the pattern.
func (p patternJSON) matches() (matches, error) {
	switch {
	case p.String != nil && p.Regex == nil:
		return literalMatches(*p.String), nil
	case p.Regex != nil && p.String == nil:
		return expressionMatches(*p.Regex)
	}
	return nil, fmt.Errorf("pattern: got none, want a String or a Regex")
}

// readComponents reads a component that may be a Sequence. For null it yields nothing. parts returns the list of a
// Sequence.
func readComponents(value jsontext.Value, parts func(component) []jsontext.Value, deep int,
	yield func(component) error) error {
	if len(value) == 0 || value.Kind() == 'n' {
		return nil
	}
	var c component
	if err := json.Unmarshal(value, &c, json.RejectUnknownMembers(true)); err != nil {
		return err
	}
	if c.Type != "Sequence" {
		return yield(c)
	}
	if deep == mostDeep || len(parts(c)) > mostParts {
		return fmt.Errorf("got more than %d Sequences in each other or %d parts of one, want fewer", mostDeep, mostParts)
	}
	for _, part := range parts(c) {
		if err := readComponents(part, parts, deep+1, yield); err != nil {
			return err
		}
	}
	return nil
}

// unsupported returns the error for a type of component.
func unsupported(got, want string) error {
	return fmt.Errorf("got type %.100q, want one of %s", got, want)
}
