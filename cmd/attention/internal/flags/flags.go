// Package flags checks the values of commands' flags. Its errors name the flag.
package flags

import (
	"fmt"

	"github.com/spf13/cobra"
	"gorgonia.org/tensor"
)

// CommandError adds to the error of a flag that cannot be parsed the command's name and where its flags are explained.
func CommandError(cmd *cobra.Command, err error) error {
	return fmt.Errorf("%s: %w; see attention %[1]s --help", cmd.Name(), err)
}

// Dtype returns the element type that --dtype names.
func Dtype(name string) (tensor.Dtype, error) {
	switch name {
	case "float32":
		return tensor.Float32, nil
	case "float64":
		return tensor.Float64, nil
	}
	return tensor.Dtype{}, fmt.Errorf("--dtype: got %q, want float32 or float64", name)
}

// AtLeast returns an error if the value of a flag is below its least one.
func AtLeast(flag string, got, least int) error {
	if got < least {
		return fmt.Errorf("--%s: got %d, want at least %d", flag, got, least)
	}
	return nil
}

// MaxTensor is how many numbers a tensor of a training step may hold: in float32 512 MB, and a step has several.
const MaxTensor = 1 << 27

// CheckTensor returns an error if the flags make a tensor of more elements than most. It counts in float64, which does
// not overflow.
func CheckTensor(flags, what string, size, most float64) error {
	if size > most {
		return fmt.Errorf("%s: got %.3g %s, want at most %.0f", flags, size, what, most)
	}
	return nil
}
