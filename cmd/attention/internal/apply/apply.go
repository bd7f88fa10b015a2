// Package apply is the command attention apply, which runs one layer on tensors from files.
package apply

import (
	"context"
	"errors"
	"fmt"
	"os"

	"attention/cmd/attention/internal/flags"
	"attention/cmd/attention/internal/term"
	"attention/internal/safetensors"

	"github.com/spf13/cobra"
	"gorgonia.org/tensor"
)

// command holds the flags of attention apply.
type command struct {
	config, weights, input, output string // paths
	dtype                          string // float32, float64 or, not typed, empty for the input's own
	typed                          bool   // whether --dtype is on the command line
}

// New returns the command attention apply.
func New() *cobra.Command {
	var c command
	cmd := &cobra.Command{
		Use:                   "apply --config FILE --weights FILE --input FILE --output FILE",
		Short:                 "Run one layer on tensors from files",
		Long:                  help,
		Example:               example,
		Args:                  cobra.NoArgs,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.typed = cmd.Flags().Changed("dtype")
			written, err := c.run(cmd.Context())
			if err != nil {
				return fmt.Errorf("apply: %w", err)
			}
			fmt.Fprint(cmd.OutOrStdout(), written)
			return nil
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&c.config, "config", "", "JSON `file` that names the layer and its sizes")
	f.StringVar(&c.weights, "weights", "", "safetensors `file` with the parameters; simple needs none")
	f.StringVar(&c.input, "input", "", "safetensors `file` with the input tensors")
	f.StringVar(&c.output, "output", "", "safetensors `file` to write")
	f.StringVar(&c.dtype, "dtype", "",
		"`type` to compute in and to write, float32 or float64 (default: the type of query or x, F16 and BF16 as float32)")
	return cmd
}

// run runs the layer and returns a report of its output. It touches the output file
// only after everything else has succeeded.
func (c command) run(ctx context.Context) (string, error) {
	if err := c.checkFlags(); err != nil {
		return "", err
	}
	layer, err := readLayer(c.config)
	if err != nil {
		return "", err
	}
	weights, err := c.openWeights(layer)
	if err != nil {
		return "", err
	}
	defer weights.close()
	input, err := openTensorFile(c.input)
	if err != nil {
		return "", err
	}
	defer input.close()
	if err := layer.checkInput(input); err != nil {
		return "", err
	}
	result, err := runLayer(ctx, layer, c.elementType(layer, input), weights, input)
	if ctx.Err() != nil {
		return "", term.Interrupted(errors.New("interrupted; nothing was written"))
	}
	if err != nil {
		return "", err
	}
	if err := safetensors.WriteFile(c.output, &safetensors.File{Tensors: result}); err != nil {
		return "", err
	}
	return term.Fill("wrote ", append([]string{c.output + ":"}, describeTensors(result)...)...), nil
}

// checkFlags refuses a missing path, an unknown dtype and an output that would
// replace one of the files it is computed from.
func (c command) checkFlags() error {
	for _, f := range []struct{ name, path, want string }{
		{"config", c.config, "the path of a layer.json"},
		{"input", c.input, "the path of a safetensors file"},
		{"output", c.output, "the path of the file to write"},
	} {
		if f.path == "" {
			return fmt.Errorf("--%s: missing, want %s", f.name, f.want)
		}
	}
	if c.typed {
		if _, err := flags.Dtype(c.dtype); err != nil {
			return err
		}
	}
	output, err := os.Stat(c.output)
	if err != nil {
		return nil // most likely it does not exist yet; writing reports any other error
	}
	for _, path := range []string{c.config, c.weights, c.input} {
		if info, err := os.Stat(path); err == nil && os.SameFile(info, output) {
			return fmt.Errorf("--output: %s is also read, want another file", c.output)
		}
	}
	return nil
}

// openWeights opens the file of the parameters and checks them against the layer's.
func (c command) openWeights(layer *layer) (*tensorFile, error) {
	if c.weights == "" {
		if layer.parameters.Len() > 0 {
			return nil, fmt.Errorf("--weights: missing, want a safetensors file with %s for layer %s",
				nameList(layer.parameterNames()), layer.name)
		}
		return new(tensorFile), nil
	}
	file, err := openTensorFile(c.weights)
	if err != nil {
		return nil, err
	}
	if err := layer.checkWeights(file); err != nil {
		file.close()
		return nil, err
	}
	return file, nil
}

// elementType returns the type to compute in.
func (c command) elementType(layer *layer, input *tensorFile) tensor.Dtype {
	if dt, err := flags.Dtype(c.dtype); err == nil {
		return dt
	}
	if first := input.tensors[layer.sequences[0].name]; first.DType == safetensors.F64 {
		return tensor.Float64
	}
	return tensor.Float32
}

// describeTensors returns the names and shapes of tensors as the phrases of a list.
func describeTensors(tensors []safetensors.Tensor) []string {
	parts := make([]string, len(tensors))
	for i, t := range tensors {
		parts[i] = fmt.Sprintf("%s %v", t.Name, tensor.Shape(t.Shape))
		if i < len(tensors)-1 {
			parts[i] += ","
		}
	}
	return parts
}
