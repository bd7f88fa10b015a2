package train_test

import (
	"fmt"
	"os"
	"path/filepath"

	"attention/layers"
	"attention/train"

	"gorgonia.org/tensor"
)

// One tensor of a model's file.
func ExampleReadTensor() {
	folder, err := os.MkdirTemp("", "model")
	check(err)
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "model.safetensors")
	p := layers.NewParams(tensor.Float32, 123)
	_, err = layers.NewLinear(p.Scope("output"), layers.LinearConfig{In: 2, Out: 3})
	check(err)
	check(train.WriteParams(path, p, nil))

	weight, err := train.ReadTensor(path, "output.weight")
	check(err)
	fmt.Println(weight.Dtype(), weight.Shape())
	// Output: float32 (3, 2)
}
