package run

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"attention/internal/folder"
	"attention/internal/safetensors"
	"attention/train"
	"attention/train/pretrained"
)

// modelFolders returns a reader of the folders of GPTs, which may be those of runs.
func modelFolders() pretrained.Reader { return pretrained.Reader{Config: pretrainedConfig} }

// ReadGPT reads a GPT from a model folder, which may be that of a run.
func ReadGPT(dir string) (*pretrained.GPT, error) {
	if err := CheckModel(dir); err != nil {
		return nil, err
	}
	return modelFolders().ReadGPT(dir)
}

// readSpec reads what ReadGPT reads except the weights.
func readSpec(dir string) (pretrained.Spec, error) {
	if err := CheckModel(dir); err != nil {
		return pretrained.Spec{}, err
	}
	return modelFolders().ReadSpec(dir)
}

// CheckModel returns an error if the model of a run's folder does not belong to its config.json. Models of other
// programs, and of earlier ones, do not tell.
func CheckModel(dir string) error {
	path := filepath.Join(dir, ModelFile)
	r, err := safetensors.Open(path)
	if err != nil {
		return nil // reading the model reports it
	}
	defer r.Close()
	about := AboutOf(r.Metadata())
	if len(about) == 0 {
		return nil
	}
	if !r.Sealed() {
		return fmt.Errorf("%s: %w: got no checksum, want one", path, train.ErrDamaged)
	}
	text, err := folder.ReadFile(filepath.Join(dir, ConfigFile), folder.MaxConfig)
	if err != nil {
		return err
	}
	c, err := ParseConfig(text)
	if err != nil {
		return nil // reading the config reports it
	}
	return c.CheckAbout(dir, path, about)
}

// AboutOf returns what a run's model is about by its metadata, as Folder.WriteParams wrote it.
func AboutOf(metadata map[string]string) map[string]string {
	about := map[string]string{}
	for key, value := range metadata {
		if key, ok := strings.CutPrefix(key, aboutPrefix); ok {
			about[key] = value
		}
	}
	return about
}

// CheckAbout returns an error for the first value of a config, that in the folder dir, that differs from what the
// file of weights at path is about.
func (c Config) CheckAbout(dir, path string, about map[string]string) error {
	got, err := c.aboutModel()
	if err != nil {
		return err
	}
	return CheckAbout(got, dir, path, about)
}

// CheckAbout returns an error for the first value got from the config in the folder dir that differs from what the
// file of weights at path is about.
func CheckAbout(got map[string]string, dir, path string, about map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if want, ok := about[key]; !ok || want != got[key] {
			g, w := cutEqual(got[key], want)
			return fmt.Errorf("%s: %s: got %s, want %s, that of %s", filepath.Join(dir, ConfigFile), key, g, w, path)
		}
	}
	return nil
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

// pretrainedConfig returns the config.json of a model folder for that of a run, in which the GPT's config is the value
// of "model". It returns other contents unchanged, even if they are no JSON object: the reader refuses them.
func pretrainedConfig(contents []byte) ([]byte, error) {
	var members map[string]json.RawMessage
	if json.Unmarshal(contents, &members) != nil || members["model"] == nil {
		return contents, nil
	}
	t, err := parseTree(contents)
	if err != nil {
		return nil, err
	}
	model := treeAt(t, "model")
	if kind := model["type"]; kind != GPTModel {
		if kind == nil {
			kind = ""
		}
		return nil, fmt.Errorf("model.type: got %.40q, want %q: %w", fmt.Sprint(kind), GPTModel, pretrained.ErrNotGPT)
	}
	delete(model, "type")
	model["model_type"] = "gpt2"
	if vocabulary, ok := t["vocabulary"]; ok {
		model["vocabulary"] = vocabulary
	}
	return json.Marshal(model)
}
