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
