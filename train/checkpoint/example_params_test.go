package checkpoint_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"attention/graph"
	"attention/layers"
	"attention/train/checkpoint"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A custom model, saved and loaded in three lines. The same in PyTorch, which prints the same:
//
//	import os
//	import tempfile
//	import torch
//	from torch import nn
//
//	class Network(nn.Module):
//		def __init__(self):
//			super().__init__()
//			self.hidden = nn.Linear(3, 8)
//			self.output = nn.Linear(8, 1)
//
//		def forward(self, x):
//			return self.output(torch.relu(self.hidden(x)))
//
//	path = os.path.join(tempfile.mkdtemp(), "model.pt")
//	torch.manual_seed(123)
//	model = Network()
//	x = torch.randn(2, 3)
//	torch.save(model.state_dict(), path)
//
//	model = Network()
//	model.load_state_dict(torch.load(path))
//	with torch.no_grad():
//		print("[" + " ".join(f"{y:.6f}" for y in model(x).flatten()) + "]")
func ExampleReadParams() {
	folder, err := os.MkdirTemp("", "model")
	check(err)
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "model.safetensors")
	params := layers.NewParams(tensor.Float32, 123)
	newNetwork(params)
	x := params.Draw(layers.Normal(0, 1), 2, 3)
	check(checkpoint.WriteParams(path, params, nil))

	params = layers.NewBlankParams(tensor.Float32)
	model := newNetwork(params)
	_, err = checkpoint.ReadParams(path, params)
	check(err)
	f, err := layers.NewFunc(params, func(b *layers.Build, in layers.Inputs) []*gorgonia.Node {
		return []*gorgonia.Node{model.forward(b, in["x"])}
	}, layers.FuncConfig{})
	check(err)
	y, err := f.Call(context.Background(), layers.Values{"x": x})
	check(err)
	fmt.Printf("%.6f\n", y[0].Float32s())
	// Output:
	// [-0.103583 -0.137494]
}

type network struct{ hidden, output *layers.Linear }

func newNetwork(p *layers.Params) network {
	hidden, err := layers.NewLinear(p.Scope("hidden"), layers.LinearConfig{InFeatures: 3, OutFeatures: 8, Bias: true})
	check(err)
	output, err := layers.NewLinear(p.Scope("output"), layers.LinearConfig{InFeatures: 8, OutFeatures: 1, Bias: true})
	check(err)
	return network{hidden, output}
}

func (n network) forward(b *layers.Build, x *gorgonia.Node) *gorgonia.Node {
	return b.Of(n.output.Forward(b, b.Of(graph.ReLU(b.Of(n.hidden.Forward(b, x))))))
}

// If a file does not fit, the error lists the differences, and the parameters stay as they were.
func ExampleReadParams_misfit() {
	folder, err := os.MkdirTemp("", "model")
	check(err)
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "model.safetensors")
	params := layers.NewParams(tensor.Float32, 123)
	newNetwork(params)
	check(checkpoint.WriteParams(path, params, nil))

	params = layers.NewBlankParams(tensor.Float32)
	_, err = layers.NewLinear(params.Scope("hidden"), layers.LinearConfig{InFeatures: 3, OutFeatures: 5, Bias: true})
	check(err)
	_, err = layers.NewLinear(params.Scope("head"), layers.LinearConfig{InFeatures: 5, OutFeatures: 1})
	check(err)
	_, err = checkpoint.ReadParams(path, params)
	for _, part := range strings.Split(strings.ReplaceAll(err.Error(), path, "model.safetensors"), "; ") {
		fmt.Println(part)
	}
	// Output:
	// train: parameters: model.safetensors: missing head.weight
	// unknown output.bias, output.weight
	// hidden.weight is float32 (8, 3), want float32 (5, 3), hidden.bias is float32 (8), want float32 (5)
}
