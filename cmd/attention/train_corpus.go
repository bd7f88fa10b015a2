package main

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"attention/train"
)

//go:embed text/attention.txt
var builtinText string

// corpus is a text made ready to learn from.
type corpus struct {
	source               textSource
	vocabulary           *train.Vocabulary
	training, validation []int
	ngram                train.NGram
}

// textSource says which text a run learnt from.
type textSource struct {
	Name   string `json:"name"`
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// readCorpus reads the file, or the built-in text if path is empty, and splits it.
func readCorpus(path string, context int) (*corpus, error) {
	text, name := builtinText, "built-in"
	if path != "" {
		var err error
		if text, err = readText(path); err != nil {
			return nil, fmt.Errorf("--text: %s: %w", path, err)
		}
		name = path
	}
	// A tenth is for validation and must be longer than a window.
	n := utf8.RuneCountInString(text)
	switch longest := (n - 1) / 10; {
	case context <= longest:
	case path == "":
		return nil, fmt.Errorf("--context: got %d, want at most %d for the built-in text", context, longest)
	default:
		return nil, fmt.Errorf("--text: %s: got %d characters, want more than 10 times --context %d", path, n, context)
	}
	sum := sha256.Sum256([]byte(text))
	c := &corpus{source: textSource{Name: name, Bytes: len(text), SHA256: hex.EncodeToString(sum[:])}}
	return c, c.encode(text, context)
}

// encode numbers, splits and counts the characters of text.
func (c *corpus) encode(text string, context int) (err error) {
	if c.vocabulary, err = train.NewVocabulary(text); err != nil {
		return err
	}
	ids, err := c.vocabulary.Encode(text)
	if err != nil {
		return err
	}
	if c.training, c.validation, err = train.Split(ids, context); err != nil {
		return err
	}
	c.ngram, err = train.NewNGram(c.training, c.validation, c.vocabulary.Len())
	return err
}

// maxText is how many bytes a text may have: a device would never end.
const maxText = 64 << 20

// readText reads a file that must be UTF-8.
func readText(path string) (string, error) {
	f, err := os.Open(path)
	if err == nil {
		defer f.Close()
		var raw []byte
		if raw, err = io.ReadAll(io.LimitReader(f, maxText+1)); err == nil {
			return string(raw), checkText(raw)
		}
	}
	var without *os.PathError // which repeats the path
	if errors.As(err, &without) {
		err = without.Err
	}
	return "", fmt.Errorf("%w, want a text file", err)
}

func checkText(raw []byte) error {
	switch {
	case len(raw) == 0:
		return errors.New("got an empty file, want a text")
	case len(raw) > maxText:
		return fmt.Errorf("got more than %d bytes, want a shorter text", maxText)
	}
	for at := 0; at < len(raw); {
		r, n := utf8.DecodeRune(raw[at:])
		if r == utf8.RuneError && n == 1 {
			return fmt.Errorf("got byte 0x%02x at offset %d, want UTF-8", raw[at], at)
		}
		at += n
	}
	return nil
}

// sources are the batches to train on and those to validate on. With lastOnly,
// only the character after a window is asked for.
func (c *corpus) sources(o trainOptions, lastOnly bool) (training, validation train.Source, err error) {
	training, err = train.NewWindows(c.training, train.WindowsConfig{
		Batch: o.batch, Context: o.context, Seed: uint64(o.seed), LastOnly: lastOnly})
	if err != nil {
		return nil, nil, err
	}
	var passes oneAfterAnother
	for shift := range shifts(len(c.validation), o.context, lastOnly) {
		s, err := train.NewSequential(c.validation[shift:], train.SequentialConfig{
			Batch: o.batch, Context: o.context, LastOnly: lastOnly})
		if err != nil {
			return nil, nil, err
		}
		passes.sources = append(passes.sources, s)
	}
	return training, &passes, nil
}

// maxShifts limits the work of a validation.
const maxShifts = 8

// shifts is how many passes over n ids a validation makes, each from one id further
// on: when only the last target of a window counts, one pass would ask for few.
func shifts(n, context int, lastOnly bool) int {
	if !lastOnly {
		return 1
	}
	return min(context, maxShifts, n-context)
}

// oneAfterAnother yields the batches of several sources as one evaluation.
type oneAfterAnother struct {
	sources []*train.Sequential
	at      int
}

func (o *oneAfterAnother) Next() (train.Batch, error) {
	for ; o.at < len(o.sources); o.at++ {
		if b, err := o.sources[o.at].Next(); !errors.Is(err, io.EOF) {
			return b, err
		}
	}
	o.at = 0
	return train.Batch{}, io.EOF
}
