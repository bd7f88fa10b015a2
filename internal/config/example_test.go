package config_test

import (
	"cmp"
	"fmt"

	"attention/internal/config"
)

type LayerConfig struct {
	NumHeads int     `json:"num_heads"`
	OutDim   int     `json:"out_dim"`
	Dropout  float64 `json:"dropout"`
}

func (c LayerConfig) Validate() error {
	if err := cmp.Or(config.AtLeast(c, 1, "NumHeads", "OutDim"), config.Probability(c, "Dropout")); err != nil {
		return err
	}
	if c.OutDim%c.NumHeads != 0 {
		return config.Errorf(c, "NumHeads", "got %d, want a divisor of %s=%d", c.NumHeads, config.Field("OutDim"), c.OutDim)
	}
	return nil
}

type RunConfig struct {
	Steps int         `json:"steps"`
	Layer LayerConfig `json:"layer"`
}

func (c RunConfig) Validate() error {
	return cmp.Or(config.AtLeast(c, 1, "Steps"), config.In(c, "Layer", c.Layer.Validate()))
}

// A file sets a part of a config.
func ExampleDecode() {
	c := RunConfig{Steps: 100, Layer: LayerConfig{NumHeads: 4, OutDim: 12}}
	fmt.Println(config.Decode([]byte(`{"layer": {"num_heads": 3, "dropout": 0.1}}`), &c), c)
	fmt.Println(config.Decode([]byte(`{"layer": {"num_heads": "x"}}`), &c))
	fmt.Println(config.Decode([]byte(`{"layer": {"heads": 3}}`), &c))
	// Output:
	// <nil> {100 {3 12 0.1}}
	// layer.num_heads: got "x", want a whole number
	// layer: unknown field "heads"; it has num_heads, out_dim, dropout
}

// One Validate serves users of Go, of a JSON file and of a command line.
func ExampleErrorf() {
	err := RunConfig{Steps: 100, Layer: LayerConfig{NumHeads: 5, OutDim: 12}}.Validate()
	fmt.Println(err)
	fmt.Println(config.JSON(err))
	fmt.Println(config.Named(err, map[string]string{"layer.num_heads": "--heads", "layer.out_dim": "--width"}))
	// Output:
	// Layer.NumHeads: got 5, want a divisor of OutDim=12
	// layer.num_heads: got 5, want a divisor of out_dim=12
	// --heads: got 5, want a divisor of --width=12
}
