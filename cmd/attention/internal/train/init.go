package train

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"

	"attention/cmd/attention/internal/run"
	"attention/internal/folder"
	"attention/internal/oneline"
	"attention/internal/tensorprint"
	"attention/train"

	"gorgonia.org/tensor"
)

// checkInit completes the source of initial weights; nil means none. If it has a checksum, the weights must match it.
func checkInit(s *run.TextSource) error {
	if s == nil {
		return nil
	}
	source, err := sourceOf(s.Name)
	if err != nil {
		return fmt.Errorf("--init: %w", err)
	}
	if s.SHA256 != "" && source.SHA256 != s.SHA256 {
		return fmt.Errorf("--init: %s: got weights with SHA-256 %s, want %s, that of those that the run began with",
			s.Name, source.SHA256, s.SHA256)
	}
	*s = source
	return nil
}

// readInit reads the initial weights unless the run begins with new ones.
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
	if !run.IsFolder(path) {
		if _, err := train.ReadParams(path, r.model.Params()); err != nil {
			return cmp.Or(r.misfit(path), err)
		}
		return atPath(path, train.CheckFinite(r.model.Params()))
	}
	if r.config.Model.GPT == nil {
		return fmt.Errorf("%s: got a folder, want a safetensors file: only --model %s takes folders", path, run.GPTModel)
	}
	g, err := run.ReadGPT(path)
	if err != nil {
		return err
	}
	of := g.Model.Config()
	of.ContextLength = min(of.ContextLength, r.model.Context()) // fewer positions are fine
	if err := atPath(path, r.config.Model.CheckForm(run.ModelConfig{GPT: &of})); err != nil {
		return err
	}
	if g.Tokenizer != nil && g.Tokenizer.Config() != r.config.Vocabulary {
		return fmt.Errorf("%s: got other tokens than those of --tokenizer %s and the text's, want the same",
			path, r.config.Vocabulary.Name)
	}
	for name, to := range r.model.Params().All() {
		from, _ := g.Params.Get(name)
		copyRows(to, from)
	}
	return nil
}

// misfit returns an error naming the flag that makes the weights of a run's model.safetensors unfit, or nil if no
// config beside the file gives such a flag.
func (r *training) misfit(path string) error {
	text, err := folder.ReadFile(filepath.Join(filepath.Dir(path), run.ConfigFile), folder.MaxConfig)
	if err != nil || filepath.Base(path) != run.ModelFile {
		return nil
	}
	of, err := run.ParseConfig(text)
	if err == nil {
		err = of.ValidateModel()
	}
	if err != nil {
		return nil
	}
	if got := r.config.Dtype; got != of.Dtype {
		return fmt.Errorf("%s: --dtype: got %s, want %s, that of the weights", path, got, of.Dtype)
	}
	return atPath(path, r.config.Model.CheckForm(of.Model))
}

// atPath returns an error about a file: it begins with its path.
func atPath(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", path, err)
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

// sourceOf returns the size and checksum of a file, or of the files of a model's folder.
func sourceOf(path string) (run.TextSource, error) {
	names := []string{path}
	if run.IsFolder(path) {
		names = nil
		found, err := folder.Names(path)
		if err != nil {
			return run.TextSource{}, err
		}
		for _, pattern := range []string{run.ConfigFile, "*.safetensors"} {
			for _, name := range found {
				if ok, _ := filepath.Match(pattern, name); ok { // the patterns are valid
					names = append(names, filepath.Join(path, name))
				}
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
	f, err := folder.Open(path)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(sum, f)
	return int(n), oneline.Join(err, f.Close())
}
