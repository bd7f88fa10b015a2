// Package apply is the command attention apply, which runs one layer on tensors from files.
package apply

import (
	"context"
	"errors"
	"fmt"
	"os"

	"attention/cmd/attention/internal/flags"
	"attention/cmd/attention/internal/term"
	"attention/internal/dense"
	"attention/internal/oneline"
	"attention/internal/safetensors"
	"attention/layers/apply"

	"github.com/spf13/cobra"
)

// command holds the flags of attention apply.
type command struct {
	config, output string // paths
	files          apply.Config
	dtype          string // float32, float64 or, if not given, empty for the input's own type
	typed          bool   // whether --dtype is on the command line
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
				return err
			}
			fmt.Fprint(cmd.OutOrStdout(), written)
			return nil
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&c.config, "config", "", "JSON `file` that names the layer and its sizes")
	f.StringVar(&c.files.Weights, "weights", "", "safetensors `file` with the parameters; simple needs none")
	f.StringVar(&c.files.Input, "input", "", "safetensors `file` with the input tensors")
	f.StringVar(&c.output, "output", "", "safetensors `file` to write")
	f.StringVar(&c.dtype, "dtype", "",
		"`type` to compute in and to write, float32 or float64 (default: the type of query or x, F16 and BF16 as float32)")
	return cmd
}

// run runs the layer and returns a report of its output. It touches the output file
// only after everything else has succeeded.
func (c *command) run(ctx context.Context) (string, error) {
	if err := c.checkFlags(); err != nil {
		return "", err
	}
	layer, err := apply.Read(c.config)
	if err != nil {
		return "", err
	}
	if names := layer.Parameters(); c.files.Weights == "" && len(names) > 0 {
		return "", fmt.Errorf("--weights: missing, want a safetensors file with %s for layer %s",
			oneline.List(names, 10), layer.Name)
	}
	result, err := layer.Run(ctx, c.files)
	if ctx.Err() != nil {
		return "", term.Interrupted(errors.New("interrupted; nothing was written"))
	}
	if err != nil {
		return "", err
	}
	var file safetensors.File
	report := []string{c.output + ":"}
	for i, t := range result {
		file.Tensors = append(file.Tensors,
			safetensors.Tensor{Name: t.Name, Shape: t.Value.Shape(), Data: dense.Slice(t.Value)})
		text := fmt.Sprintf("%s %v", t.Name, t.Value.Shape())
		if i < len(result)-1 {
			text += ","
		}
		report = append(report, text)
	}
	return term.Fill("wrote ", report...), safetensors.WriteFile(c.output, &file)
}

// checkFlags returns an error for a missing path, an unknown dtype and an output that would overwrite one of its input
// files.
func (c *command) checkFlags() (err error) {
	for _, f := range []struct{ name, path, want string }{
		{"config", c.config, "the path of a layer.json"},
		{"input", c.files.Input, "the path of a safetensors file"},
		{"output", c.output, "the path of the file to write"},
	} {
		if f.path == "" {
			return fmt.Errorf("--%s: missing, want %s", f.name, f.want)
		}
	}
	if c.typed {
		if c.files.Dtype, err = flags.Dtype(c.dtype); err != nil {
			return err
		}
	}
	output, err := os.Stat(c.output)
	if err != nil {
		return nil // probably it does not exist yet; writing reports any other error
	}
	for _, path := range []string{c.config, c.files.Weights, c.files.Input} {
		if info, err := os.Stat(path); err == nil && os.SameFile(info, output) {
			return fmt.Errorf("--output: %s is also read, want another file", c.output)
		}
	}
	return nil
}

// help is the command's help text, with the reference of its files.
var help = `Run one attention layer on tensors from safetensors files and write its output
to another one, so that a program in any language can use or check it.

` + apply.Reference + `
ERRORS: An error is one line, and the exit code is 1. The output file is written
beside its place and then renamed: it is complete or, after an error, as it was
before. It must be none of the files that are read.`

const example = `  Save a layer and an input from PyTorch:

    from safetensors.torch import save_file
    mha = torch.nn.MultiheadAttention(12, 3, batch_first=True)
    save_file(mha.state_dict(), "w.safetensors")
    save_file({"query": x, "lengths": lengths,
               "grad_output": torch.ones(2, 7, 12)}, "in.safetensors")

  Describe the layer:

    echo '{"layer": "attention", "layout": "torch", "embed_dim": 12,
           "num_heads": 3, "qkv_bias": true, "out_bias": true,
           "mask": {"type": "causal"}}' > layer.json

  Run it:

    attention apply --config layer.json --weights w.safetensors \
        --input in.safetensors --output out.safetensors`
