// Package oneline joins errors as one of one line, where errors.Join has a line for each.
package oneline

import (
	"errors"
	"fmt"
)

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
