package trials

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
)

// Flags are the flags of a command that trains small models, each from several seeds, and compares them.
type Flags struct {
	Steps int    // of the training of each model; 0 means the command's default
	Seeds int    // how many
	Seed  int64  // the first one
	Out   string // the folder; empty means the first free one with the command's name
}

// Define adds the flags to a set. steps describes the default of Steps in words.
func (t *Flags) Define(f *pflag.FlagSet, command, steps string, seeds int) {
	f.IntVar(&t.Steps, "steps", 0, fmt.Sprintf("training steps of each model (default: %s)", steps))
	f.IntVar(&t.Seeds, "seeds", seeds, "how many times everything is trained")
	f.Int64Var(&t.Seed, "seed", 1, "the first of the seeds, of initial weights and examples; the next ones follow it")
	f.StringVar(&t.Out, "out", "", fmt.Sprintf("`path` of the folder (default: the first free one of %s/1, %[1]s/2, …)",
		command))
}

// maxSeeds limits the length of a command.
const maxSeeds = 100

// Validate returns an error for the first wrong flag of a parsed set.
func (t Flags) Validate(set *pflag.FlagSet) error {
	switch {
	case set.Changed("steps") && t.Steps < 1:
		return fmt.Errorf("--steps: got %d, want at least 1", t.Steps)
	case t.Seeds < 1 || t.Seeds > maxSeeds:
		return fmt.Errorf("--seeds: got %d, want 1 to %d", t.Seeds, maxSeeds)
	case set.Changed("out") && t.Out == "":
		return errors.New("--out: got nothing, want the name of a folder")
	}
	return nil
}

// All returns the seeds.
func (t Flags) All() []int64 {
	seeds := make([]int64, t.Seeds)
	for i := range seeds {
		seeds[i] = t.Seed + int64(i)
	}
	return seeds
}
