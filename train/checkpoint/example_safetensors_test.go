package checkpoint_test

import (
	"fmt"
	"os"
	"path/filepath"

	"attention/layers"
	"attention/train/checkpoint"

	"gorgonia.org/tensor"
)

// One tensor of a model's file.
func ExampleReadTensor() {
	folder, err := os.MkdirTemp("", "model")
	check(err)
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "model.safetensors")
	p := layers.NewParams(tensor.Float32, 123)
	_, err = layers.NewLinear(p.Scope("output"), layers.LinearConfig{InFeatures: 2, OutFeatures: 3})
	check(err)
	check(checkpoint.WriteParams(path, p, nil))

	weight, err := checkpoint.ReadTensor(path, "output.weight")
	check(err)
	fmt.Println(weight.Dtype(), weight.Shape())
	// Output: float32 (3, 2)
}

// A file of tensors, as safetensors.torch.save_file and load_file write and read it.
func ExampleWriteTensors() {
	folder, err := os.MkdirTemp("", "tensors")
	check(err)
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "tensors.safetensors")
	check(checkpoint.WriteTensors(path, map[string]*tensor.Dense{
		"tokens": tensor.New(tensor.WithShape(2, 3), tensor.WithBacking([]int64{5, 1, 2, 7, 0, 0})),
		"scale":  tensor.New(tensor.WithShape(1), tensor.WithBacking([]float32{0.5})),
	}, map[string]string{"format": "pt"}))

	tensors, metadata, err := checkpoint.ReadTensors(path)
	check(err)
	fmt.Println(tensors["tokens"].Dtype(), tensors["tokens"].Shape(), tensors["scale"].Data(), metadata)
	// Output: int64 (2, 3) [0.5] map[format:pt]
}
