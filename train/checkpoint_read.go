package train

import (
	"fmt"

	"attention/internal/safetensors"
	"attention/layers"
)

// Checkpoint describes a checkpoint.
type Checkpoint struct {
	Steps int               // that the run had taken
	About map[string]string // Config.About
}

// ReadCheckpoint copies the parameters of a checkpoint, such as that of a run that is not
// finished, into those given. The error for a file that was cut short or changed wraps
// ErrDamaged; any error leaves the parameters as they were.
func ReadCheckpoint(path string, p *layers.Params) (Checkpoint, error) {
	var c checkpointMetadata
	values := map[string]any{}
	err := readCheckpoint(path, p, func(r *safetensors.Reader) (err error) {
		c, err = fittingParams(r, p)
		return err
	}, func(r *safetensors.Reader) error {
		for name := range p.All() {
			t, err := r.Read(paramPrefix + name)
			if err != nil {
				return err
			}
			values[name] = t.Data
		}
		return nil
	})
	if err != nil {
		return Checkpoint{}, err
	}
	for name, value := range p.All() {
		setElements(value, values[name])
	}
	return Checkpoint{Steps: c.step, About: c.config.About}, nil
}

// fittingParams returns the metadata of a checkpoint whose parameters are these, whatever its solver.
func fittingParams(r *safetensors.Reader, p *layers.Params) (checkpointMetadata, error) {
	c, err := readCheckpointMetadata(r.Metadata())
	if err != nil {
		return c, err
	}
	saved, _ := withoutPrefix(signaturesIn(r), bestPrefix)
	saved, _ = withoutPrefix(saved, solverPrefix)
	saved, _ = withoutPrefix(saved, watchPrefix)
	return c, compareSignatures(signatures(paramPrefix, p.All()), saved)
}

// readCheckpoint reads a checkpoint of these parameters that fits and is not damaged.
func readCheckpoint(path string, p *layers.Params, fits, read func(*safetensors.Reader) error) error {
	r, err := safetensors.OpenSealed(path)
	if err == nil {
		err = readFitting(r, path, mostBytes(p), func() error { return fits(r) }, func() error {
			if err := read(r); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("train: checkpoint: %w", err)
	}
	return nil
}

// mostBytes returns a number of bytes that no checkpoint of these parameters, of either type, exceeds: a solver keeps
// two numbers for each, and a few of its own, Config.KeepBest one, and a Watch three.
func mostBytes(p *layers.Params) int64 { return 7*8*int64(p.Count()) + 1<<10 }
