package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"attention/cmd/attention/internal/run"
	"attention/train/text"

	"github.com/spf13/pflag"
)

// A flag that is not given takes its value from --config, or else from the folder of
// --init, or else from --preset, or else it has its default.

// settingFlags are the flags by the paths of their values in config.json.
func settingFlags() map[string]string {
	return map[string]string{
		"text.name": "text", "init.name": "init", "vocabulary.tokenizer": "tokenizer",
		"dtype": "dtype", "batch": "batch", "order": "order", "eval_batches": "eval-batches",

		"model.vocab": "vocab", "model.context": "context", "model.width": "width", "model.attention.layer": "layer",
		"model.attention.num_heads": "heads", "model.attention.qkv_bias": "qkv-bias", "model.attention.dropout": "dropout",

		"model.vocab_size": "vocab", "model.n_positions": "context", "model.n_embd": "width", "model.n_layer": "layers",
		"model.n_head": "heads", "model.n_kv_head": "kv-heads", "model.n_inner": "hidden",
		"model.activation_function": "activation", "model.layer_norm_epsilon": "norm-eps",
		"model.embd_pdrop": "embedding-dropout", "model.attn_pdrop": "attention-dropout", "model.resid_pdrop": "residual-dropout",
		"model.tie_word_embeddings": "tie", "model.bias": "bias",

		"training.steps": "steps", "training.accumulate": "accumulate", "training.clip_norm": "clip",
		"training.seed": "seed", "training.eval_every": "eval-every",
		"training.solver.name": "solver", "training.solver.momentum": "momentum", "training.solver.beta1": "beta1",
		"training.solver.beta2": "beta2", "training.solver.eps": "eps", "training.solver.weight_decay": "weight-decay",
		"training.schedule.peak": "lr", "training.schedule.floor": "min-lr",
		"training.schedule.warmup_steps": "warmup", "training.schedule.steps": "decay-steps",
		"training.schedule.cosine.peak": "lr", "training.schedule.cosine.floor": "min-lr",
		"training.schedule.cosine.warmup_steps": "warmup", "training.schedule.cosine.steps": "decay-steps",

		"checkpoints.every": "save-every", "checkpoints.keep": "keep", "sample.tokens": "sample", "sample.prompt": "prompt",
	}
}

// followsPaths are in config.json what follows from the flags, and what was counted.
var followsPaths = []string{
	"model.attention.d_in", "model.attention.d_out", "model.attention.d_query", "model.attention.d_key",
	"model.attention.d_attn", "model.attention.context_length", "training.solver.decay", "training.schedule.type",
}

var countedPaths = []string{
	"text.bytes", "text.sha256", "init.bytes", "init.sha256", "vocabulary.characters",
	"ngram.unigram", "ngram.unigram_alpha", "ngram.bigram", "ngram.bigram_alpha", "ngram.bigram_entropy",
}

// collect gives the flags that are not given the values of --config, --init and
// --preset.
func (o *options) collect(flags *pflag.FlagSet) error {
	if err := o.checkNames(flags.Changed); err != nil {
		return err
	}
	preset, err := presetValues(o.preset)
	if err != nil {
		return err
	}
	if o.configFile != "" {
		if err := o.fillFromFile(flags); err != nil {
			return fmt.Errorf("--config: %s: %w", o.configFile, err)
		}
	}
	if o.init != "" {
		if err := o.fillFromInit(flags); err != nil {
			return fmt.Errorf("--init: %w", err)
		}
	}
	return fill(flags, preset)
}

// fill gives flags values unless they have one.
func fill(flags *pflag.FlagSet, values map[string]string) error {
	given := map[string]bool{}
	flags.Visit(func(f *pflag.Flag) { given[f.Name] = true })
	solver, ok := values["solver"]
	otherSolver := ok && given["solver"] && solver != flags.Lookup("solver").Value.String()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		// What is said of all dropouts is said of each, and what is said of one solver is
		// not said of another.
		if given[name] || given["dropout"] && strings.HasSuffix(name, "-dropout") || otherSolver && ofSolver(name) {
			continue
		}
		if err := flags.Set(name, values[name]); err != nil {
			return err
		}
	}
	return nil
}

