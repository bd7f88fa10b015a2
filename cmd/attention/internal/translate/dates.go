package translate

import (
	"math/rand/v2"
	"strings"
	"time"
)

// datePair is a date as people write it and in ISO 8601.
type datePair struct{ written, iso string }

// dateStyles returns the ways to write a date, as layouts of package time. Each has only
// one reading: the day is before a dot and the month before a slash, and a year of two
// digits is one of the hundred years.
func dateStyles() []string {
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

const (
	firstYear = 1950
	lastYear  = firstYear + 99

	writtenCharacters = " ',./0123456789abcdefghijklmnopqrstuvwxyz"
	isoCharacters     = "-0123456789"
	writtenLength     = len("wednesday, 30 september 2000") // at most: S
	isoLength         = len(time.DateOnly)                  // T
)

// writeDate writes a date in a style, in lower case.
func writeDate(d time.Time, style string) datePair {
	return datePair{strings.ToLower(d.Format(style)), d.Format(time.DateOnly)}
}

// heldOutDates is the number of dates that the model does not learn from, in any style.
const heldOutDates = 2000

// splitDates shuffles all dates by the seed and splits them.
func splitDates(seed int64) (training, heldOut []time.Time) {
	var all []time.Time
	for d := time.Date(firstYear, time.January, 1, 0, 0, 0, 0, time.UTC); d.Year() <= lastYear; d = d.AddDate(0, 0, 1) {
		all = append(all, d)
	}
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[heldOutDates:], all[:heldOutDates]
}

// inEveryStyle writes dates in all styles in turn.
func inEveryStyle(dates []time.Time) []datePair {
	styles := dateStyles()
	var pairs []datePair
	for i, d := range dates {
		pairs = append(pairs, writeDate(d, styles[i%len(styles)]))
	}
	return pairs
}
