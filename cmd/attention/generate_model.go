package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"attention/layers"
	"attention/layers/generate"
	"attention/train"
	"attention/train/folder"
)

// generative is a model that can go on with a text.
type generative struct {
	tokenizer train.Tokenizer
	endOfText int // id; −1 if there is none
	longest   int // prompt; 0 means any
	shortest  int // prompt

	// generator makes what draws the tokens of a text that may become so long.
	generator func(c generate.Config, length int) (*generate.Generator, error)
}

// openGenerative reads the model of a folder: a GPT, or a run of attention train with
// one attention layer.
func openGenerative(dir string) (*generative, error) {
	m, err := folder.ReadGPT(dir)
	if errors.Is(err, folder.ErrNoGPT) {
		if layer, layerErr := openLayerRun(dir); layerErr == nil || !errors.Is(layerErr, errNoRun) {
			return layer, layerErr
		}
	}
	if err != nil {
		return nil, err
	}
	if m.Tokenizer == nil {
		return nil, fmt.Errorf("%s: config.json: got no vocabulary of a tokenizer known here, want \"vocabulary\" or GPT-2's %d tokens",
			dir, train.GPT2EndOfText+1)
	}
	context := m.Model.Config().Context
	return &generative{tokenizer: m.Tokenizer, endOfText: m.EndOfText, longest: context,
		generator: func(c generate.Config, length int) (*generate.Generator, error) {
			c.Capacity = min(length, context)
			return generate.New(m.Params, m.Model, c)
		}}, nil
}

// errNoRun is the error for a folder that is not of attention train.
var errNoRun = errors.New("not a run folder")

// openLayerRun reads the model around one attention layer of a run. It has no cache.
func openLayerRun(dir string) (*generative, error) {
	path := filepath.Join(dir, "config.json")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var c struct {
		Vocabulary *train.TokenizerConfig      `json:"vocabulary"`
		Model      *layers.LanguageModelConfig `json:"model"`
		Dtype      string                      `json:"dtype"`
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if c.Vocabulary == nil || c.Model == nil {
		return nil, errNoRun
	}
	dt, err := dtypeOf(c.Dtype)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	tokenizer, err := c.Vocabulary.New()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	params := layers.NewBlankParams(dt)
	m, err := layers.NewLanguageModel(params.Scope(""), *c.Model)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if _, err := train.ReadParams(filepath.Join(dir, "model.safetensors"), params); err != nil {
		return nil, err
	}
	read := &generative{tokenizer: tokenizer, endOfText: -1,
		generator: func(g generate.Config, _ int) (*generate.Generator, error) {
			return generate.NewWithoutCache(params, m.Forward, c.Model.Context, g)
		}}
	if !c.Model.Attention.Causal() {
		read.shortest = c.Model.Context
	}
	return read, nil
}