// fillFromFile gives flags the values of a config.json, which may be a part of one.
func (o *options) fillFromFile(flags *pflag.FlagSet) error {
	data, err := os.ReadFile(o.configFile)
	if err != nil {
		var without *os.PathError
		if errors.As(err, &without) {
			err = without.Err
		}
		return fmt.Errorf("%w, want a file like a run's %s", err, run.ConfigFile)
	}
	leaves, err := run.Leaves(data)
	if err != nil {
		return err
	}
	values, err := settings(flags, leaves)
	if err != nil {
		return err
	}
	if err := checkFollowing(leaves, values); err != nil {
		return err
	}
	// What the run learnt from has to be what it was, unless another is given.
	if !flags.Changed("text") {
		o.textSum, _ = leaves["text.sha256"].(string)
	}
	if !flags.Changed("init") {
		o.initSum, _ = leaves["init.sha256"].(string)
	}
	if characters, ok := leaves["vocabulary.characters"].(string); ok && !flags.Changed("tokenizer") {
		o.vocabulary = text.TokenizerConfig{Name: text.Characters, Characters: characters}
	}
	return fill(flags, values)
}

// settings returns the values of flags that leaves of a config.json give.
func settings(flags *pflag.FlagSet, leaves map[string]any) (map[string]string, error) {
	values, paths := map[string]string{}, settingFlags()
	for _, path := range slices.Sorted(maps.Keys(leaves)) {
		name, ok := paths[path]
		switch {
		case slices.Contains(followsPaths, path) || slices.Contains(countedPaths, path):
			continue
		case !ok:
			return nil, fmt.Errorf("unknown field %s", path)
		}
		if path == "text.name" && leaves[path] == run.BuiltinName {
			continue // --text has no name for it
		}
		text, err := settingText(flags.Lookup(name), leaves[path])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if other, twice := values[name]; twice && other != text {
			return nil, fmt.Errorf("%s: got %s, but %s by another name", path, text, other)
		}
		values[name] = text
		if strings.HasPrefix(path, "model.") && values["model"] != run.GPTModel {
			values["model"] = modelOf(path)
		}
	}
	return values, nil
}

// modelOf is the model that has a field: only those around one layer call theirs so.
func modelOf(path string) string {
	switch path {
	case "model.vocab", "model.context", "model.width":
		return run.LayerModel
	}
	if strings.HasPrefix(path, "model.attention.") {
		return run.LayerModel
	}
	return run.GPTModel
}

// settingText is a JSON value as the text of a flag.
func settingText(f *pflag.Flag, value any) (string, error) {
	kinds := map[string]string{"int": "a whole number", "int64": "a whole number", "float64": "a number", "bool": "true or false", "string": "a text"}
	want := kinds[f.Value.Type()]
	ok := false
	switch value.(type) {
	case json.Number:
		ok = strings.HasSuffix(want, "number")
	case bool:
		ok = f.Value.Type() == "bool"
	case string:
		ok = f.Value.Type() == "string"
	}
	text := fmt.Sprint(value)
	if ok {
		before := f.Value.String()
		ok = f.Value.Set(text) == nil
		if err := f.Value.Set(before); err != nil {
			return "", err
		}
	}
	if !ok {
		return "", fmt.Errorf("got %.60q, want %s", text, want)
	}
	return text, nil
}

// checkFollowing refuses a config.json in which what follows from other values was
// changed without those.
func checkFollowing(leaves map[string]any, values map[string]string) error {
	var alone options
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	alone.addFlags(flags)
	if err := fill(flags, values); err != nil {
		return err
	}
	if err := alone.settle(flags.Changed); err != nil {
		return nil // which other flags may mend
	}
	text, err := json.Marshal(alone.runConfig(&run.Corpus{Tokenizer: text.ByteTokenizer{}}))
	if err != nil {
		return err
	}
	want, err := run.Leaves(text)
	if err != nil {
		return err
	}
	for _, path := range followsPaths {
		if got, ok := leaves[path]; ok && got != want[path] {
			return fmt.Errorf("%s: got %v, want %v, which follows from the other values", path, got, want[path])
		}
	}
	return nil
}
