package generate

import (
	"errors"
	"fmt"

	"attention/cmd/attention/internal/run"
	"attention/train/pretrained"
	"attention/train/text"
)

// model is a model that can continue a text.
type model struct {
	model     run.Model
	tokenizer text.Tokenizer
	endOfText int      // id; −1 if there is none
	notes     []string // on the origin of the weights, to be printed
}

// open reads the model of a folder: a GPT, or the model of a run of attention train, finished or not.
func open(dir string) (*model, error) {
	if err := run.CheckFolder(dir); err != nil {
		return nil, err
	}
	if checkpoints := run.Unfinished(dir); len(checkpoints) > 0 {
		return openRun(dir, checkpoints)
	}
	m, err := run.ReadGPT(dir)
	if errors.Is(err, pretrained.ErrNotGPT) {
		if m, runErr := openRun(dir, nil); !errors.Is(runErr, run.ErrNoRun) {
			return m, runErr
		}
	}
	if err != nil {
		return nil, err
	}
	if m.Tokenizer == nil {
		return nil, fmt.Errorf("%s: config.json: got no vocabulary of a tokenizer known here, "+
			"want \"vocabulary\" or GPT-2's %d tokens", dir, text.GPT2EndOfText+1)
	}
	return &model{model: run.NewGPT(m.Model), tokenizer: m.Tokenizer, endOfText: m.EndOfText}, nil
}
