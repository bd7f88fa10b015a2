package run

import (
	"embed"
	"fmt"
	"strings"
)

// presets are partial configs: nano-char is nanoGPT's training on the characters of a text on a small machine, gpt2 the
// smallest GPT-2 with the settings to fine-tune it, and tiny takes seconds, to check that everything works.
//
//go:embed presets/*.json
var presets embed.FS

// presetNames returns the names of all presets, ascending.
func presetNames() (names []string) {
	files, _ := presets.ReadDir("presets") // embedded, so it is always there
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".json"))
	}
	return names
}

// presetPart returns the values of a preset, or none without a name.
func presetPart(name string) (part, error) {
	if name == "" {
		return part{}, nil
	}
	text, err := presets.ReadFile("presets/" + name + ".json")
	if err != nil {
		return part{}, fmt.Errorf("--preset: got %q, want one of %s", name, strings.Join(presetNames(), ", "))
	}
	return parsePart("--preset: "+name, text)
}
