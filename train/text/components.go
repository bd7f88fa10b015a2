package text

import (
	"cmp"
	"fmt"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"
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

// matches returns where the pattern matches.
func (p patternJSON) matches() (matches, error) {
	switch {
	case p.String != nil && p.Regex == nil:
		return literalMatches(*p.String), nil
	case p.Regex != nil && p.String == nil:
		return expressionMatches(*p.Regex)
	}
	return nil, fmt.Errorf("pattern: got none, want a String or a Regex")
}

// readComponents reads a component that may be a Sequence; of null there is none. parts returns the list of a Sequence.
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

// readNormalizer returns the normalizer of a tokenizer.json; nil if there is none.
func readNormalizer(value jsontext.Value) (normalizer, error) {
	var all []normalizer
	err := readComponents(value, func(c component) []jsontext.Value { return c.Normalizers }, 0, func(c component) error {
		n, err := c.normalizer()
		all = append(all, n)
		return err
	})
	if len(all) == 0 || err != nil {
		return nil, err
	}
	return inOrder(all), nil
}

func (c component) normalizer() (normalizer, error) {
	switch c.Type {
	case "NFC":
		return normalForm(norm.NFC), nil
	case "NFD":
		return normalForm(norm.NFD), nil
	case "NFKC":
		return normalForm(norm.NFKC), nil
	case "NFKD":
		return normalForm(norm.NFKD), nil
	case "Lowercase":
		return always(lowercase), nil
	case "Strip":
		return strip(c.StripLeft, c.StripRight), nil
	case "Prepend":
		return prepend(c.Prepend), nil
	case "Replace":
		at, err := c.Pattern.matches()
		return replace(at, c.Content), err
	}
	return nil, unsupported(c.Type, "Sequence, NFC, NFD, NFKC, NFKD, Lowercase, Strip, Prepend, Replace")
}

// readPreTokenizer returns the cutter of a tokenizer.json, and whether the model is one of bytes.
func readPreTokenizer(value jsontext.Value) (all sequence, bytes bool, err error) {
	err = readComponents(value, func(c component) []jsontext.Value { return c.Pretokenizers }, 0, func(c component) error {
		if bytes {
			return fmt.Errorf("got %s after ByteLevel, want ByteLevel at the end", c.Type)
		}
		bytes = c.Type == "ByteLevel"
		cut, err := c.cutter()
		all = append(all, cut)
		return err
	})
	return all, bytes, err
}

func (c component) cutter() (cutter, error) {
	switch c.Type {
	case "ByteLevel":
		level := byteLevel{prefix: c.AddPrefixSpace == nil || *c.AddPrefixSpace}
		if c.UseRegex == nil || *c.UseRegex {
			known, _ := words(gpt2Pattern)
			level.words = &wordCutter{alternatives: known}
		}
		return level, nil
	case "Split":
		return c.splitter()
	case "Digits":
		b := contiguous
		if c.IndividualDigits {
			b = isolated
		}
		return splitter{b, false, charactersThat(unicode.IsNumber)}, nil
	case "Punctuation":
		return splitter{cmp.Or(c.Behavior, isolated), false, charactersThat(isPunctuation)}, checkBehavior(c.Behavior)
	case "Whitespace":
		return splitter{removed, true, wordsAndSigns}, nil
	case "Metaspace":
		prefix, err := c.prefix()
		return metaspace{blank: c.Replacement, always: prefix == "always", once: prefix == "first",
			split: c.Split == nil || *c.Split}, err
	}
	return nil, unsupported(c.Type, "Sequence, Split, Digits, ByteLevel, Metaspace, Punctuation, Whitespace")
}

// splitter returns the cutter of a Split. Known patterns are scanned by hand.
func (c component) splitter() (cutter, error) {
	if err := checkBehavior(c.Behavior); err != nil {
		return nil, err
	}
	if c.Pattern.Regex != nil && c.Pattern.String == nil && (c.Behavior == isolated || c.Behavior == removed && c.Invert) {
		if known, ok := words(*c.Pattern.Regex); ok {
			return wordCutter{known, c.Behavior == removed}, nil
		}
	}
	at, err := c.Pattern.matches()
	return splitter{c.Behavior, c.Invert, at}, err
}

// checkBehavior refuses what is no behavior; "" is the default.
func checkBehavior(b behavior) error {
	switch b {
	case "", removed, isolated, mergedWithPrevious, mergedWithNext, contiguous:
		return nil
	}
	return fmt.Errorf("behavior: got %.100q, want one of %s, %s, %s, %s, %s", string(b), removed, isolated,
		mergedWithPrevious, mergedWithNext, contiguous)
}

// prefix returns where Metaspace puts its character before a text.
func (c component) prefix() (string, error) {
	if !oneCharacter(c.Replacement) {
		return "", fmt.Errorf("replacement: got %.100q, want one character", c.Replacement)
	}
	switch scheme := cmp.Or(c.PrependScheme, "always"); scheme {
	case "always", "first", "never":
		if c.AddPrefixSpace != nil && !*c.AddPrefixSpace && c.PrependScheme == "" {
			return "never", nil
		}
		return scheme, nil
	}
	return "", fmt.Errorf("prepend_scheme: got %.100q, want one of always, first, never", c.PrependScheme)
}

// readDecoder returns the decoder of a tokenizer.json.
func readDecoder(value jsontext.Value) (d pieceDecoder, err error) {
	if len(value) == 0 || value.Kind() == 'n' {
		return pieceDecoder{between: " "}, nil
	}
	fused := false
	err = readComponents(value, func(c component) []jsontext.Value { return c.Decoders }, 0, func(c component) error {
		if fused {
			return d.addFused(c)
		}
		fused = c.Type == "Fuse" || c.Type == "ByteLevel"
		return d.add(c)
	})
	return d, err
}

// add adds a decoder that looks at each token.
func (d *pieceDecoder) add(c component) error {
	switch c.Type {
	case "Fuse":
	case "ByteLevel":
		d.each = append(d.each, func(token string, _ bool) string { return string(appendBytes(nil, token)) })
	case "ByteFallback":
		d.each = append(d.each, byteToken)
	case "Metaspace":
		prefix, err := c.prefix()
		d.each = append(d.each, metaspaceText(c.Replacement, prefix != "never"))
		return err
	case "Strip":
		if !oneCharacter(c.Content) || c.Start < 0 || c.Stop < 0 {
			return fmt.Errorf("Strip: got content %.100q, start %d and stop %d, want a character and numbers of it",
				c.Content, c.Start, c.Stop)
		}
		d.each = append(d.each, trimmed(c.Content, c.Start, c.Stop))
	case "Replace":
		at, err := c.Pattern.matches()
		change := replace(at, c.Content)
		d.each = append(d.each, func(token string, _ bool) string {
			if changed, err := change(token); err == nil {
				return changed
			}
			return token
		})
		return err
	default:
		return unsupported(c.Type, "Sequence, ByteLevel, Metaspace, Replace, ByteFallback, Fuse, Strip")
	}
	return nil
}

// addFused adds a decoder that looks at the whole text.
func (d *pieceDecoder) addFused(c component) error {
	switch {
	case c.Type == "Fuse":
		return nil
	case c.Type == "Strip" && d.trim == "" && oneCharacter(c.Content) && min(c.Start, c.Stop) >= 0:
		d.trim, d.left, d.right = c.Content, c.Start, c.Stop
		return nil
	case c.Type == "Replace" && d.trim == "" && c.Pattern.String != nil && oneCharacter(*c.Pattern.String):
		return d.add(c)
	}
	return fmt.Errorf("got %.100s of the whole text, want one Strip, or Replace of a character before it", c.Type)
}

// readTemplate returns the ids that a tokenizer.json puts before and after a text.
func readTemplate(value jsontext.Value) (before, after []int, err error) {
	err = readComponents(value, func(c component) []jsontext.Value { return c.Processors }, 0, func(c component) error {
		switch c.Type {
		case "ByteLevel": // it changes offsets alone
			return nil
		case "TemplateProcessing":
			first, last, err := c.template()
			before, after = append(first, before...), append(after, last...)
			return err
		}
		return unsupported(c.Type, "Sequence, TemplateProcessing, ByteLevel")
	})
	return before, after, err
}

// template returns the ids around the text of a template.
func (c component) template() (before, after []int, err error) {
	texts := 0
	for _, p := range c.Single {
		switch {
		case p.Sequence != nil && p.SpecialToken == nil && p.Sequence.ID == "A":
			texts++
		case p.SpecialToken != nil && p.Sequence == nil:
			token, ok := c.SpecialTokens[p.SpecialToken.ID]
			if !ok {
				return nil, nil, fmt.Errorf("single: got token %.100q, want one of special_tokens", p.SpecialToken.ID)
			}
			if texts == 0 {
				before = append(before, token.IDs...)
			} else {
				after = append(after, token.IDs...)
			}
		default:
			return nil, nil, fmt.Errorf("single: got neither a special token nor text A, want one of them")
		}
	}
	if texts != 1 {
		return nil, nil, fmt.Errorf("single: got text A %d times, want it once", texts)
	}
	return before, after, nil
}
