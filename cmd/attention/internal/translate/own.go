package translate

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"attention/cmd/attention/internal/run"
	"attention/cmd/attention/internal/translations"
	"attention/train/dates"
)

// noISO stands for the ISO date that is not known.
const noISO = "0000-00-00"

// ownDates returns the dates of --date in lower case, without ISO dates.
func ownDates(given []string) ([]dates.Pair, error) {
	var pairs []dates.Pair
	for _, d := range given {
		n := utf8.RuneCountInString(d)
		if n == 0 || n > dates.WrittenLength {
			return nil, fmt.Errorf("--date: got %d characters, want 1 to %d", n, dates.WrittenLength)
		}
		written := strings.ToLower(d)
		for at, c := range []rune(written) {
			if !strings.ContainsRune(dates.WrittenCharacters, c) {
				return nil, fmt.Errorf("--date: got %q at position %d of %q, want letters from a to z, digits, blanks and ',./",
					c, at, d)
			}
		}
		pairs = append(pairs, dates.Pair{Written: written, ISO: noISO})
	}
	return pairs, nil
}

// translateOwn translates dates and prints them. The pairs it returns have the translations.
func translateOwn(ctx context.Context, m *translations.Model, w io.Writer, t *dates.Translator, own []dates.Pair) (
	[]dates.Pair, error) {
	got, err := t.TranslateAll(ctx, &dates.ListedPairs{Pairs: own, Out: dates.NewBatch(m.Alphabets, m.Settings.Batch)})
	if err != nil {
		return nil, err
	}
	pairs := slices.Clone(own)
	for i := range pairs {
		pairs[i].ISO = got[i]
		if _, err := fmt.Fprintf(w, "%-*s  %s\n", dates.WrittenLength, pairs[i].Written, got[i]); err != nil {
			return nil, fmt.Errorf("printing: %w", err)
		}
	}
	return pairs, nil
}

// translateWith translates dates with a saved model.
func translateWith(ctx context.Context, w, notes io.Writer, o options) error {
	in, err := translations.Inspect(o.model)
	if err != nil {
		return fmt.Errorf("--model: %w", err)
	}
	m, err := translations.Read(in)
	if err != nil {
		return fmt.Errorf("--model: %w", err)
	}
	if m.Steps < in.Planned {
		fmt.Fprintf(notes, "%s: a run that is not finished: the model is that after %d of %d steps\n",
			o.model, m.Steps, in.Planned)
	}
	t, err := m.NewTranslator(m.Settings.Batch)
	if err != nil {
		return err
	}
	pairs, err := translateOwn(ctx, m, w, t, o.pairs)
	if err != nil || o.picture == "" {
		return err
	}
	return writeCross(m, w, run.Name(in.Dir), nil, o.picture, pairs[0])
}
