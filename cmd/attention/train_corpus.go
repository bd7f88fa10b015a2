package main

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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

// textSource says which file a run learnt from.
type textSource struct {
	Name   string `json:"name"`
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// builtinName is the name of the text in the program.
const builtinName = "built-in"

func (s textSource) builtin() bool { return s.Name == builtinName }

// textName is the name of a text by its path, which is empty for the built-in one.
func textName(path string) string {
	switch path {
	case "":
		return builtinName
	case builtinName:
		return "." + string(filepath.Separator) + path
	}
	return path
}

// sourceOfFile reads a file to its end.
func sourceOfFile(path string) (textSource, error) {
	f, err := os.Open(path)
	if err != nil {
		return textSource{}, err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	return textSource{Name: path, Bytes: int(n), SHA256: hex.EncodeToString(sum.Sum(nil))}, err
}

// readCorpus reads the file, or the built-in text if path is empty, and splits it.
func readCorpus(path string, context int) (*corpus, error) {
	text := builtinText
	if path != "" {
		var err error
		if text, err = readText(path); err != nil {
			return nil, fmt.Errorf("--text: %s: %w", path, err)
		}
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
	c := &corpus{source: textSource{Name: textName(path), Bytes: len(text), SHA256: hex.EncodeToString(sum[:])}}
	return c, c.encode(text, context)
}

// readSameCorpus reads the text that a run has begun to learn from.
func readSameCorpus(r runConfig) (*corpus, error) {
	path := r.Text.Name
	if r.Text.builtin() {
		path = ""
	}
	c, err := readCorpus(path, r.Model.Context)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w; if it has moved, say where to with --text", err)
	case err != nil:
		return nil, err
	case c.source.SHA256 != r.Text.SHA256:
		return nil, fmt.Errorf("--text: %s: got a text with SHA-256 %s, want %s, that of the text that the run began with",
			r.Text.Name, c.source.SHA256, r.Text.SHA256)
	}
	return c, nil
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

// Orders of the windows to train on, as --order names them.
const (
	randomOrder     = "random"
	sequentialOrder = "sequential"
)

func validOrder(order string) error {
	if order != randomOrder && order != sequentialOrder {
		return fmt.Errorf("--order: got %q, want %s or %s", order, randomOrder, sequentialOrder)
	}
	return nil
}

// sources are the batches to train on and those to validate on. With lastOnly,
// only the character after a window is asked for.
func (c *corpus) sources(r runConfig, lastOnly bool) (training train.Resumable, validation train.Source, err error) {
	inOrder := train.SequentialConfig{Batch: r.Batch, Context: r.Model.Context, LastOnly: lastOnly}
	if r.Order == sequentialOrder {
		training, err = train.NewConsecutive(c.training, inOrder)
	} else {
		training, err = train.NewWindows(c.training, train.WindowsConfig{
			Batch: r.Batch, Context: r.Model.Context, Seed: uint64(r.Training.Seed), LastOnly: lastOnly})
	}
	if err != nil {
		return nil, nil, err
	}
	var passes oneAfterAnother
	for shift := range shifts(len(c.validation), r.Model.Context, lastOnly) {
		s, err := train.NewSequential(c.validation[shift:], inOrder)
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
