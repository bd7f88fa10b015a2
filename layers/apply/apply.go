// Package apply runs one layer on tensors of files: JSON names the layer and its sizes, and safetensors files hold its
// parameters and inputs by name. Reference describes them. The package checks names, shapes and elements before it
// computes anything; an error in a tensor names the file and the tensor.
package apply

import (
	"context"
	_ "embed"
	"errors"

	"attention/internal/config"
	"attention/internal/dense"
	"attention/internal/safetensors"

	"gorgonia.org/tensor"
)

// Reference describes the files: the fields of layer.json, the parameters, the inputs and the outputs.
//
//go:embed reference.txt
var Reference string

// Config names the input files of a layer.
type Config struct {
	Weights string // path of a safetensors file with the parameters; empty for a layer without any
	Input   string // path of a safetensors file with the inputs
	// Dtype is the type to compute in: tensor.Float32 or tensor.Float64. Zero means float64 if the layer's first input
	// is, else float32.
	Dtype tensor.Dtype
}

// Tensor is a tensor that a layer computes.
type Tensor struct {
	Name  string
	Value *tensor.Dense
}

// Run returns the tensors that the layer of a config's files computes. It returns as soon as ctx ends, even before the
// computation has stopped, since a single op on long sequences takes seconds.
func (l *Layer) Run(ctx context.Context, c Config) ([]Tensor, error) {
	if ctx == nil {
		return nil, errors.New("apply: context: got nil, want one")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var tensors []Tensor
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		tensors, err = l.run(ctx, c)
	}()
	select {
	case <-done:
		return tensors, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// run does the work of Run, to its end: the files stay open as long as they are read.
func (l *Layer) run(ctx context.Context, c Config) ([]Tensor, error) {
	if c.Dtype.Type != nil && !dense.IsFloat(c.Dtype) {
		return nil, config.Errorf(c, "Dtype", "got %v, want float32 or float64", c.Dtype)
	}
	weights, err := l.openWeights(c.Weights)
	if err != nil {
		return nil, err
	}
	defer weights.close()
	input, err := openTensorFile(c.Input)
	if err != nil {
		return nil, err
	}
	defer input.close()
	if err := l.checkInput(input); err != nil {
		return nil, err
	}
	return l.compute(ctx, l.elementType(c.Dtype, input), weights, input)
}

// openWeights opens the file of the parameters and checks them against the layer's.
func (l *Layer) openWeights(path string) (file *tensorFile, err error) {
	file = &tensorFile{path: "weights"} // for a layer without parameters
	if path != "" {
		if file, err = openTensorFile(path); err != nil {
			return nil, err
		}
	}
	if err := l.checkWeights(file); err != nil {
		file.close()
		return nil, err
	}
	return file, nil
}

// elementType returns the type to compute in.
func (l *Layer) elementType(dt tensor.Dtype, input *tensorFile) tensor.Dtype {
	if dt.Type != nil {
		return dt
	}
	if first := input.tensors[l.sequences[0].name]; first.DType == safetensors.F64 {
		return tensor.Float64
	}
	return tensor.Float32
}
