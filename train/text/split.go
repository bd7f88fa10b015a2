package text

import "fmt"

// Split returns the first nine tenths of a text's ids, rounded down, for training and the remaining ids for validation.
// Both share ids' memory. Both must be longer than context, the T positions of a window, so that each holds at least
// one window and its targets.
func Split(ids []int, context int) (training, validation []int, err error) {
	if context < 1 {
		return nil, nil, fmt.Errorf("text: context: got %d, want a number >= 1", context)
	}
	cut := len(ids) / 10 * 9
	cut += len(ids) % 10 * 9 / 10
	training, validation = ids[:cut:cut], ids[cut:]
	if len(training) <= context || len(validation) <= context {
		return nil, nil, fmt.Errorf("text: got %d tokens, %d to train on and %d to validate on, "+
			"want both to be more than the context of %d: at least %d tokens",
			len(ids), len(training), len(validation), context, 10*context+1)
	}
	return training, validation, nil
}
