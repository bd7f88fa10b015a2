// Package flags checks the values of flags. Its errors name the flag.
package flags

import (
	"fmt"

	"attention/cmd/attention/internal/program"

	"github.com/spf13/cobra"
	"gorgonia.org/tensor"
)

// CommandError adds the command's name and a hint at its help to the error of a flag that cannot be parsed.
func CommandError(cmd *cobra.Command, err error) error {
	return fmt.Errorf("%s: %w; see %s", cmd.Name(), err, program.Command(cmd.Name(), "--help"))
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
