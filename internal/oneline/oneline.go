// Package oneline keeps errors to one line: it joins errors, for which errors.Join uses one line each, and shortens
// lists.
package oneline

import (
	"errors"
	"fmt"
	"strings"
)

// List returns at most most names of a list and the number of the others, as in: a, b and 3 more.
func List(names []string, most int) string {
	text := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Join returns an error that wraps the errors that are not nil, with "; " between their texts,
// or nil if all are. An error that an earlier one wraps is left out.
func Join(errs ...error) (all error) {
	for _, err := range errs {
		switch {
		case all == nil:
			all = err
		case err != nil && !errors.Is(all, err):
			all = fmt.Errorf("%w; %w", all, err)
		}
	}
	return all
}
