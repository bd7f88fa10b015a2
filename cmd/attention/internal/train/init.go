package train

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/train"
	"attention/train/checkpoint"
)

// readInit reads the initial weights and completes their source. If the source has a checksum, the weights must match
// it. The checksum is compared first, because files that do not match may have any size.
func (r *training) readInit() error {
	if err := r.readSource(r.config.Init); err != nil {
		return fmt.Errorf("--init: %w", err)
	}
	return nil
}

func (r *training) readSource(s *settings.TextSource) error {
	read := r.readFile
	if settings.IsModel(s.Name) {
		read = r.readFolder
	}
	if err := read(s.Name); err != nil {
		return err
	}
	source, err := settings.SourceOf(s.Name)
	if err != nil {
		return err
	}
	if s.SHA256 != "" && source.SHA256 != s.SHA256 {
		return fmt.Errorf("%s: got weights with SHA-256 %s, want %s, as the run began with",
			s.Name, source.SHA256, s.SHA256)
	}
	*s = source
	return nil
}

// readFile reads the initial weights in a safetensors file.
func (r *training) readFile(path string) error {
	if filepath.Ext(path) == ".gguf" { // the error names the expected file
		_, err := models.Inspect(path)
		return err
	}
	_, err := checkpoint.ReadParams(path, r.model.Params())
	if of, ok := errors.AsType[*fs.PathError](err); ok { // the file cannot be opened
		return of
	}
	if !errors.Is(err, checkpoint.ErrDamaged) {
		err = cmp.Or(r.config.CheckWeights(path), err)
	}
	if err != nil {
		return err
	}
	return atPath(path, train.CheckFinite(r.model.Params()))
}

// readFolder reads the initial weights of a GPT or another decoder from a folder.
func (r *training) readFolder(path string) (err error) {
	if r.config.Model.Layer != nil {
		return fmt.Errorf("%s: got a folder, want a safetensors file: only --model %s takes folders", path,
			settings.GPTModel)
	}
	if r.init == nil {
		if r.init, err = models.Inspect(path); err != nil {
			return err
		}
	}
	g, err := r.init.GPT()
	if err != nil {
		return err
	}
	models.NoteIgnored(r.notes, path, g)
	if err := models.CheckGPT(r.config, r.init, g); err != nil {
		return atPath(path, err)
	}
	return g.CopyTo(r.model.Params())
}

// atPath returns an error about a file; its text begins with the path.
func atPath(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", path, err)
}
