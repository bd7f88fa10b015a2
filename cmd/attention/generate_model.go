package main

import (
	"errors"
	"fmt"

	"attention/cmd/attention/internal/run"
	"attention/layers"
	"attention/train/pretrained"
	"attention/train/text"
)

// generative is a model that can go on with a text.
type generative struct {
	params    *layers.Params
	model     run.Model
	tokenizer text.Tokenizer
	endOfText int    // id; −1 if there is none
	note      string // to be said of where the weights are from
}

// openGenerative reads the model of a folder: a GPT, or that of a run of attention train,
// which need not be finished.
func openGenerative(dir string) (*generative, error) {
	if err := run.CheckFolder(dir); err != nil {
		return nil, err
	}
	if checkpoints := run.Unfinished(dir); len(checkpoints) > 0 {
		return openRun(dir, checkpoints)
	}
	m, err := run.ModelFolders().ReadGPT(dir)
	if errors.Is(err, pretrained.ErrNotGPT) {
		if run, runErr := openRun(dir, nil); !errors.Is(runErr, errNoRun) {
			return run, runErr
		}
	}
	if err != nil {
		return nil, err
	}
	if m.Tokenizer == nil {
		return nil, fmt.Errorf("%s: config.json: got no vocabulary of a tokenizer known here, want \"vocabulary\" or GPT-2's %d tokens",
			dir, text.GPT2EndOfText+1)
	}
	return &generative{params: m.Params, model: run.NewGPT(m.Model), tokenizer: m.Tokenizer, endOfText: m.EndOfText}, nil
}
