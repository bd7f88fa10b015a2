// Package flags checks the values of flags. Its errors name the flag.
package flags

import (
	"errors"
	"fmt"
	"strings"

	"attention/cmd/attention/internal/program"
	"attention/graph"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gorgonia.org/tensor"
)

// CommandError returns the error of a command's flag that cannot be parsed. For a wrong value, the error says what the
// flag got and what it wants. Other errors refer to the command's help.
func CommandError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		f := invalid.GetFlag()
		return fmt.Errorf("--%s: got %q, want %s", f.Name, invalid.GetValue(), valuesOf[f.Value.Type()])
	}
	_, command, _ := strings.Cut(cmd.CommandPath(), " ")
	meant := ""
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		meant = meantFor(cmd.Flags(), unknown.GetSpecifiedName())
	}
	return fmt.Errorf("%w; see %s%s", err, program.Command(append(strings.Fields(command), "--help")...), meant)
}

// valuesOf describes the values of a flag's type, for an error. For a string any text is valid.
var valuesOf = map[string]string{"bool": "true or false", "float64": "a number", "int": "a whole number",
	"int64": "a whole number", "uint64": "a whole number of at least 0"}

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

// PrecisionUsage is the usage of --precision.
const PrecisionUsage = "`precision` of the operands of products: full, or bf16, of float32 where that is faster"

// Precision returns the precision of products that --precision names.
func Precision(name string) (graph.Precision, error) {
	p, err := graph.ParsePrecision(name)
	if err != nil {
		return p, fmt.Errorf("--precision: got %.40q, want full or bf16", name)
	}
	return p, nil
}

// CheckPrecision returns an error of --precision if products of a type cannot or should not be computed in it.
func CheckPrecision(p graph.Precision, dt tensor.Dtype) error {
	if err := p.Check(dt); err != nil {
		return fmt.Errorf("--%s", strings.TrimPrefix(err.Error(), "graph: "))
	}
	return nil
}

// CommandLine returns the command line that gave a set of flags, as a shell reads it.
func CommandLine(command string, set *pflag.FlagSet) string {
	words := []string{"attention", command}
	set.Visit(func(f *pflag.Flag) {
		list, isList := f.Value.(pflag.SliceValue)
		switch {
		case isList:
			for _, value := range list.GetSlice() {
				words = append(words, "--"+f.Name, value)
			}
		case f.Value.Type() == "bool":
			words = append(words, "--"+f.Name+"="+f.Value.String())
		default:
			words = append(words, "--"+f.Name, f.Value.String())
		}
	})
	return program.Shell(words...)
}
