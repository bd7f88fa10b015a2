package pretrained

import "attention/layers"

// ggufForm describes llama.cpp's form of a family by data. Its blocks are those of the family.
type ggufForm struct {
	name   string // general.architecture
	biases biases
	packed bool // queries, keys and values are one product
	pairs  bool // positions turn pairs (2i, 2i+1) of a head, not (i, i + D/2)
	narrow bool // heads are E/H wide
	head   bool // the head has its own matrix even if it is the token embeddings
	slides bool // all layers but every n-th have a window
	skips  int  // n of a model whose every n-th layer has no positions; 0 means none
	capped bool // scores and logits have caps
	// wide is the number of layers of the one model whose attention scale is that of heads of width E/H; 0 means there is
	// no such model.
	wide int
}

// biases says which products and norms have a bias.
type biases int

const (
	noBiases  biases = iota
	qkvBiases        // those of queries, keys and values
	allBiases        // all of them: a bias that the model does not have is 0
)

// blockKind returns the kind of a block, with defaults filled in. It leaves out sizes, biases, positions, mask, scale
// and caps, which the file's settings contain, and fields that only training needs. A GELU counts as the approximation
// by tanh, which llama.cpp uses.
func blockKind(b layers.BlockConfig) layers.BlockConfig {
	b = b.Resolved()
	a := &b.Attention
	if a.ValueDim == a.HeadDim {
		a.ValueDim = 0
	}
	a.EmbedDim, a.OutDim, a.KDim, a.VDim, a.NumHeads, a.NumKVHeads, a.HeadDim = 0, 0, 0, 0, 0, 0, 0
	a.Layout, a.OutStd = "", 0
	a.QKVBias, a.OutBias, a.Mask, a.RoPE, a.Scale, a.Softcap, a.QKNormEps = false, false, nil, nil, 0, 0, 0
	a.Dropout, a.ContextDropout, a.OutDropout, a.ContextLength = 0, 0, 0, 0
	b.Norm = layers.NormConfig{Kind: b.Norm.Kind, UnitOffset: b.Norm.UnitOffset}
	b.MLP = layers.MLPConfig{Activation: b.MLP.Activation}
	switch b.MLP.Activation {
	case layers.GELU:
		b.MLP.Activation = layers.GELUTanh
	case layers.GeGLU:
		b.MLP.Activation = layers.GeGLUTanh
	}
	if b.ResidualScale == 1 {
		b.ResidualScale = 0
	}
	return b
}
