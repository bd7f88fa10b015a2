package translate

import (
	"context"
	"fmt"
	"io"
	"slices"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/models"
	"attention/train/tasks/dates"
)

// ownDates returns the dates of --date, without their ISO forms.
func ownDates(given []string) (pairs []dates.Pair, err error) {
	for _, written := range given {
		p, err := dates.Untranslated(written)
		if err != nil {
			return nil, fmt.Errorf("--date: %w", err)
		}
		pairs = append(pairs, p)
	}
	return pairs, nil
}

// leastDigits is the least number of digits in a date: those of a day and of a year.
const leastDigits = 3

// noteNoDates prints a note about texts of --date that are not dates. The model writes ten characters for any text.
func noteNoDates(notes io.Writer, pairs []dates.Pair) {
	for _, p := range pairs {
		digits := 0
		for _, c := range p.Written {
			if c >= '0' && c <= '9' {
				digits++
			}
		}
		if digits < leastDigits {
			program.Note(notes, "--date: %q is no date: want a day and a year in digits", p.Written)
		}
	}
}

// translateOwn translates dates in batches and prints them. The returned pairs have the translations.
func translateOwn(ctx context.Context, w io.Writer, t *dates.Translator, batch int, own []dates.Pair) (
	[]dates.Pair, error) {
	got, err := t.TranslateAll(ctx, &dates.ListedPairs{Pairs: own, Out: dates.NewBatch(t.Alphabets, batch)})
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
	in, err := models.Source{Dir: o.text("model")}.Inspect(notes)
	if err != nil {
		return err
	}
	m, steps, err := in.OpenDates(-1)
	if err != nil {
		return in.Named(err)
	}
	if steps < in.Planned {
		fmt.Fprintf(notes, "%s: a run that is not finished: the model is that after %d of %d steps\n",
			in.Dir, steps, in.Planned)
	}
	t, err := m.NewTranslator()
	if err != nil {
		return err
	}
	pairs, err := translateOwn(ctx, w, t, in.Config.Batch, o.pairs)
	if err != nil || o.text("picture") == "" {
		return err
	}
	return writeCross(m, w, fmt.Sprintf("step %d, run %s", steps, in.Name()), nil, o.text("picture"), pairs[0])
}
