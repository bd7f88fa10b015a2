package train

import (
	"encoding/json"
	"fmt"
	"strconv"

	"attention/internal/safetensors"

	"gorgonia.org/tensor"
)

// A checkpoint is a safetensors file of all parameters and the solver's state,
// told apart by a prefix, with three strings as its metadata.
const (
	checkpointFormat = "attention checkpoint 1"

	paramPrefix  = "params."
	solverPrefix = "solver."

	formatKey = "format" // checkpointFormat
	stepKey   = "step"   // steps taken
	configKey = "config" // Config as JSON
)

// Save writes all that the loop needs to go on from here: parameters, the
// solver's state, the number of steps taken, and the config to be read. The file
// is written beside path and then renamed, so that path never holds half of it.
// Where the source of batches stands is not in it; see Windows.State.
func (l *Loop) Save(path string) error {
	config, err := json.Marshal(l.config)
	if err != nil {
		return fmt.Errorf("train: checkpoint: config: %w", err)
	}
	params, err := toFile(paramPrefix, namedParams(l.params))
	if err != nil {
		return err
	}
	state, err := toFile(solverPrefix, l.solver.State())
	if err != nil {
		return err
	}
	f := &safetensors.File{
		Metadata: map[string]string{formatKey: checkpointFormat, stepKey: strconv.Itoa(l.step), configKey: string(config)},
		Tensors:  append(params, state...),
	}
	if err := safetensors.WriteFile(path, f); err != nil {
		return fmt.Errorf("train: checkpoint: %w", err)
	}
	return nil
}

// Restore goes back, or on, to where a loop stood when Save wrote the file. The
// loop must be over parameters of the same names and forms and have an equal
// solver config; everything that does not fit is listed in the error, which
// leaves the loop as it was. Steps, schedule, clipping and seed are the loop's
// own: if they are equal too, the coming steps on the same batches give the same
// bits as if the run had never stopped.
func (l *Loop) Restore(path string) error {
	f, err := safetensors.ReadFile(path)
	if err != nil {
		return fmt.Errorf("train: checkpoint: %w", err)
	}
	if err := l.restore(f); err != nil {
		return fmt.Errorf("train: checkpoint: %s: %w", path, err)
	}
	return nil
}

func (l *Loop) restore(f *safetensors.File) error {
	step, saved, err := readCheckpointMetadata(f.Metadata)
	if err != nil {
		return err
	}
	if got, want := saved.Solver.resolved(), l.config.Solver.resolved(); got != want {
		return fmt.Errorf("solver: got %v, want the loop's %v", got, want)
	}
	params, state := namedParams(l.params), l.solver.State()
	want := append(formsOf(paramPrefix, params), formsOf(solverPrefix, state)...)
	if err := compareForms(want, formsInFile(f)); err != nil {
		return err
	}
	read := make([]NamedTensor, len(state)) // the solver checks its values itself
	for i, s := range state {
		read[i] = NamedTensor{s.Name, s.Value.Clone().(*tensor.Dense)}
	}
	fromFile(f, solverPrefix, read)
	if err := l.solver.SetState(read); err != nil {
		return err
	}
	fromFile(f, paramPrefix, params)
	l.step = step
	return nil
}

func readCheckpointMetadata(metadata map[string]string) (step int, c Config, err error) {
	if got := metadata[formatKey]; got != checkpointFormat {
		return 0, c, fmt.Errorf("format: got %q, want %q", got, checkpointFormat)
	}
	step, err = strconv.Atoi(metadata[stepKey])
	if err != nil || step < 0 {
		return 0, c, fmt.Errorf("step: got %q, want a whole number >= 0", metadata[stepKey])
	}
	if err := json.Unmarshal([]byte(metadata[configKey]), &c); err != nil {
		return 0, c, fmt.Errorf("config: %w", err)
	}
	return step, c, nil
}
