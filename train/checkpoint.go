package train

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	"attention/graph"
	"attention/internal/folder"
	"attention/internal/kernel"
	"attention/internal/safetensors"
)

// A checkpoint is a safetensors file of all parameters and the solver's state, told
// apart by a prefix. Its metadata are the strings below and a checksum over the file's
// bytes (package folder).
const (
	checkpointFormat = "attention checkpoint 2"

	paramPrefix  = "params."
	solverPrefix = "solver."
	bestPrefix   = "best."  // before the parameters of Loop.Best, with Config.KeepBest
	watchPrefix  = "watch." // before what a Watch remembers, with Loop.WatchTo

	formatKey    = "format"    // checkpointFormat
	stepKey      = "step"      // steps taken
	evaluatedKey = "evaluated" // Loop.Evaluated
	configKey    = "config"    // Config as JSON
	sourceKey    = "source"    // Resumable.State in base64; missing without a source
	kernelsKey   = "kernels"   // kernel.InstructionSet; missing in files of older programs
	sumsKey      = "sums"      // treeSums; missing in files of older programs
	precisionKey = "precision" // of products, unless it is full
	frozenKey    = "frozen"    // names of the frozen parameters as JSON; missing without any
	bestKey      = "best"      // evaluations as JSON; missing without Config.KeepBest and Config.Patience
	watchKey     = "watch"     // step of the last record; missing without Loop.WatchTo
	aboutPrefix  = "about."    // before the keys of Config.About
	notesPrefix  = "notes."    // before those of Loop.Notes
)

// Save writes all that a run needs to resume: parameters, the solver's state, the
// number of steps taken, the config and the position of the source of the batches.
// Dropout's masks follow from seed and step. With a nil source its position is left
// to the caller.
//
// The file is written beside path, flushed and renamed, and the folder flushed, so
// that path never holds half of it and keeps what it held if this fails. It holds a
// checksum of all its bytes. A parameter that is NaN or infinite is an error that
// wraps ErrNotFinite: no run could resume from it. With Config.Group rank 0 writes it, also
// the other processes' parts of the solver's state.
func (l *Loop) Save(path string, source Resumable) error {
	if err := l.trainable(); err != nil {
		return err
	}
	return l.saved(func() error {
		return l.save(source, func(fill func(io.Writer) error) error { return folder.WriteFile(path, fill) })
	})
}

// save saves a checkpoint to the file that write writes.
func (l *Loop) save(source Resumable, write func(fill func(io.Writer) error) error) error {
	f, err := l.checkpoint(source)
	if err == nil {
		err = write(func(w io.Writer) error { return safetensors.WriteSealed(w, f) })
	}
	if err != nil {
		return fmt.Errorf("train: checkpoint after %d steps: %w", l.Steps(), err)
	}
	return nil
}

// checkpoint returns all that a run needs to resume.
func (l *Loop) checkpoint(source Resumable) (*safetensors.File, error) {
	if err := CheckFinite(l.params); err != nil {
		return nil, err
	}
	settings, err := json.Marshal(l.config)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	metadata := map[string]string{
		formatKey:    checkpointFormat,
		stepKey:      strconv.Itoa(l.Steps()),
		evaluatedKey: strconv.Itoa(l.evaluated),
		configKey:    string(settings),
		kernelsKey:   kernel.InstructionSet(),
		sumsKey:      treeSums,
	}
	if p := l.step.program.precision; p != graph.FullPrecision {
		metadata[precisionKey] = p.String()
	}
	if source != nil {
		metadata[sourceKey] = base64.StdEncoding.EncodeToString(source.State())
	}
	if frozen := l.step.program.frozen; len(frozen) > 0 {
		names, err := json.Marshal(frozen)
		if err != nil {
			return nil, fmt.Errorf("frozen: %w", err)
		}
		metadata[frozenKey] = string(names)
	}
	for key, value := range l.config.About {
		metadata[aboutPrefix+key] = value
	}
	for key, value := range l.notes {
		metadata[notesPrefix+key] = value
	}
	params, err := toFile(paramPrefix, l.params.All())
	if err != nil {
		return nil, err
	}
	state, err := l.solverFile()
	if err != nil {
		return nil, err
	}
	kept, err := l.bestFile(metadata)
	if err != nil {
		return nil, err
	}
	watched, err := l.watchFile(metadata)
	if err != nil {
		return nil, err
	}
	return &safetensors.File{Metadata: metadata, Tensors: slices.Concat(params, state, kept, watched)}, nil
}
