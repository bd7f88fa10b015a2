package train

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"attention/internal/safetensors"

	"gorgonia.org/tensor"
)

// A checkpoint is a sealed safetensors file of all parameters and the solver's state,
// told apart by a prefix, with strings as its metadata.
const (
	checkpointFormat = "attention checkpoint 2"

	paramPrefix  = "params."
	solverPrefix = "solver."

	formatKey    = "format"    // checkpointFormat
	stepKey      = "step"      // steps taken
	evaluatedKey = "evaluated" // Loop.Evaluated
	configKey    = "config"    // Config as JSON
	sourceKey    = "source"    // Resumable.State in base64; missing without a source
	aboutPrefix  = "about."    // before the keys of Config.About
)

// Save writes all that a run needs to go on from here: parameters, the solver's
// state, the number of steps taken, the config and where the source of the batches
// stands. Dropout needs nothing more, for its masks follow from seed and step. The
// source may be nil; then it is left to the caller.
//
// The file is written beside path, flushed and renamed, and the folder flushed, so
// that path never holds half of it and keeps what it held if this fails. It holds a
// checksum of all its bytes. A parameter that is NaN or infinite is an error that
// wraps ErrNotFinite: a checkpoint is one that a run can go on from.
func (l *Loop) Save(path string, source Resumable) error {
	if err := l.save(path, source); err != nil {
		return fmt.Errorf("train: checkpoint after %d steps: %w", l.Steps(), err)
	}
	return nil
}

func (l *Loop) save(path string, source Resumable) error {
	if err := l.checkFinite(); err != nil {
		return err
	}
	config, err := json.Marshal(l.config)
	if err != nil {
		return fmt.Errorf("config: %w", err)
	}
	metadata := map[string]string{
		formatKey:    checkpointFormat,
		stepKey:      strconv.Itoa(l.Steps()),
		evaluatedKey: strconv.Itoa(l.evaluated),
		configKey:    string(config),
	}
	if source != nil {
		metadata[sourceKey] = base64.StdEncoding.EncodeToString(source.State())
	}
	for key, value := range l.config.About {
		metadata[aboutPrefix+key] = value
	}
	params, err := toFile(paramPrefix, namedParams(l.params))
	if err != nil {
		return err
	}
	state, err := toFile(solverPrefix, l.step.solver.State())
	if err != nil {
		return err
	}
	return writeSealed(path, &safetensors.File{Metadata: metadata, Tensors: append(params, state...)})
}

// checkFinite names the first parameter with a NaN or an infinity.
func (l *Loop) checkFinite() error {
	for name, value := range l.params.All() {
		if !finite(value) {
			return fmt.Errorf("parameter %s: has values that are %w", name, ErrNotFinite)
		}
	}
	return nil
}

// Restore goes back, or on, to where a loop stood when Save wrote the file, and the
// source with it. The loop must be over parameters of the same names and forms, have
// an equal solver config and equal Config.About; everything that does not fit is
// listed in the error, which leaves loop and source as they were. A file that was cut
// short or changed by as much as a bit is an error that wraps ErrDamaged.
//
// Steps, schedule, clipping, seed and the batches of a step are the loop's own: if
// they are equal too, the coming steps give the same bits as if the run had never
// stopped. With a nil source the file may hold a source's state or none.
func (l *Loop) Restore(path string, source Resumable) error {
	f, err := readSealed(path)
	if err != nil {
		return fmt.Errorf("train: checkpoint: %w", err)
	}
	if err := l.restore(f, source); err != nil {
		return fmt.Errorf("train: checkpoint: %s: %w", path, err)
	}
	return nil
}

func (l *Loop) restore(f *safetensors.File, source Resumable) error {
	c, err := readCheckpointMetadata(f.Metadata)
	if err != nil {
		return err
	}
	if got, want := c.config.Solver.resolved(), l.config.Solver.resolved(); got != want {
		return fmt.Errorf("solver: got %v, want the loop's %v", got, want)
	}
	if err := compareAbout(l.config.About, c.config.About); err != nil {
		return err
	}
	params, state := namedParams(l.params), l.step.solver.State()
	want := append(formsOf(paramPrefix, params), formsOf(solverPrefix, state)...)
	if err := compareForms(want, formsInFile(f)); err != nil {
		return err
	}
	read := make([]NamedTensor, len(state)) // the solver checks its values itself
	for i, s := range state {
		read[i] = NamedTensor{s.Name, s.Value.Clone().(*tensor.Dense)}
	}
	fromFile(f, solverPrefix, read)
	undo, err := c.restoreSource(source)
	if err != nil {
		return err
	}
	if err := l.step.solver.SetState(read); err != nil {
		return errors.Join(err, undo())
	}
	fromFile(f, paramPrefix, params)
	l.step.taken, l.evaluated = c.step, c.evaluated
	return nil
}

// checkpointMetadata is what a checkpoint holds beside tensors.
type checkpointMetadata struct {
	step, evaluated int
	config          Config
	source          []byte // nil if there is none
}

func readCheckpointMetadata(metadata map[string]string) (c checkpointMetadata, err error) {
	if got := metadata[formatKey]; got != checkpointFormat {
		return c, fmt.Errorf("format: got %q, want %q", got, checkpointFormat)
	}
	for _, field := range []struct {
		key    string
		number *int
	}{{stepKey, &c.step}, {evaluatedKey, &c.evaluated}} {
		text := metadata[field.key]
		if *field.number, err = strconv.Atoi(text); err != nil || *field.number < 0 {
			return c, fmt.Errorf("%s: got %q, want a whole number >= 0", field.key, text)
		}
	}
	if err := json.Unmarshal([]byte(metadata[configKey]), &c.config); err != nil {
		return c, fmt.Errorf("config: %w", err)
	}
	c.config.About = map[string]string{}
	for key, value := range metadata {
		if key, ok := strings.CutPrefix(key, aboutPrefix); ok {
			c.config.About[key] = value
		}
	}
	if state, ok := metadata[sourceKey]; ok {
		if c.source, err = base64.StdEncoding.DecodeString(state); err != nil {
			return c, fmt.Errorf("source: %w", err)
		}
	}
	return c, nil
}

// restoreSource moves a source, unless it is nil, to where the checkpoint's stood;
// undo moves it back.
func (c checkpointMetadata) restoreSource(source Resumable) (undo func() error, err error) {
	if source == nil {
		return func() error { return nil }, nil
	}
	if c.source == nil {
		return nil, errors.New("source: got none, want the state of one: it was saved without")
	}
	before := source.State()
	if err := source.SetState(c.source); err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	return func() error { return source.SetState(before) }, nil
}

// compareAbout lists the entries that differ.
func compareAbout(want, got map[string]string) error {
	keys := maps.Clone(want)
	if keys == nil {
		keys = map[string]string{}
	}
	maps.Copy(keys, got)
	var differ []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if g, w := got[key], want[key]; g != w {
			differ = append(differ, fmt.Sprintf("%s: got %q, want the loop's %q", key, g, w))
		}
	}
	if len(differ) == 0 {
		return nil
	}
	return errors.New(strings.Join(differ, "; "))
}
