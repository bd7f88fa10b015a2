package train

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"attention/cmd/attention/internal/run"
)

// presets are values of flags by the names of presets. The schedule of the learning rate
// follows from --steps and --lr.
func presets() map[string]map[string]string {
	return map[string]map[string]string{
		// nanoGPT's training on the characters of a text on a small machine.
		"nano-char": {
			"model": run.GPTModel, "tokenizer": "characters",
			"layers": "4", "heads": "4", "width": "128", "context": "64",
			"dropout": "0", "bias": "false", "activation": "gelu", "tie": "true",
			"batch": "12", "steps": "2000", "solver": "adamw", "beta1": "0.9", "beta2": "0.99", "weight-decay": "0.1",
			"lr": "0.001", "clip": "1",
			"eval-every": "250", "eval-batches": "20",
		},
		// The smallest GPT-2, with the settings to fine-tune it.
		"gpt2": {
			"model": run.GPTModel, "tokenizer": "gpt2",
			"layers": "12", "heads": "12", "width": "768", "context": "1024",
			"dropout": "0", "bias": "true", "activation": "gelu_new", "tie": "true",
			"batch": "1", "accumulate": "8", "steps": "100", "solver": "adamw", "beta1": "0.9", "beta2": "0.95", "weight-decay": "0.1",
			"lr": "3e-5", "clip": "1",
			"eval-every": "50", "eval-batches": "8", "save-every": "50", "sample": "100",
		},
		// Seconds, to see whether all works.
		"tiny": {
			"model": run.GPTModel, "tokenizer": "characters",
			"layers": "2", "heads": "2", "width": "16", "context": "16",
			"dropout": "0", "bias": "false", "activation": "gelu", "tie": "true",
			"batch": "8", "steps": "500", "solver": "adamw", "beta1": "0.9", "beta2": "0.99", "weight-decay": "0.1",
			"lr": "0.01", "clip": "1",
			"eval-every": "100", "eval-batches": "4",
		},
	}
}

func presetNames() string { return strings.Join(slices.Sorted(maps.Keys(presets())), ", ") }

// presetValues are the flags of a preset; none if its name is empty.
func presetValues(name string) (map[string]string, error) {
	values, ok := presets()[name]
	if !ok && name != "" {
		return nil, fmt.Errorf("--preset: got %q, want one of %s", name, presetNames())
	}
	return values, nil
}
