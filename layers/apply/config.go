package apply

import (
	"fmt"
	"math"
	"slices"

	"attention/internal/config"
	"attention/internal/folder"
	"attention/layers/chapter"
)

// maxLength is the maximum length of a context.
const maxLength = math.MaxInt32

// Read reads a layer.json. Errors name the file and the field.
func Read(path string) (*Layer, error) {
	text, err := folder.ReadFile(path, folder.MaxConfig)
	if err != nil {
		return nil, err
	}
	layer, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, config.JSON(err))
	}
	return layer, nil
}

// envelope is the field of a layer.json that names the layer. All other fields are the layer's config.
type envelope struct {
	Layer string `json:"layer"`
}

// The layers that are not from the chapter, or not only self-attention: all of layers.Attention, additive attention,
// and all of layers.LinearAttention.
const (
	attentionName = "attention"
	additiveName  = "additive"
	linearName    = "linear_attention"
)

// Names returns the names of all layers.
func Names() []string { return append(chapter.Names(), attentionName, linearName) }

// Parse returns the layer that the text of a layer.json describes.
func Parse(text []byte) (*Layer, error) {
	var e envelope
	if err := config.Foreign.Decode(text, &e); err != nil {
		return nil, err
	}
	switch {
	case e.Layer == attentionName:
		return newAttention(text)
	case e.Layer == additiveName:
		return newAdditive(text)
	case e.Layer == linearName:
		return newLinear(text)
	case slices.Contains(chapter.Names(), e.Layer):
		return newSelfAttention(text)
	}
	return nil, config.OneOf(e, "Layer", e.Layer, Names()...)
}
