package tiles

import (
	"attention/graph/mask"
	"attention/layers"

	G "gorgonia.org/gorgonia"
)

// Sizes of a model.
const (
	blocks = 2 // L
	heads  = 4 // H
)

// Config configures a model.
type Config struct {
	Alone bool // every tile sees only itself: no attention
}

// Model is a transformer that learns to answer the tiles of a picture with digits.
type Model struct {
	*layers.ViT
	seen mask.Mask // which tiles each tile sees; nil means all
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

// Loss is the mean cross entropy of the answers.
func (m *Model) Loss(b *layers.Build, in layers.Inputs) []*G.Node {
	return b.Nodes(m.ViT.Loss(b, in[pixelsInput], in[answersInput], m.seen))
}
