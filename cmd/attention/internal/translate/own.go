package translate

import (
	"context"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// noISO stands for the ISO date that is not known.
const noISO = "0000-00-00"

// ownDates returns the dates of --date in lower case, without ISO dates.
func ownDates(dates []string) ([]datePair, error) {
	var pairs []datePair
	for _, d := range dates {
		n := utf8.RuneCountInString(d)
		if n == 0 || n > writtenLength {
			return nil, fmt.Errorf("--date: got %d characters, want 1 to %d", n, writtenLength)
		}
		written := strings.ToLower(d)
		for at, c := range []rune(written) {
			if !strings.ContainsRune(writtenCharacters, c) {
				return nil, fmt.Errorf("--date: got %q at position %d of %q, want letters from a to z, digits, blanks and ',./",
					c, at, d)
			}
		}
		pairs = append(pairs, datePair{written, noISO})
	}
	return pairs, nil
}

// translateOwn translates the dates of --date and prints them. The pairs it returns have the translations.
func (m *dateModel) translateOwn(ctx context.Context, w io.Writer, t *translator, dates []string) ([]datePair, error) {
	pairs, err := ownDates(dates)
	if err != nil || len(pairs) == 0 {
		return nil, err
	}
	got, err := t.translateAll(ctx, &listedPairs{pairs: pairs, out: newPairBatch(m.alphabets, m.settings.Batch)})
	if err != nil {
		return nil, err
	}
	for i := range pairs {
		pairs[i].iso = got[i]
		if _, err := fmt.Fprintf(w, "%-*s  %s\n", writtenLength, pairs[i].written, got[i]); err != nil {
			return nil, fmt.Errorf("printing: %w", err)
		}
	}
	return pairs, nil
}

// translateWith translates dates with a saved model.
func translateWith(ctx context.Context, w, notes io.Writer, o options) error {
	m, err := readModel(o.model)
	if err != nil {
		return fmt.Errorf("--model: %w", err)
	}
	if m.steps < m.settings.Training.Steps {
		fmt.Fprintf(notes, "%s: a run that is not finished: the model is that after %d of %d steps\n",
			o.model, m.steps, m.settings.Training.Steps)
	}
	t, err := m.newTranslator()
	if err != nil {
		return err
	}
	pairs, err := m.translateOwn(ctx, w, t, o.dates)
	if err != nil || o.picture() == "" {
		return err
	}
	return m.writeCross(w, nil, o.picture(), pairs[0])
}
