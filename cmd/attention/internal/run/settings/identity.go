package settings

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"attention/internal/about"
	"attention/internal/config"
	"attention/internal/safetensors"
)

// identity lists the parts of config.json that a checkpoint shares with the run that resumes from it; modelIdentity
// lists those without which the weights of a model have no meaning.
var (
	modelIdentity = []string{"vocabulary", "model", "dtype", "tuning.base.sha256", "tuning.lora", "tuning.classes", "tuning.task"}
	identity      = append([]string{"text.sha256", "batch", "order", "context_growth", "training.seed", "training.clip_norm",
		"training.accumulate", "training.schedule", "tuning.context", "tuning.long", "tuning.template",
		"tuning.train_on_prompts"}, modelIdentity...)
)

// Identity returns the values that a checkpoint shares with the run that resumes from it, by their paths in
// config.json. A run of attention translate has one value, its whole config.
func (c Config) Identity() (map[string]string, error) { return c.texts(identity) }

// ModelIdentity returns those values of Identity without which the weights of the model mean nothing.
func (c Config) ModelIdentity() (map[string]string, error) { return c.texts(modelIdentity) }

func (c Config) texts(paths []string) (map[string]string, error) {
	if c.Model.Dates != nil {
		text, err := json.Marshal(c)
		return map[string]string{"config": string(text)}, err
	}
	v, err := config.ValuesOf(c, paths...)
	texts := map[string]string{}
	for path, value := range v {
		texts[path] = fmt.Sprint(value.JSON)
	}
	return texts, err
}

// CheckWeights returns an error naming the flag that makes the weights in a run's model, the file at path, unfit for
// the model of the config. The shapes alone do not show the number of heads or the tokens, for example. Weights of
// other programs have no identity, and fit.
func (c Config) CheckWeights(path string) error {
	r, err := safetensors.Open(path)
	if err != nil {
		return nil // reading the weights reports this error
	}
	defer r.Close()
	identity, err := about.OfModel(r.Metadata())
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if identity == nil {
		return nil
	}
	if err := c.checkFits(identity); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// canonical returns a copy in which synonymous words are replaced by one of them.
func (c ModelConfig) canonical() ModelConfig {
	if c = c.clone(); c.GPT != nil {
		*c.GPT, _ = c.GPT.Decoder().GPT()
	}
	return c
}

// CheckFits returns an error naming the flag that makes the weights of another config's model unfit for the model of
// the config, which may have fewer positions.
func (c Config) CheckFits(of Config) error {
	context := c.Model.Context()
	of.Model, c.Model = of.Model.canonical(), c.Model.canonical()
	if m := of.Model.GPT; m != nil {
		m.ContextLength = min(m.ContextLength, context)
	}
	if m := of.Model.Decoder; m != nil {
		m.ContextLength = min(m.ContextLength, context)
	}
	identity, err := of.ModelIdentity()
	if err != nil {
		return err
	}
	return c.checkFits(identity)
}

// checkFits returns an error naming the flag that makes weights of an identity unfit for the model of the config.
func (c Config) checkFits(weights map[string]string) error {
	got, err := c.ModelIdentity()
	if err != nil {
		return err
	}
	names, paths := weightPaths()
	switch at := about.FirstDifference(got, weights, paths); {
	case at == "":
		return nil
	case strings.HasPrefix(at, "vocabulary."):
		return fmt.Errorf("got other tokens than those of --tokenizer %s and the text's, want the same",
			c.Vocabulary.Name)
	case names[at] == "":
		return fmt.Errorf("%s: got another value than that of the weights, want the same", at)
	default:
		return fmt.Errorf("%s: got %s, want %s, that of the weights", names[at], orAbsent(got[at], weights[at]),
			orAbsent(weights[at], got[at]))
	}
}

// orAbsent returns a value, or a word that says that it is absent.
func orAbsent(value, beside string) string {
	if value != "" {
		return value
	}
	if _, err := strconv.Atoi(beside); err == nil {
		return "0"
	}
	return "none"
}

// weightPaths returns the paths in config.json of values that a model's weights depend on, and the flags that set them.
// Dropout is the training's.
func weightPaths() (names map[string]string, paths []string) {
	names, paths = map[string]string{}, []string{"dtype"}
	for _, f := range flagsOf(Train) {
		for _, path := range f.paths {
			names[path] = "--" + f.name
			if strings.HasPrefix(path, "model.") && !strings.HasSuffix(path, "dropout") {
				paths = append(paths, path)
			}
		}
	}
	for _, key := range []string{"blocks", "pattern", "norm.kind", "learned_positions", "embedding_scale",
		"logit_scale",
		"logit_softcap", "layout"} { // which no flag sets
		paths = append(paths, "model."+key)
	}
	return names, append(paths, "vocabulary.tokenizer", "vocabulary.characters", "vocabulary.sha256")
}
