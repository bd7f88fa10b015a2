package train

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"attention/cmd/attention/internal/run"
	"attention/internal/tensorprint"
	"attention/train"

	"github.com/spf13/pflag"
	"gorgonia.org/tensor"
)

// isFolder reports whether --init names the folder of a model, not a file of weights.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// fillFromInit gives the flags of the model's form the values of the folder of --init. A file
// of weights has none.
func (o *options) fillFromInit(flags *pflag.FlagSet) error {
	if !isFolder(o.init) || flags.Changed("model") && o.model != run.GPTModel {
		return nil
	}
	f, err := run.ModelFolders().ReadSpec(o.init)
	if err := run.CheckFinished(o.init, err); err != nil {
		return err
	}
	leaves, err := formLeaves(run.ModelConfig{GPT: &f.Config})
	if err != nil {
		return err
	}
	leaves["dtype"] = f.Dtype.String()
	if f.Tokenizer != nil {
		c := f.Tokenizer.Config()
		leaves["vocabulary.tokenizer"] = c.Name
		if o.vocabulary.Characters == "" {
			o.vocabulary = c
		}
	}
	values, err := settings(flags, leaves)
	if err != nil {
		return err
	}
	return fill(flags, values)
}

// formLeaves are the values of a model's config that its weights are made for. Those of
// dropout are the training's.
func formLeaves(c run.ModelConfig) (map[string]any, error) {
	text, err := json.Marshal(map[string]any{"model": c})
	if err != nil {
		return nil, err
	}
	leaves, err := run.Leaves(text)
	maps.DeleteFunc(leaves, func(path string, _ any) bool {
		return strings.HasSuffix(path, "_pdrop") || strings.HasSuffix(path, ".dropout")
	})
	return leaves, err
}

// initSource is what --init names; nil for none. It must have the checksum, if one is
// said.
func initSource(path, sum string) (*run.TextSource, error) {
	if path == "" {
		return nil, nil
	}
	source, err := sourceOf(path)
	if err != nil {
		return nil, fmt.Errorf("--init: %w", err)
	}
	if sum != "" && source.SHA256 != sum {
		return nil, fmt.Errorf("--init: %s: got weights with SHA-256 %s, want %s, that of those that the run began with", path, source.SHA256, sum)
	}
	return &source, nil
}

// readInit puts the weights that the run is to begin with, if there are such, in the
// place of new ones.
func (r *training) readInit() error {
	if r.config.Init == nil {
		return nil
	}
	if err := r.readWeights(r.config.Init.Name); err != nil {
		return fmt.Errorf("--init: %w", err)
	}
	return nil
}

func (r *training) readWeights(path string) error {
	if !isFolder(path) {
		_, err := train.ReadParams(path, r.params)
		if err != nil {
			err = cmp.Or(r.misfit(path), err)
		}
		return err
	}
	if r.config.Model.GPT == nil {
		return fmt.Errorf("%s: got a folder, want a safetensors file: only --model %s takes folders", path, run.GPTModel)
	}
	g, err := run.ModelFolders().ReadGPT(path)
	if err != nil {
		return err
	}
	of := g.Model.Config()
	of.ContextLength = min(of.ContextLength, r.model.Context()) // fewer positions are no harm
	if err := sameForm(path, r.config.Model, run.ModelConfig{GPT: &of}); err != nil {
		return err
	}
	if g.Tokenizer != nil && g.Tokenizer.Config() != r.config.Vocabulary {
		return fmt.Errorf("%s: got other tokens than those of --tokenizer %s and the text's, want the same", path, r.config.Vocabulary.Name)
	}
	for name, to := range r.params.All() {
		from, _ := g.Params.Get(name)
		copyRows(to, from)
	}
	return nil
}

// misfit returns an error that names the flag for which the weights of a run's model.safetensors
// do not fit, if the config beside it tells.
func (r *training) misfit(path string) error {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(path), run.ConfigFile))
	if err != nil || filepath.Base(path) != run.ModelFile {
		return nil
	}
	var of struct {
		Model *run.ModelConfig `json:"model"`
		Dtype string           `json:"dtype"`
	}
	if err := json.Unmarshal(text, &of); err != nil || of.Model == nil {
		return nil
	}
	if got := r.config.Dtype; got != of.Dtype {
		return fmt.Errorf("%s: --dtype: got %s, want %s, that of the weights", path, got, of.Dtype)
	}
	return sameForm(path, r.config.Model, *of.Model)
}

// sameForm refuses a config that weights are not made for.
func sameForm(path string, got, of run.ModelConfig) error {
	if got.Name() != of.Name() {
		return fmt.Errorf("%s: --model: got %s, want %s, that of the weights", path, got.Name(), of.Name())
	}
	is, err := formLeaves(got)
	if err != nil {
		return err
	}
	want, err := formLeaves(of)
	if err != nil {
		return err
	}
	flags := settingFlags()
	for _, key := range slices.Sorted(maps.Keys(flags)) {
		if is[key] != want[key] && strings.HasPrefix(key, "model.") {
			return fmt.Errorf("%s: --%s: got %v, want %v, that of the weights", path, flags[key], orNone(is[key]), orNone(want[key]))
		}
	}
	return nil
}

func orNone(v any) any {
	if v == nil {
		return 0
	}
	return v
}

// copyRows fills to with the first elements of from, which may be of another type.
func copyRows(to, from *tensor.Dense) {
	switch dst := to.Data().(type) {
	case []float64:
		copy(dst, tensorprint.Float64s(from))
	case []float32:
		if src, ok := from.Data().([]float32); ok {
			copy(dst, src)
			return
		}
		for i, v := range tensorprint.Float64s(from)[:len(dst)] {
			dst[i] = float32(v)
		}
	}
}

// sourceOf reads a file, or those that a model's folder holds, to the end.
func sourceOf(path string) (run.TextSource, error) {
	names := []string{path}
	if isFolder(path) {
		names = nil
		for _, pattern := range []string{run.ConfigFile, "*.safetensors"} {
			found, err := fs.Glob(os.DirFS(path), pattern)
			if err != nil {
				return run.TextSource{}, err
			}
			for _, name := range found {
				names = append(names, filepath.Join(path, name))
			}
		}
	}
	sum, size := sha256.New(), 0
	for _, name := range names {
		n, err := addFile(sum, name)
		if err != nil {
			return run.TextSource{}, err
		}
		size += n
	}
	return run.TextSource{Name: path, Bytes: size, SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}

func addFile(sum io.Writer, path string) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(sum, f)
	return int(n), errors.Join(err, f.Close())
}
