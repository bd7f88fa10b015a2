package layers

import (
	"strings"

	G "gorgonia.org/gorgonia"
)

// A Stage is a value on the way from a model's ids to its logits, with a name:
//
//	Decoder    tokens, positions with LearnedPositions, embedded; after the blocks last norm, logits
//	Block      x, attention norm, those of the attention, after attention, mlp norm, those of the MLP, after mlp
//	Attention  heads, gated with Gate, attended; a LinearAttention's, too
//	MLP        up, gate if it is gated, activated, fed
//
// NormPlacement decides which norms a block has: attended norm and fed norm follow a part, and attention sum and mlp sum
// come before a PostNorm. With ResidualScale, attended scaled and fed scaled are its products.
type Stage struct {
	Path    string  // of the layer, as an AttentionCall has it; "" of a Decoder
	Name    string  // unique in its block
	Formula string  // its formula, of earlier stages, weights, and the input of its layer
	Value   *G.Node // (…, T, width); of the positions (T, E)
}

// Stages returns the stages of the layers that have been built, in the order of their computation. They are nodes of
// the graph in any case; a machine computes those that it gets.
func (b *Build) Stages() []Stage { return b.stages }

// Note adds a stage, for a caller's own model, and returns its value.
func (b *Build) Note(s Stage) *G.Node {
	b.stages = append(b.stages, s)
	return s.Value
}

// stage adds a stage of the formula's layer and returns its value.
func (f *formula) stage(name, text string, value *G.Node) *G.Node {
	return f.b.Note(Stage{f.where, name, text, value})
}

// normed is norm as a stage whose input is the stage from.
func (f *formula) normed(l *Norm, name, from string, x *G.Node) *G.Node {
	if l == nil {
		return x
	}
	return f.stage(name, l.text(from), f.norm(l, x))
}

// text returns the formula of the norm of a stage.
func (l *Norm) text(from string) string {
	weight := "weight"
	if l.config.UnitOffset {
		weight = "(1 + weight)"
	}
	switch {
	case l.config.Kind == RMSNorm:
		return from + " / √(mean of squares + ε)⊙" + weight
	case l.config.Bias:
		return "(" + from + " − mean) / √(variance + ε)⊙" + weight + " + bias"
	}
	return "(" + from + " − mean) / √(variance + ε)⊙" + weight
}

// linearText returns the formula of linear.
func (f *formula) linearText(from string, weight, bias Param, transposed bool) string {
	text := from + "·" + short(weight)
	if !transposed {
		text += "ᵀ"
	}
	if bias != (Param{}) {
		text += " + " + short(bias)
	}
	return text + f.adapterText(weight)
}

// adapterText returns the term for the adapter of a weight in a formula.
func (f *formula) adapterText(weight Param) string {
	if _, ok := f.b.params.adapters[weight.name]; ok {
		return " + what its adapter adds"
	}
	return ""
}

// short returns the last parts of a parameter's name.
func short(p Param) string {
	parts := strings.Split(p.name, ".")
	return strings.Join(parts[max(0, len(parts)-2):], ".")
}

// text returns the formula of the map of a stage.
func (l *Linear) text(f *formula, from string) string {
	return f.linearText(from, l.weight, l.bias, l.transposed)
}

// activations are the formulas of the activations.
var activations = map[Activation]string{
	GELU: "gelu(up)", GELUTanh: "gelu(up), by tanh", ReLU: "max(up, 0)", ReLUSquared: "max(up, 0)²", SiLU: "silu(up)",
	SwiGLU: "silu(gate)⊙up", GeGLU: "gelu(gate)⊙up", GeGLUTanh: "gelu(gate)⊙up, by tanh",
}
