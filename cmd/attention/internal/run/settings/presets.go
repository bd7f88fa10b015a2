package settings

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"attention/internal/config"
)

// presets are partial configs: nano-char is nanoGPT's training on the characters of a text on a small machine,
// llama-char that of a Llama of its size, speedrun its shortest way to the loss of nano-char, gpt2 the smallest
// GPT-2 with the settings to fine-tune it, and tiny takes seconds, to check that everything works. book is chapter
// 5's recipe for the model after chapter 3 (Raschka, Build a Large Language Model from Scratch), GPT-2's size on a
// short story, and book-small the same with a model that takes a minute.
//
//go:embed presets/*.json
var presets embed.FS

// presetNames returns the names of all presets, ascending.
func presetNames() (names []string) {
	files, _ := presets.ReadDir("presets") // embedded, so it is always there
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".json"))
	}
	slices.Sort(names)
	return names
}

// presetValues returns the values of a preset, or none without a name.
func presetValues(name string) (config.Values, error) {
	if name == "" {
		return nil, nil
	}
	text, err := presets.ReadFile("presets/" + name + ".json")
	if err != nil {
		return nil, fmt.Errorf("--preset: got %q, want one of %s", name, strings.Join(presetNames(), ", "))
	}
	t, err := config.ParseTree(text)
	return config.Leaves(t, "--preset: "+name), err
}

// follows maps the sizes of an attention layer to the fields of the model from which they follow unless they are given.
var follows = map[string]string{
	"embed_dim": "embed_dim", "out_dim": "embed_dim", "query_dim": "embed_dim", "key_dim": "embed_dim",
	"attn_dim": "embed_dim", "context_length": "context_length",
}

// replacements are the values of a config that replace others.
var replacements = []config.Replacement{
	{Path: "text.name", Equal: true, Old: []string{"text"}},
	{Path: "init.name", Equal: true, Old: []string{"init"}},
	{Path: "vocabulary.tokenizer", Equal: true, Old: []string{"vocabulary"}},
	{Path: "model.type", Old: []string{"model"}},
	{Path: "model.embed_dim", Equal: true, Old: following},
	{Path: "model.context_length", Equal: true, Old: following},
	{Path: "model.attention.layer", Equal: true, Old: following},
	{Path: "model.attention.num_heads", Equal: true, Old: following},
	{Path: "training.schedule.type", Old: []string{"training.schedule"}},
	{Path: "training.solver.name", Old: []string{"training.solver", // and the learning rate, which was meant for it
		"training.schedule.peak", "training.schedule.floor", "training.schedule.rate"}},
}

// following are the paths of the sizes that follow from others.
var following = func() (paths []string) {
	for key := range follows {
		paths = append(paths, "model.attention."+key)
	}
	return paths
}()
