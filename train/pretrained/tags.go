package pretrained

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"attention/layers"
	"attention/train/text"
)

// Span is a part of a text with a label, such as a name.
type Span struct {
	Label string  `json:"label"` // without B- and I-
	Text  string  `json:"text"`
	Score float64 `json:"score"` // mean probability of its tokens' classes
	Bytes [2]int  `json:"bytes"` // from a byte of the text up to another
	Runes [2]int  `json:"runes"` // the same in characters
}

// Tagger finds spans in texts with an encoder of OpenTokenClassifier. Only one goroutine at a time may use it;
// Encoder.Tagger makes another over the same parameters.
type Tagger struct {
	// FirstTokens gives each word the class of its first token, for models that learned these alone. A word ends before a
	// token without WordPiece's prefix ##. It is aggregation_strategy="first" of transformers' pipeline.
	FirstTokens bool

	encoder *Encoder
	f       *layers.Func
}

// Tagger returns a Tagger over the model's parameters.
func (e *Encoder) Tagger() (*Tagger, error) {
	if e.Tokens == nil {
		return nil, errors.New("pretrained: tagger: got an Encoder without Tokens, want one of OpenTokenClassifier")
	}
	f, err := e.newFunc(e.Tokens.Forward)
	if err != nil {
		return nil, fmt.Errorf("pretrained: tagger: %w", err)
	}
	return &Tagger{encoder: e, f: f}, nil
}

// Spans returns the spans of each text, and the numbers of the texts' tokens. Of a text with more tokens than
// Sentence.MaxLength, it reads the beginning. Texts of similar length are computed together. The error for a text names
// its index.
//
// Each token has its likeliest class. Tokens of one label, one after another, are one span, which ends before a token
// whose class begins with B-. Spans of class O are left out. This is aggregation_strategy="simple" of transformers'
// TokenClassificationPipeline, unless FirstTokens is set.
func (t *Tagger) Spans(ctx context.Context, texts ...string) (spans [][]Span, tokens []int, err error) {
	if ctx == nil {
		return nil, nil, errors.New("pretrained: spans: context: got nil, want one")
	}
	e, all := t.encoder, make([]text.Encoding, len(texts))
	tokens = make([]int, len(texts))
	for i, s := range texts {
		for _, most := range []int{0, e.Sentence.MaxLength} {
			encoding, err := e.Tokenizer.EncodeTexts(text.TruncationConfig{MaxLength: most}, s)
			if err != nil {
				return nil, nil, fmt.Errorf("pretrained: spans: text %d: %w", i, err)
			}
			if all[i] = *encoding; most == 0 {
				tokens[i] = len(encoding.IDs)
			}
			if tokens[i] <= e.Sentence.MaxLength {
				break
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
	}
	spans = make([][]Span, len(texts))
	err = e.run(ctx, t.f, all, func(i int, scores []float64) { spans[i] = t.spans(texts[i], all[i], scores) })
	if err != nil {
		return nil, nil, fmt.Errorf("pretrained: spans: %w", err)
	}
	return spans, tokens, nil
}

// spans returns the spans of a text whose tokens have these scores, (T, C).
func (t *Tagger) spans(text string, of text.Encoding, scores []float64) []Span {
	e := t.encoder
	all, C := []Span{}, len(e.Labels)
	var span Span
	last, tokens := "", 0 // the class of the span's last token, without B- and I-, and the number of its tokens
	end := func() {
		if tokens > 0 && span.Label != "O" {
			span.Score /= float64(tokens)
			span.Text = text[span.Bytes[0]:span.Bytes[1]]
			all = append(all, span)
		}
	}
	for i, in := range of.Texts {
		if in < 0 {
			continue
		}
		if t.FirstTokens && tokens > 0 && strings.HasPrefix(e.Tokenizer.Token(of.IDs[i]), "##") {
			span.Bytes[1], span.Runes[1] = of.Bytes[i][1], of.Runes[i][1]
			continue
		}
		class, p := likeliest(scores[i*C : (i+1)*C])
		tag, begins := strings.CutPrefix(e.Labels[class], "B-")
		if !begins {
			tag = strings.TrimPrefix(tag, "I-")
		}
		if tokens == 0 || begins || tag != last {
			end()
			_, label, ok := strings.Cut(e.Labels[class], "-")
			if !ok {
				label = e.Labels[class]
			}
			span, tokens = Span{Label: label, Bytes: of.Bytes[i], Runes: of.Runes[i]}, 0
		}
		last = tag
		span.Score += p
		span.Bytes[1], span.Runes[1] = of.Bytes[i][1], of.Runes[i][1]
		tokens++
	}
	end()
	return all
}

// likeliest returns the class with the greatest score, and its probability.
func likeliest(scores []float64) (class int, p float64) {
	for i, x := range scores {
		if x > scores[class] {
			class = i
		}
	}
	sum := 0.0
	for _, x := range scores {
		sum += math.Exp(x - scores[class])
	}
	return class, 1 / sum
}
