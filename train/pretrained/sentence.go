package pretrained

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"attention/internal/config"
	"attention/internal/folder"
	"attention/layers"
)

// Names of the files of sentence-transformers beside a model.
const (
	modulesName  = "modules.json"
	sentenceName = "sentence_bert_config.json"
)

// Sentence says how an encoder makes one vector of a text, as sentence-transformers does.
type Sentence struct {
	Pooling   layers.Pooling // pooling of the tokens' vectors; mean if the folder does not say
	Normalize bool           // whether vectors are scaled to length 1
	MaxLength int            // the most tokens of a text, including those of the template; longer texts are truncated

	lowercase bool // whether texts become lower case before the rest of the tokenizer's normalizer
}

// openSentence reads a folder's files of sentence-transformers. positions is the model's number of positions. It also
// returns the folders of the modules.
func openSentence(dir string, positions int) (s Sentence, folders []string, err error) {
	s = Sentence{Pooling: layers.MeanPooling, MaxLength: positions}
	var c struct {
		MaxLength int  `json:"max_seq_length"`
		Lowercase bool `json:"do_lower_case"`
	}
	if _, err := readJSON(dir, sentenceName, &c); err != nil {
		return s, nil, err
	}
	s.lowercase = c.Lowercase
	var t struct {
		MaxLength float64 `json:"model_max_length"` // 1e30 means none
	}
	if _, err := readJSON(dir, tokenizerConfigName, &t); err != nil {
		return s, nil, err
	}
	for _, n := range []float64{float64(c.MaxLength), t.MaxLength} {
		if n >= 1 && n < float64(s.MaxLength) {
			s.MaxLength = int(n)
		}
	}
	var modules []struct {
		Path string `json:"path"`
		Type string `json:"type"`
	}
	if _, err := readJSON(dir, modulesName, &modules); err != nil {
		return s, nil, err
	}
	for i, m := range modules {
		var err error
		switch kind := m.Type[strings.LastIndexByte(m.Type, '.')+1:]; {
		case i == 0 && kind == "Transformer" && (m.Path == "" || m.Path == "."):
		case i == 1 && kind == "Pooling" && filepath.IsLocal(m.Path):
			s.Pooling, err = openPooling(filepath.Join(dir, m.Path))
		case i == 2 && kind == "Normalize":
			s.Normalize = true
		default:
			err = fmt.Errorf("got %.60q at %d, want Transformer, Pooling and Normalize", m.Type, i)
		}
		if err != nil {
			return s, nil, fmt.Errorf("%s: %w", modulesName, err)
		}
		if filepath.IsLocal(m.Path) && filepath.Clean(m.Path) != "." {
			folders = append(folders, m.Path)
		}
	}
	return s, folders, nil
}

// openPooling reads the config.json of a Pooling.
func openPooling(dir string) (layers.Pooling, error) {
	var c map[string]json.RawMessage
	if ok, err := readJSON(dir, configName, &c); err != nil || !ok {
		return "", cmp.Or(err, fmt.Errorf("%s: %w", filepath.Join(dir, configName), fs.ErrNotExist))
	}
	modes := map[string]layers.Pooling{"pooling_mode_cls_token": layers.FirstPooling,
		"pooling_mode_mean_tokens": layers.MeanPooling, "pooling_mode_max_tokens": layers.MaxPooling}
	var chosen []layers.Pooling
	for key, value := range c {
		switch {
		case key == "pooling_mode":
			var name layers.Pooling
			if err := json.Unmarshal(value, &name); err != nil {
				return "", fmt.Errorf("%s: %w", key, err)
			}
			chosen = append(chosen, name)
		case strings.HasPrefix(key, "pooling_mode_") && string(value) == "true":
			if modes[key] == "" {
				return "", fmt.Errorf("%s: got true, want the mean, the maximum or the first token", key)
			}
			chosen = append(chosen, modes[key])
		}
	}
	if len(chosen) != 1 {
		return "", fmt.Errorf("got %d kinds of pooling, want one", len(chosen))
	}
	return chosen[0], config.OneOf(Sentence{}, "Pooling", chosen[0], layers.MeanPooling, layers.FirstPooling,
		layers.MaxPooling)
}

// readJSON reads a file of a folder, and reports whether the file exists.
func readJSON(dir, name string, to any) (bool, error) {
	text, err := folder.ReadFile(filepath.Join(dir, name), folder.MaxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := config.Foreign.Decode(text, to); err != nil {
		return false, fmt.Errorf("%s: %w", name, err)
	}
	return true, nil
}
