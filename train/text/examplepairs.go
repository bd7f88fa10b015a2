package text

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"attention/train/text/jinja"
)

// readAnchor reads a text, one that is similar and perhaps one that is not.
func readAnchor(row *jinja.Dict) (e Example, err error) {
	keys := []string{"anchor", "positive", "negative"}
	if value, _ := row.Get("negative"); value == nil {
		keys = keys[:2]
	}
	if e.Texts, err = sidesAt(row, keys...); err == nil && len(keys) == 3 && e.Texts[1] == e.Texts[2] {
		err = errors.New("negative: got the text of positive, want another")
	}
	return e, err
}

// scoredAt returns the reader of rows that have two texts and their score under these keys.
func scoredAt(first, second, score string) func(row *jinja.Dict) (Example, error) {
	return func(row *jinja.Dict) (e Example, err error) {
		if e.Texts, err = sidesAt(row, first, second); err != nil {
			return e, err
		}
		value, _ := row.Get(score)
		number, err := strconv.ParseFloat(fmt.Sprint(value), 64) // in a table it is a text
		if err != nil || math.IsNaN(number) || math.IsInf(number, 0) {
			return e, fmt.Errorf("%s: got %s, want a finite number", score, shown(value))
		}
		e.Score = &number
		return e, nil
	}
}

// sidesAt returns the texts under keys, none of which may be empty.
func sidesAt(row *jinja.Dict, keys ...string) ([]string, error) {
	texts, err := textsAt(row, keys...)
	for i, s := range texts {
		if err == nil && strings.TrimSpace(s) == "" {
			err = fmt.Errorf("%s: got nothing, want a text", keys[i])
		}
	}
	return texts, err
}
