package main

import (
	"errors"
	"fmt"
	"os"

	"attention/layers"
	"attention/layers/generate"
	"attention/train/pretrained"
	"attention/train/text"
)

// generative is a model that can go on with a text.
type generative struct {
	params    *layers.Params
	model     textModel
	tokenizer text.Tokenizer
	endOfText int    // id; −1 if there is none
	note      string // to be said of where the weights are from
}

// openGenerative reads the model of a folder: a GPT, or that of a run of attention train,
// which need not be finished.
func openGenerative(dir string) (*generative, error) {
	if err := checkFolder(dir); err != nil {
		return nil, err
	}
	if checkpoints := unfinished(dir); len(checkpoints) > 0 {
		return openRun(dir, checkpoints)
	}
	m, err := modelFolders.ReadGPT(dir)
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
	return &generative{params: m.Params, model: &gptModel{m.Model}, tokenizer: m.Tokenizer, endOfText: m.EndOfText}, nil
}

// checkFolder refuses what is no folder.
func checkFolder(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fmt.Errorf("%w, want the folder of a model", err)
	case !info.IsDir():
		return fmt.Errorf("%s: got a file, want the folder of a model, with %s and %s", path, configName, modelName)
	}
	return nil
}

// newGenerator draws the tokens of a text that may become so long. One that is longer
// than the model's positions goes on from its last half window.
func newGenerator(p *layers.Params, m textModel, c generate.Config, length int) (*generate.Generator, error) {
	if gpt, ok := m.(*gptModel); ok {
		c.Capacity, c.Slide = min(length, m.context()), true
		return generate.New(p, gpt.model, c)
	}
	return generate.NewWithoutCache(p, m.forward, m.context(), c)
}
