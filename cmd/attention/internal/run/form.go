package run

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"attention/internal/folder"
	"attention/internal/safetensors"
)

// dropouts are the paths of a model's values that its weights do not depend on.
var dropouts = []string{"model.embd_pdrop", "model.attn_pdrop", "model.resid_pdrop", "model.attention.dropout"}

// formOf returns the values of a model's config that its weights depend on.
func formOf(c ModelConfig) (tree, error) {
	form, err := treeOf(c)
	for _, path := range dropouts {
		of, key := form, strings.TrimPrefix(path, "model.")
		if inner, ok := strings.CutPrefix(key, "attention."); ok {
			of, key = treeAt(form, "attention"), inner
		}
		delete(of, key)
	}
	return form, err
}

// CheckForm returns an error naming the flag that makes a model's weights unfit for this one.
func (c ModelConfig) CheckForm(weights ModelConfig) error {
	form, err := formOf(c)
	if err != nil {
		return err
	}
	made, err := formOf(weights)
	if err != nil {
		return err
	}
	is, want := map[string]string{}, map[string]string{}
	for path, value := range leaves(tree{"model": form}) {
		is[path] = fmt.Sprint(value)
	}
	for path, value := range leaves(tree{"model": made}) {
		want[path] = fmt.Sprint(value)
	}
	return compareForms(is, want)
}

// compareForms returns an error naming the flag of the first value of a model that differs.
func compareForms(is, want map[string]string) error {
	for _, f := range trainFlags() {
		for _, path := range f.paths {
			of := strings.HasPrefix(path, "model.") && !slices.Contains(dropouts, path)
			if of && is[path] != want[path] {
				return fmt.Errorf("--%s: got %s, want %s, that of the weights", f.name,
					cmp.Or(is[path], "0"), cmp.Or(want[path], "0"))
			}
		}
	}
	return nil
}

// CheckWeights returns an error naming the flag that makes the weights in a run's model, the file at path, unfit for a
// model of this config. Their shapes do not tell the number of heads, say, or whose tokens they are for. The weights of
// other programs tell nothing.
func (c Config) CheckWeights(path string) error {
	about := aboutWeights(path)
	if len(about) == 0 {
		return nil
	}
	is, err := c.aboutModel()
	if err != nil {
		return err
	}
	is["model.type"], about["model.type"] = c.Model.Type(), LayerModel
	if _, ok := about["model.n_embd"]; ok {
		about["model.type"] = GPTModel
	}
	if got, want := is["dtype"], about["dtype"]; got != want {
		err = fmt.Errorf("--dtype: got %s, want %s, that of the weights", got, want)
	}
	err = cmp.Or(err, compareForms(is, about))
	for _, key := range []string{"vocabulary.tokenizer", "vocabulary.characters"} {
		if err == nil && is[key] != about[key] {
			err = OtherTokens(c)
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// OtherTokens returns the error for weights of a model with another vocabulary.
func OtherTokens(c Config) error {
	return fmt.Errorf("got other tokens than those of --tokenizer %s and the text's, want the same", c.Vocabulary.Name)
}

// aboutWeights returns what the weights in a file are about: by its own metadata or, as for earlier programs' models,
// by the config.json beside it. It returns nothing for those of others.
func aboutWeights(path string) map[string]string {
	r, err := safetensors.Open(path)
	if err != nil {
		return nil // reading the weights reports it
	}
	defer r.Close()
	if about := AboutOf(r.Metadata()); len(about) > 0 || filepath.Base(path) != ModelFile {
		return about
	}
	text, err := folder.ReadFile(filepath.Join(filepath.Dir(path), ConfigFile), folder.MaxConfig)
	if err != nil {
		return nil
	}
	c, err := ParseConfig(text)
	if err == nil {
		err = c.ValidateModel()
	}
	if err != nil {
		return nil
	}
	about, _ := c.aboutModel() // a config that was parsed is JSON
	return about
}
