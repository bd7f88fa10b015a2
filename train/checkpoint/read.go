package checkpoint

import (
	"fmt"

	"attention/internal/dense"
	"attention/internal/safetensors"
	"attention/layers"
)

// Checkpoint describes a checkpoint.
type Checkpoint struct {
	Steps int               // that the run had taken
	About map[string]string // loop.Config.About
}

// Read copies the parameters of a checkpoint, such as one of a run that is not finished, into p. The error for a file
// that was cut short or changed wraps ErrDamaged. After any error the parameters are unchanged.
func Read(path string, p *layers.Params) (Checkpoint, error) {
	if err := checkParams(p); err != nil {
		return Checkpoint{}, err
	}
	var c metadata
	r, err := openFitting(path, p, func(r *safetensors.Reader) (err error) {
		c, err = fittingParams(r, p)
		return err
	})
	if err != nil {
		return Checkpoint{}, err
	}
	defer r.Close()
	values := map[string]any{}
	for name := range p.Own() {
		t, err := r.Read(paramPrefix + name)
		if err != nil {
			return Checkpoint{}, errorAbout(path, err)
		}
		values[name] = t.Data
	}
	for name, value := range p.Own() {
		dense.SetSlice(value, values[name])
	}
	return Checkpoint{Steps: c.Steps, About: c.about}, nil
}

// fittingParams returns the metadata of a checkpoint whose parameters are these, whatever its solver.
func fittingParams(r *safetensors.Reader, p *layers.Params) (metadata, error) {
	c, err := readMetadata(r.Metadata())
	if err != nil {
		return c, err
	}
	saved, _ := withoutPrefix(signaturesIn(r), bestPrefix)
	saved, _ = withoutPrefix(saved, solverPrefix)
	saved, _ = withoutPrefix(saved, observedPrefix)
	return c, dense.Compare(dense.Signatures(paramPrefix, p.Own()), saved)
}

// openFitting opens a checkpoint of these parameters that fits and is not damaged.
func openFitting(path string, p *layers.Params, fits func(*safetensors.Reader) error) (*safetensors.Reader, error) {
	r, err := safetensors.OpenSealed(path)
	if err != nil {
		return nil, fmt.Errorf("train: checkpoint: %w", err)
	}
	if err := checkFitting(r, path, mostBytes(p), func() error { return fits(r) }); err != nil {
		_ = r.Close() // nothing has been changed by the attempt
		return nil, fmt.Errorf("train: checkpoint: %w", err)
	}
	return r, nil
}

// errorAbout returns an error about the checkpoint in a file.
func errorAbout(path string, err error) error {
	return fmt.Errorf("train: checkpoint: %s: %w", path, err)
}

// mostBytes returns a size in bytes that no checkpoint of these parameters exceeds, in float32 or float64. For each
// element a solver keeps two numbers, Config.KeepBest one and an observer three. A solver also keeps a few numbers for
// the whole run.
func mostBytes(p *layers.Params) int64 { return 7*8*int64(p.Count()) + 1<<10 }
