package forward

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/internal/dense"
	"attention/layers"
	"attention/train/tasks"
	"attention/train/tasks/dates"
	"attention/train/text"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// translation is a model that translates dates.
type translation struct {
	*dates.Model
	config settings.Config
}

func (m translation) params() *layers.Params { return m.Params() }
func (m translation) String() string         { return m.config.Model.String() }
func (m translation) most() int              { return dates.WrittenLength }
func (m translation) example() string        { return "wednesday, 3 september 1975" }

// openTranslation is openNetwork for a run of attention translate.
func openTranslation(in *models.Inspection, steps int) (n network, notes []string, err error) {
	m, taken, err := in.OpenDates(steps)
	if err == nil && steps == newest && taken < in.Planned {
		notes = append(notes, fmt.Sprintf("the run is not finished: the weights are those after %d steps", taken))
	}
	return translation{m, in.Config}, notes, err
}

// read reads a date in a common form. An optional second line has the beginning of its translation.
func (m translation) read(given string, then []int) (reading, error) {
	if len(then) > 0 {
		return nil, errors.New("then: got tokens, want none: the model writes the translation")
	}
	lines := strings.Split(strings.TrimRight(strings.ToLower(given), "\n"), "\n")
	if len(lines) > 2 {
		return nil, fmt.Errorf("text: got %d lines, want a date and, in a second line, how its translation begins",
			len(lines))
	}
	t := &pair{model: m}
	var err error
	if t.source, err = m.Written.Encode(lines[0]); err != nil {
		return nil, err
	}
	if n := len(t.source); n == 0 || n > dates.WrittenLength {
		return nil, fmt.Errorf("text: got a date of %d characters, want 1 to %d", n, dates.WrittenLength)
	}
	if len(lines) == 1 {
		return t, nil
	}
	if t.written, err = m.ISO.Encode(lines[1]); err != nil {
		return nil, fmt.Errorf("text: second line: %w", err)
	}
	if n := len(t.written); n > dates.ISOLength {
		return nil, fmt.Errorf("text: second line: got %d characters, want at most %d", n, dates.ISOLength)
	}
	return t, nil
}

// pair is a date and its translation.
type pair struct {
	model    translation
	source   []int
	written  []int   // the beginning of the translation in the text; the model writes the rest
	from, to *G.Node // the inputs
}

// The sequences of a pair.
const (
	dateRead   = iota
	isoRead    // the begin mark and the translation without its last character
	isoToWrite // the translation
)

// The roles of attention layers.
const (
	encoderRole = "encoder"
	decoderRole = "decoder"
	crossRole   = "cross"
)

func (t *pair) build(b *layers.Build) (logits *G.Node) {
	t.from = b.InputOf(tensor.Int, dates.SourceInput, len(t.source))
	t.to = b.InputOf(tensor.Int, dates.TargetInput, dates.ISOLength)
	return t.model.Logits(b, b.Inputs())
}

func (t *pair) place(path string) place {
	switch {
	case strings.HasSuffix(path, ".multihead_attn"):
		return place{crossRole, isoToWrite, dateRead}
	case strings.Contains(path, ".decoder."):
		return place{decoderRole, isoRead, isoRead}
	}
	return place{encoderRole, dateRead, dateRead}
}

// hide hides characters of the date and of the translation. Positions count the characters of the date first.
func (t *pair) hide(b *layers.Build, positions []int) error {
	n := len(t.source)
	hideKeys(b, positions, 0, n, "*.encoder.*", "*.multihead_attn")
	hideKeys(b, positions, n, dates.ISOLength, "*.decoder.*.self_attn")
	return checkPositions(positions, n+dates.ISOLength)
}

// run completes the translation with the likeliest character at each step.
func (t *pair) run(ctx context.Context, f *passGraph, l *Pass) error {
	reads := make([]int, dates.ISOLength) // earlier characters do not see characters that are not written yet
	reads[0] = t.model.Begin()
	copy(reads[1:], t.written)
	if err := let(t.from, t.source); err != nil {
		return err
	}
	if err := let(t.to, reads); err != nil {
		return err
	}
	from := min(len(t.written), dates.ISOLength-1) // the last character is not read
	ids, err := tasks.Greedy(reads[from:], 1, func() ([]int, error) {
		if err := f.machine.Run(ctx); err != nil {
			return nil, err
		}
		return t.model.Likeliest(dense.Float64s(f.logits.Value()))[from:], nil
	})
	if err != nil {
		return err
	}
	return t.finish(f, l, reads, append(slices.Clone(t.written), ids[len(t.written)-from:]...))
}

func (t *pair) finish(f *passGraph, l *Pass, reads, written []int) error {
	source, err := tokensOf(t.model.Written, t.source)
	if err != nil {
		return err
	}
	iso := isoTokens{t.model.ISO}
	read, err := tokensOf(iso, reads)
	if err != nil {
		return err
	}
	toWrite, err := tokensOf(iso, written)
	if err != nil {
		return err
	}
	l.Sequences = []Sequence{{"date", source}, {"ISO date so far", read}, {"ISO date", toWrite}}
	date, err := t.model.Written.Decode(t.source)
	if err != nil {
		return err
	}
	translated, err := t.model.ISO.Decode(written)
	if err != nil {
		return err
	}
	l.Whole = date + "\n" + translated
	places := make([]expected, len(written))
	for at := range places {
		places[at] = f.expected(iso, at)
	}
	return l.expect(places...)
}

// isoTokens is the tokenizer of ISO dates with the mark before them.
type isoTokens struct{ *text.Vocabulary }

// Len returns the number of tokens.
func (t isoTokens) Len() int { return t.Vocabulary.Len() + 1 }

// Decode returns the text of tokens.
func (t isoTokens) Decode(ids []int) (string, error) {
	if len(ids) == 1 && ids[0] == t.Vocabulary.Len() {
		return "<begin>", nil
	}
	return t.Vocabulary.Decode(ids)
}
