package tiles

import (
	"attention/graph/mask"
	"attention/layers"
	"attention/train"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Sizes of a model.
const (
	blocks = 2 // L
	heads  = 4 // H
)

// Config configures a model.
type Config struct {
	Alone bool // every tile sees itself alone, without attention
}

// Model is a transformer that learns to answer the tiles of a picture with digits.
type Model struct {
	*layers.ViT
	seen mask.Mask // by each tile; nil means all tiles
}

// New makes a model and its parameters.
func New(s layers.Scope, c Config) (*Model, error) {
	network, err := layers.NewViT(s, layers.ViTConfig{Height: width, Width: width, Channels: 3, PatchSize: tileSize,
		EmbedDim: 64, NumLayers: blocks, NumHeads: heads, NumClasses: Digits})
	m := &Model{ViT: network}
	if c.Alone {
		m.seen = mask.SlidingWindow{}
	}
	return m, err
}

// Loss returns the mean cross entropy of the answers, for batches of size pictures.
func (m *Model) Loss(size int) train.Loss {
	return func(b *layers.Build) (*G.Node, error) {
		pixels, answers := b.Input(pixelsInput, size, width, width, 3), b.InputOf(tensor.Int, answersInput, size, Tiles)
		return m.ViT.Loss(b, pixels, answers, m.seen)
	}
}
