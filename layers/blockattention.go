package layers

import (
	"attention/graph"

	G "gorgonia.org/gorgonia"
)

// attentionForm is the config of a layer that a Block can have as its attention.
type attentionForm interface {
	validate() error
	modelWidths() []size                        // of its input and output, E
	layer(m *maker, name string) blockAttention // the layer, in the scope called name
	weightHeads() int                           // heads that have weights
	cacheWidth() int                            // numbers that a cache keeps of each token; 0 for a state
}

// blockAttention is the attention of a Block.
type blockAttention interface {
	// Attend maps in.Query (…, T, E) to (…, T, E).
	Attend(b *Build, in AttentionInput) (*G.Node, error)
	// newCache returns an empty cache of the layer's widths and type.
	newCache(c graph.KVCacheConfig) (AttentionCache, error)
}

// form returns the config of the block's attention, and its field.
func (c BlockConfig) form() (field string, form attentionForm) {
	switch {
	case c.Linear != nil:
		return "Linear", *c.Linear
	case c.Latent != nil:
		return "Latent", *c.Latent
	}
	return "Attention", c.Attention
}

// WeightHeads returns the number of the attention's heads that have weights; linear attention has none.
func (c BlockConfig) WeightHeads() int {
	_, form := c.resolved().form()
	return form.weightHeads()
}

// CacheWidth returns how many numbers a cache keeps of each token; 0 for linear attention, whose state does not grow.
func (c BlockConfig) CacheWidth() int {
	_, form := c.resolved().form()
	return form.cacheWidth()
}

func (c AttentionConfig) modelWidths() []size { return []size{{"EmbedDim", c.EmbedDim}} }
func (c AttentionConfig) weightHeads() int    { return c.NumHeads }

func (c AttentionConfig) cacheWidth() int {
	if c.NumHeads < 1 {
		return 0
	}
	c = c.resolved()
	return c.keyWidth() + c.cachedValueWidth()
}

func (c AttentionConfig) layer(m *maker, name string) blockAttention {
	return part(m, name, newAttention, c)
}

func (c LinearAttentionConfig) modelWidths() []size { return []size{{"EmbedDim", c.EmbedDim}} }
func (c LinearAttentionConfig) weightHeads() int    { return 0 }
func (c LinearAttentionConfig) cacheWidth() int     { return 0 }

func (c LinearAttentionConfig) layer(m *maker, name string) blockAttention {
	return part(m, name, newLinearAttention, c)
}
