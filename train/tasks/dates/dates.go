package dates

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
	"unicode/utf8"
)

// Pair is a date as people write it and in ISO 8601.
type Pair struct{ Written, ISO string }

// Styles returns the ways to write a date, as layouts of package time. Each style is unambiguous: the day is before a
// dot and the month before a slash, and a year of two digits belongs to the one hundred years of the task.
func Styles() []string {
	return []string{
		"2 January 2006",
		"January 2, 2006",
		"Monday, 2 January 2006",
		"2 Jan 2006",
		"Jan 2, 2006",
		"Mon 2 Jan 2006",
		"2 Jan '06",
		"2.1.2006",
		"1/2/2006",
		"1/2/06",
	}
}

// Sizes and alphabets of dates.
const (
	FirstYear = 1950
	LastYear  = FirstYear + 99

	WrittenCharacters = " ',./0123456789abcdefghijklmnopqrstuvwxyz"
	ISOCharacters     = "-0123456789"
	WrittenLength     = len("wednesday, 30 september 2000") // at most: S
	ISOLength         = len(time.DateOnly)                  // T
)

// Write writes a date in a style, in lower case.
func Write(d time.Time, style string) Pair {
	return Pair{strings.ToLower(d.Format(style)), d.Format(time.DateOnly)}
}

// heldOutDates is the number of dates that are excluded from training, in every style.
const heldOutDates = 2000

// Untranslated returns a pair with a written date, in lower case, and without an ISO date.
func Untranslated(written string) (Pair, error) {
	if n := utf8.RuneCountInString(written); n == 0 || n > WrittenLength {
		return Pair{}, fmt.Errorf("got %d characters, want 1 to %d", n, WrittenLength)
	}
	lower := strings.ToLower(written)
	for at, c := range []rune(lower) {
		if !strings.ContainsRune(WrittenCharacters, c) {
			return Pair{}, fmt.Errorf("got %q at position %d of %q, want letters from a to z, digits, blanks and ',./",
				c, at, written)
		}
	}
	return Pair{Written: lower, ISO: "0000-00-00"}, nil
}

// Split shuffles all dates by the seed and splits them.
func Split(seed int64) (training, heldOut []time.Time) {
	var all []time.Time
	for d := time.Date(FirstYear, time.January, 1, 0, 0, 0, 0, time.UTC); d.Year() <= LastYear; d = d.AddDate(0, 0, 1) {
		all = append(all, d)
	}
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[heldOutDates:], all[:heldOutDates]
}

// InEveryStyle writes dates in all styles in turn.
func InEveryStyle(dates []time.Time) []Pair {
	styles := Styles()
	var pairs []Pair
	for i, d := range dates {
		pairs = append(pairs, Write(d, styles[i%len(styles)]))
	}
	return pairs
}
