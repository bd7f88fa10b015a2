// Package flags checks the values of flags. Its errors name the flag.
package flags

import (
	"fmt"

	"github.com/spf13/cobra"
	"gorgonia.org/tensor"
)

// CommandError adds the command's name and a hint at its help to the error of a flag that cannot be parsed.
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

// AtLeast returns an error if the value of a flag is less than least.
func AtLeast(flag string, got, least int) error {
	if got < least {
		return fmt.Errorf("--%s: got %d, want at least %d", flag, got, least)
	}
	return nil
}

// MaxTensor is the most elements that a tensor of a training step may have: 512 MB in float32, and a step has
// several.
const MaxTensor = 1 << 27

// CheckTensor returns an error if the flags make a tensor of more than most elements. Its size is a float64, which
// does not overflow.
func CheckTensor(flags, what string, size, most float64) error {
	if size > most {
		return fmt.Errorf("%s: got %.3g %s, want at most %.0f", flags, size, what, most)
	}
	return nil
}
