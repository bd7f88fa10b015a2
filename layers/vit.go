package layers

import (
	"cmp"
	"slices"

	"attention/graph"
	"attention/graph/mask"
	"attention/internal/config"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// ViTConfig sizes a ViT.
type ViTConfig struct {
	Height    int `json:"height"`     // of a picture in pixels, a multiple of PatchSize
	Width     int `json:"width"`      // of a picture in pixels, a multiple of PatchSize
	Channels  int `json:"channels"`   // numbers of a pixel: 3 for red, green and blue
	PatchSize int `json:"patch_size"` // pixels, of the side of a patch

	EmbedDim       int        `json:"embed_dim"`                 // E
	NumLayers      int        `json:"num_layers"`                // L, blocks, at most 65536
	NumHeads       int        `json:"num_heads"`                 // H, a divisor of EmbedDim
	DimFeedforward int        `json:"dim_feedforward,omitempty"` // width within the MLPs; 0 means 4·EmbedDim
	Activation     Activation `json:"activation,omitempty"`      // of the MLPs; empty means GELU
	NumClasses     int        `json:"num_classes"`               // V, of each patch
	Dropout        float64    `json:"dropout,omitempty"`         // wherever nn.TransformerEncoder has it; in Train graphs
}

// Validate returns an error that names the first wrong field.
func (c ViTConfig) Validate() error { return inLayer("ViT", c.validate()) }

func (c ViTConfig) validate() error {
	err := cmp.Or(config.AtLeast(c, 1, "Height", "Width", "Channels", "PatchSize", "EmbedDim", "NumLayers", "NumHeads",
		"NumClasses"), config.Probability(c, "Dropout"), config.AtMost(c, maxBlocks, "NumLayers"),
		config.AtMost(c, 1<<14, "Height", "Width", "Channels"), config.AtMost(c, 1<<10, "PatchSize"))
	if err != nil {
		return err
	}
	for _, side := range []size{{"Height", c.Height}, {"Width", c.Width}} {
		if side.number%c.PatchSize != 0 {
			return config.Errorf(c, side.field, "got %d, want a multiple of %s=%d", side.number,
				config.Field("PatchSize"), c.PatchSize)
		}
	}
	err = tablesFit(c, "EmbedDim", c.EmbedDim, size{"NumClasses", c.NumClasses}, size{"Height", c.rows()},
		size{"Width", c.columns()}, size{"PatchSize", c.patchDim()})
	if err != nil {
		return err
	}
	return config.From(c, c.block().validate(), map[string]string{
		"Attention.NumHeads": "NumHeads", "Attention.EmbedDim": "EmbedDim", "Attention.OutDim": "EmbedDim",
		"MLP.EmbedDim": "EmbedDim", "MLP.DimFeedforward": "DimFeedforward",
		"MLP.Activation": "Activation",
	})
}

func (c ViTConfig) rows() int     { return c.Height / c.PatchSize }
func (c ViTConfig) columns() int  { return c.Width / c.PatchSize }
func (c ViTConfig) patchDim() int { return c.PatchSize * c.PatchSize * c.Channels }

func (c ViTConfig) block() BlockConfig {
	return torchBlock(c.norm(), c.NumHeads, 0, c.DimFeedforward, c.Activation, c.Dropout)
}

func (c ViTConfig) norm() NormConfig { return NormConfig{EmbedDim: c.EmbedDim, Bias: true} }

// ViT is a transformer of pictures (Dosovitskiy et al. 2021): a picture is cut into square
// patches, which are its tokens and attend to one another. The position of a patch is the sum
// of a vector of its row and a vector of its column:
//
//	x[r,c] = W·pixels[r,c] + b + rows[r] + columns[c]
//
// Blocks follow, and one answer for each patch.
type ViT struct {
	name                  string // in errors
	config                ViTConfig
	params                *Params
	patch                 *Linear
	rowTable, columnTable *Embedding
	blocks                []*Block
	norm                  *Norm
	output                *Linear
}

// NewViT makes the parameters
//
//	patch.weight (E, PatchSize·PatchSize·Channels), patch.bias (E)
//	rows.weight (Height/PatchSize, E), columns.weight (Width/PatchSize, E)
//	encoder.layers.0 … of Block, encoder.norm
//	output.weight (V, E), output.bias (V)
//
// Those under encoder are named as in nn.TransformerEncoder's state_dict. Rows and columns
// are drawn from a normal distribution with the deviation 1/√E.
func NewViT(s Scope, c ViTConfig) (*ViT, error) { return checked(s, "ViT", c, newViT) }

func newViT(s Scope, c ViTConfig) (*ViT, error) {
	parts := maker{scope: s}
	m := &ViT{name: s.name("ViT"), config: c, params: s.params}
	m.patch = part(&parts, "patch", newLinear, LinearConfig{InFeatures: c.patchDim(), OutFeatures: c.EmbedDim, Bias: true})
	m.rowTable = scaledTable(&parts, "rows", c.rows(), c.EmbedDim)
	m.columnTable = scaledTable(&parts, "columns", c.columns(), c.EmbedDim)
	m.blocks = stack(&parts, "encoder.layers", c.NumLayers, newBlock, c.block())
	m.norm = part(&parts, "encoder.norm", newNorm, c.norm())
	m.output = part(&parts, "output", newLinear,
		LinearConfig{InFeatures: c.EmbedDim, OutFeatures: c.NumClasses, Bias: true})
	return done(&parts, m)
}

// Params returns the set of parameters that the model was made in.
func (m *ViT) Params() *Params { return m.params }

// Forward maps pictures ([B,] Height, Width, Channels), of the parameters' type, to logits
// ([B,] R·C, V) of the patches, row by row from the top, each row from the left.
// The build's Calls("encoder.layers.*.self_attn") have the attention weights
// ([B,] H, R·C, R·C), a call for each block.
func (m *ViT) Forward(b *Build, picture *G.Node, seen mask.Mask) (*G.Node, error) {
	f := begin(b, m.name)
	if !m.isPicture(f, picture) {
		return f.result(nil)
	}
	x := m.embed(f, picture) // ([B,] R·C, E)
	for _, block := range m.blocks {
		x = f.Of(block.Forward(b, AttentionInput{Query: x, Mask: seen}))
	}
	return f.result(m.output.apply(f, f.Of(m.norm.Forward(b, x))))
}

// Loss returns the mean cross entropy of the logits, in nats: a scalar. targets are classes,
// int or int64 ([B,] R·C), of the patches; a class that is graph.IgnoreTarget does not count.
func (m *ViT) Loss(b *Build, picture, targets *G.Node, seen mask.Mask) (*G.Node, error) {
	f := begin(b, m.name)
	return f.crossEntropy(f.Of(m.Forward(b, picture, seen)), targets)
}

func (m *ViT) isPicture(f *formula, picture *G.Node) bool {
	if !f.isNode("picture", picture) {
		return false
	}
	c, s := m.config, picture.Shape()
	n := s.Dims()
	if n < 3 || n > 4 || !slices.Equal(s[n-3:], tensor.Shape{c.Height, c.Width, c.Channels}) {
		return f.fail(errorf(m.name, "picture: shape %v, want ([B,] %d, %d, %d)", s, c.Height, c.Width, c.Channels))
	}
	return f.isOfParams("picture", picture)
}

// embed returns the tokens of the patches, ([B,] R·C, E).
func (m *ViT) embed(f *formula, picture *G.Node) *G.Node {
	c := m.config
	rows, columns, batch := c.rows(), c.columns(), picture.Shape()[:picture.Dims()-3]
	reshape := func(x *G.Node, shape ...int) *G.Node { return f.Of(G.Reshape(x, shape)) }
	// A band of patches is PatchSize lines of pixels. Its patches are split like heads.
	bands := reshape(picture, batch.TotalSize()*rows, c.PatchSize, c.Width*c.Channels)
	patches := f.Of(graph.SplitHeads(bands, columns)) // (B·R, C, PatchSize, PatchSize·Channels)
	x := m.patch.apply(f, reshape(patches, batch.TotalSize(), rows, columns, c.patchDim()))
	place := f.Of(graph.Add(reshape(f.node(m.rowTable.weight), rows, 1, c.EmbedDim), f.node(m.columnTable.weight)))
	x = f.Of(graph.Add(x, place)) // (B, R, C, E)
	return reshape(x, append(batch.Clone(), rows*columns, c.EmbedDim)...)
}
