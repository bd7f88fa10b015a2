package run

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"attention/internal/config"
	"attention/internal/safetensors"
	"attention/train/pretrained"
)

// identity are the parts of config.json that a checkpoint shares with the run that resumes from it; modelIdentity are
// those without which the weights of a model mean nothing.
var (
	modelIdentity = []string{"vocabulary", "model", "dtype"}
	identity      = append([]string{"text.sha256", "batch", "order", "training.seed", "training.clip_norm",
		"training.accumulate", "training.schedule"}, modelIdentity...)
)

// Identity returns the values that a checkpoint shares with the run that resumes from it, by their paths in config.json.
func (c Config) Identity() (map[string]string, error) { return c.texts(identity) }

// ModelIdentity returns those values of Identity without which the weights of the model mean nothing.
func (c Config) ModelIdentity() (map[string]string, error) { return c.texts(modelIdentity) }

func (c Config) texts(paths []string) (map[string]string, error) {
	v, err := config.ValuesOf(c, paths...)
	texts := map[string]string{}
	for path, value := range v {
		texts[path] = fmt.Sprint(value.JSON)
	}
	return texts, err
}

// firstOther returns the first of the paths at which two identities differ, or "".
func firstOther(got, want map[string]string, paths []string) string {
	for _, path := range paths {
		if got[path] != want[path] {
			return path
		}
	}
	return ""
}

// CheckIdentity returns an error for the first value got from the config.json in the folder dir that differs from the
// one in the file at path.
func CheckIdentity(dir, path string, got, want map[string]string) error {
	at := firstOther(got, want, slices.Sorted(maps.Keys(got)))
	if at == "" {
		return nil
	}
	g, w := cutEqual(got[at], want[at])
	return fmt.Errorf("%s: %s: got %s, want %s, that of %s", filepath.Join(dir, ConfigFile), at, g, w, path)
}

// cutEqual returns two texts, quoted, from shortly before the place where they begin to differ.
func cutEqual(a, b string) (string, string) {
	const before, most = 8, 40
	x, y := []rune(a), []rune(b)
	at := 0
	for at < min(len(x), len(y)) && x[at] == y[at] {
		at++
	}
	cut := func(r []rune) string {
		begin := max(0, at-before)
		text := strconv.Quote(string(r[begin:min(len(r), begin+most)]))
		if begin > 0 {
			text = "…" + text
		}
		return text
	}
	return cut(x), cut(y)
}

// CheckWeights returns an error naming the flag that makes the weights in a run's model, the file at path, unfit for the
// model of the config. Their shapes do not tell the number of heads, say, or whose tokens they are for. Weights of other
// programs have no identity, and fit.
func (c Config) CheckWeights(path string) error {
	r, err := safetensors.Open(path)
	if err != nil {
		return nil // reading the weights reports it
	}
	defer r.Close()
	identity, err := IdentityOf(r.Metadata())
	if err == nil && identity != nil {
		err = c.checkFits(identity)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// CheckGPT returns an error naming the flag that makes a GPT's weights unfit for the model of the config, which may have
// fewer positions.
func (c Config) CheckGPT(g *pretrained.GPT) error {
	of, m := c, g.Model.Config()
	m.ContextLength = min(m.ContextLength, c.Model.Context())
	of.Model = ModelConfig{GPT: &m}
	if g.Tokenizer != nil {
		of.Vocabulary = g.Tokenizer.Config()
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
	switch at := firstOther(got, weights, paths); {
	case at == "":
		return nil
	case strings.HasPrefix(at, "vocabulary."):
		return fmt.Errorf("got other tokens than those of --tokenizer %s and the text's, want the same", c.Vocabulary.Name)
	default:
		return fmt.Errorf("%s: got %s, want %s, that of the weights", names[at], cmp.Or(got[at], "0"),
			cmp.Or(weights[at], "0"))
	}
}

// weightPaths returns the paths in config.json of values that a model's weights depend on, and the flags that set them.
// Dropout is the training's.
func weightPaths() (names map[string]string, paths []string) {
	names, paths = map[string]string{}, []string{"dtype"}
	for _, f := range trainFlags() {
		for _, path := range f.paths {
			names[path] = "--" + f.name
			if strings.HasPrefix(path, "model.") && !strings.HasSuffix(path, "dropout") && !strings.HasSuffix(path, "pdrop") {
				paths = append(paths, path)
			}
		}
	}
	return names, append(paths, "vocabulary.tokenizer", "vocabulary.characters")
}

// The keys of the metadata of a run's model.
const (
	formatKey      = "format" // modelFormat
	stepsKey       = "steps"  // taken by the run
	bestKey        = "best"   // step of the parameters with --best; missing if they are the last ones
	identityPrefix = "about." // before the keys of the identity

	modelFormat = "attention model 1"
)

// Metadata returns the metadata of the model of a run that has taken n steps. The parameters have this identity and are
// those after step best, or the last ones if that is 0.
func Metadata(identity map[string]string, n, best int) map[string]string {
	metadata := map[string]string{formatKey: modelFormat, stepsKey: strconv.Itoa(n)}
	if best > 0 {
		metadata[bestKey] = strconv.Itoa(best)
	}
	for key, value := range identity {
		metadata[identityPrefix+key] = value
	}
	return metadata
}

// IdentityOf returns the identity in the metadata of a model; nil for one of another program.
func IdentityOf(metadata map[string]string) (map[string]string, error) {
	var identity map[string]string
	for key, value := range metadata {
		if key, ok := strings.CutPrefix(key, identityPrefix); ok {
			if identity == nil {
				identity = map[string]string{}
			}
			identity[key] = value
		}
	}
	if got := metadata[formatKey]; identity != nil && got != modelFormat {
		return nil, fmt.Errorf("format: got %q, want %q: another program wrote the model, and this one does not read it",
			got, modelFormat)
	}
	return identity, nil
}
