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
	"attention/internal/oneline"
	"attention/internal/safetensors"
	"attention/layers"
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

// Restore sets the loop and the source to the state that Save wrote to a file. The loop
// must have parameters of the same names, dtypes and shapes, the same ones frozen, an equal
// solver config and equal Config.About. The error lists what does not fit and leaves loop
// and source as they were. The error for a file that was cut short or changed wraps
// ErrDamaged. If a file that is whole cannot be read a second time, the loop trains no more
// until another Restore.
//
// Steps, schedule, clipping, seed and the batches of a step are the loop's own: if
// they are equal too, the coming steps give the same bits as if the run had never
// stopped, with the same kernels: see OtherKernels. With a nil source the
// file may hold a source's state or none. KeepBest begins anew if the file was saved
// without.
func (l *Loop) Restore(path string, source Resumable) error {
	if err := l.made(); err != nil {
		return err
	}
	var c checkpointMetadata
	return readCheckpoint(path, l.params, func(r *safetensors.Reader) (err error) {
		c, err = l.fitting(r)
		return err
	}, func(r *safetensors.Reader) error { return l.restore(r, c, source) })
}

// fitting returns the metadata of a checkpoint whose tensors, solver and config are the loop's.
func (l *Loop) fitting(r *safetensors.Reader) (checkpointMetadata, error) {
	c, err := readCheckpointMetadata(r.Metadata())
	if err != nil {
		return c, err
	}
	if got, want := c.config.Solver.resolved(), l.config.Solver.resolved(); !got.equal(want) {
		return c, fmt.Errorf("solver: got %v, want the loop's %v", got, want)
	}
	if got, want := c.frozen, l.step.program.frozen; !slices.Equal(got, want) {
		return c, fmt.Errorf("frozen parameters: got %s, want the loop's %s", list(got), list(want))
	}
	if err := compareAbout(l.config.About, c.config.About); err != nil {
		return c, err
	}
	want := append(signatures(paramPrefix, l.params.All()), l.step.solver.wholeSignatures(solverPrefix)...)
	saved, watched := withoutPrefix(signaturesIn(r), watchPrefix)
	c.watched = l.watch != nil && c.recorded >= 0 &&
		compareSignatures(signatures(watchPrefix, l.watch.state(l.step)), watched) == nil
	saved, kept := withoutPrefix(saved, bestPrefix)
	if c.kept = len(kept) > 0; c.kept && l.config.KeepBest {
		want, saved = append(want, signatures(bestPrefix, l.best.kept())...), append(saved, kept...)
	}
	return c, compareSignatures(want, saved)
}

// restore sets the loop and the source to the state of a checkpoint that fits. It reads each number to its
// place: two of a large model do not fit the memory.
func (l *Loop) restore(r *safetensors.Reader, c checkpointMetadata, source Resumable) error {
	solver := l.step.solver
	if solver.steps != nil {
		var steps [1]int64
		if err := r.ReadPart(solverPrefix+stepState, 0, steps[:]); err != nil {
			return err
		}
		if steps[0] < 0 {
			return fmt.Errorf("solver state: step: got %d, want a number >= 0", steps[0])
		}
	}
	undo, err := c.restoreSource(source)
	if err != nil {
		return err
	}
	l.torn = true
	if err := l.readState(r, c); err != nil {
		return oneline.Join(err, undo())
	}
	l.torn = false
	l.step.taken, l.evaluated, l.notes, l.savedWith = c.step, c.evaluated, c.notes, c.kernels
	l.savedSums, l.savedPrecision = c.sums, c.precision
	return nil
}

// readState reads parameters and all that the loop remembers.
func (l *Loop) readState(r *safetensors.Reader, c checkpointMetadata) error {
	if err := readInto(r, paramPrefix, l.params.All()); err != nil {
		return err
	}
	if err := l.step.solver.readPart(r); err != nil {
		return err
	}
	if err := l.restoreBest(c, r); err != nil {
		return err
	}
	return l.restoreWatch(c, r)
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
