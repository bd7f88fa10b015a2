package chapter

import (
	"fmt"
	"math"

	"attention/graph"
	"attention/graph/mask"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Variant is one way to compute the chapter's multi-head attention, MultiHead. From equal
// weights all give equal outputs; they differ in their graphs, and so in time and memory.
type Variant struct {
	Name   string        // as in attention bench --mode variants
	Text   string        // how it differs
	Layout layers.Layout // of its parameters
	form   func(*variant) (out, weights *G.Node)
}

// Variants returns the ways that the book compares in an appendix to its chapter 3 (Raschka,
// Build a Large Language Model from Scratch, "Efficient multi-head attention implementations"),
// and the library's own. A variant with a name of PyTorch's is like that function or class.
func Variants() []Variant {
	return []Variant{
		{"wrapper", "each head by itself, their outputs side by side", layers.PerHead, (*variant).wrapper},
		{"multi_head", "the chapter's class: heads are an axis of one product", layers.Book, (*variant).multiHead},
		{"combined_qkv", "one product gives queries, keys and values", layers.GPT2, (*variant).combined},
		{"einsum", "Gorgonia's own ops: axes are turned, not split and merged", layers.Book, (*variant).einsum},
		{"sdpa", "fused: scaled_dot_product_attention", layers.Book, (*variant).fused},
		{"sdpa_weights", "fused, and the weights beside it", layers.Book, (*variant).fusedWeights},
		{"torch_mha", "nn.MultiheadAttention with need_weights: averaged weights", layers.Torch, (*variant).torch},
		{"flex", "fused under a mask put together, whose hidden blocks are skipped", layers.Book, (*variant).flex},
		{"packed", "this library's layer: one product, fused without splitting it", layers.GPT2, (*variant).packed},
	}
}

// VariantLayer is a Variant with parameters.
type VariantLayer struct {
	attention *layers.Attention // only has the parameters
	scope     layers.Scope
	config    layers.AttentionConfig
	form      func(*variant) (out, weights *G.Node)
}

// New makes the parameters of MultiHead(width, width, heads) in the variant's layout.
func (v Variant) New(s layers.Scope, width, heads int) (*VariantLayer, error) {
	if v.form == nil {
		return nil, fmt.Errorf("chapter: variant %q: got one that is not of Variants", v.Name)
	}
	c := MultiHead(width, width, heads)
	c.Layout = v.Layout
	a, err := layers.NewAttention(s, c)
	if err != nil {
		return nil, err
	}
	return &VariantLayer{attention: a, scope: s, config: c, form: v.form}, nil
}

// SetState copies a state into the parameters, as layers.Attention.SetState does.
func (l *VariantLayer) SetState(layout layers.Layout, state map[string]*tensor.Dense) error {
	return l.attention.SetState(layout, state)
}

// State returns a copy of the parameters, as layers.Attention.State does.
func (l *VariantLayer) State(layout layers.Layout) (map[string]*tensor.Dense, error) {
	return l.attention.State(layout)
}

// Forward maps x (B, T, E) to (B, T, E). weights are the attention weights (B, H, T, T), or their
// mean over the heads (B, T, T); nil if the variant does not return them.
func (l *VariantLayer) Forward(b *layers.Build, x *G.Node) (out, weights *G.Node, err error) {
	if err := checkBuild(b); err != nil {
		return nil, nil, err
	}
	if x == nil || x.Shape().Dims() != 3 || x.Shape()[2] != l.config.EmbedDim {
		return nil, nil, fmt.Errorf("chapter: variant: x: got %v, want (B, T, %d)", shapeOf(x), l.config.EmbedDim)
	}
	E, H := l.config.EmbedDim, l.config.NumHeads
	f := &variant{Build: b, layer: l, x: x, B: x.Shape()[0], T: x.Shape()[1], E: E, H: H, D: E / H}
	out, weights = l.form(f)
	return out, weights, b.Err()
}

func shapeOf(x *G.Node) any {
	if x == nil {
		return nil
	}
	return x.Shape()
}

// variant is the graph of a variant under construction.
type variant struct {
	*layers.Build
	layer         *VariantLayer
	x             *G.Node // (B, T, E)
	B, T, E, H, D int
}

// weight returns the node of a parameter by its name in the layout.
func (f *variant) weight(name string) *G.Node { return f.Node(f.layer.scope.Lookup(name)) }

// project returns x·weightᵀ (B, T, E), by a parameter of the layout Book or Torch.
func (f *variant) project(name string) *G.Node { return f.Of(graph.Linear(f.x, f.weight(name), nil)) }

// out returns the output projection of context vectors (B, T, E).
func (f *variant) out(context *G.Node) *G.Node {
	return f.Of(graph.Linear(context, f.weight("out_proj.weight"), f.weight("out_proj.bias")))
}

// separate returns queries, keys and values, each (B, T, E).
func (f *variant) separate() (q, k, v *G.Node) {
	return f.project("W_query.weight"), f.project("W_key.weight"), f.project("W_value.weight")
}

// attend is attention of one op for each step. Its q, k and v are (…, T, D).
func (f *variant) attend(q, k, v *G.Node) (context, weights *G.Node) {
	scores := f.Of(graph.Scores(q, k))                                  // (…, T, T)
	scores = f.Of(graph.Scale(scores, 1/math.Sqrt(float64(f.D))))       // (…, T, T)
	weights = f.Of(graph.Softmax(f.Of(graph.MaskFill(scores, causal)))) // (…, T, T)
	return f.Of(graph.MatMul(weights, v)), weights                      // (…, T, D)
}

var causal = mask.Causal{}

// heads is attend with heads side by side: q, k, v and the context are (B, T, E).
func (f *variant) heads(q, k, v *G.Node) (context, weights *G.Node) {
	split := func(x *G.Node) *G.Node { return f.Of(graph.SplitHeads(x, f.H)) } // (B, H, T, D)
	context, weights = f.attend(split(q), split(k), split(v))                  // (B, H, T, D)
	return f.Of(graph.MergeHeads(context)), weights
}

func (f *variant) wrapper() (out, weights *G.Node) {
	contexts := make(G.Nodes, f.H)
	for h := range contexts {
		head := fmt.Sprintf("heads.%d.", h)
		q, k, v := f.project(head+"W_query.weight"), f.project(head+"W_key.weight"), f.project(head+"W_value.weight")
		contexts[h], _ = f.attend(q, k, v) // (B, T, D)
	}
	return f.out(f.Of(graph.Concat(contexts...))), nil
}

func (f *variant) multiHead() (out, weights *G.Node) {
	context, _ := f.heads(f.separate())
	return f.out(context), nil
}

func (f *variant) combined() (out, weights *G.Node) {
	context, _ := f.heads(f.split(f.qkv()))
	return f.outGPT2(context), nil
}

// qkv returns queries, keys and values side by side (B, T, 3·E), by a parameter of the layout GPT2.
func (f *variant) qkv() *G.Node { return f.Of(graph.MatMul(f.x, f.weight("c_attn.weight"))) }

// split cuts qkv into its parts, each (B, T, E).
func (f *variant) split(qkv *G.Node) (q, k, v *G.Node) {
	parts, err := graph.Split(qkv, f.E, f.E, f.E)
	if err != nil {
		qkv = f.Of(nil, err)
		return qkv, qkv, qkv
	}
	return parts[0], parts[1], parts[2]
}

// outGPT2 is out in the layout GPT2, whose weight is (in, out).
func (f *variant) outGPT2(context *G.Node) *G.Node {
	y := f.Of(graph.MatMul(context, f.weight("c_proj.weight")))
	return f.Of(graph.Add(y, f.weight("c_proj.bias")))
}

func (f *variant) einsum() (out, weights *G.Node) {
	heads := func(x *G.Node) *G.Node { // bt(hd) → bhtd
		return f.Of(G.Transpose(f.Of(G.Reshape(x, []int{f.B, f.T, f.H, f.D})), 0, 2, 1, 3))
	}
	q, k, v := f.separate()
	k = f.Of(G.Transpose(heads(k), 0, 1, 3, 2))                                                 // bhsd → bhds
	scores := f.Of(G.BatchedMatMul(heads(q), k))                                                // bhtd, bhds → bhts
	scores = f.Of(graph.MaskFill(f.Of(graph.Scale(scores, 1/math.Sqrt(float64(f.D)))), causal)) // bhts
	context := f.Of(G.BatchedMatMul(f.Of(graph.Softmax(scores)), heads(v)))                     // bhts, bhsd → bhtd
	context = f.Of(G.Transpose(context, 0, 2, 1, 3))                                            // bhtd → bthd
	return f.out(f.Of(G.Reshape(context, []int{f.B, f.T, f.E}))), nil                           // bthd → bt(hd)
}

func (f *variant) fused() (out, weights *G.Node) {
	q, k, v := f.separate()
	return f.out(f.Of(graph.FusedAttention(q, k, v, f.config(causal)))), nil
}

// config returns the config of attention of heads side by side under a mask.
func (f *variant) config(m mask.Mask) graph.AttentionConfig {
	return graph.AttentionConfig{Heads: f.H, Mask: m}
}

func (f *variant) fusedWeights() (out, weights *G.Node) {
	q, k, v := f.separate()
	_, weights, err := graph.Attention(q, k, v, f.config(causal)) // (B, H, T, T)
	return f.out(f.Of(graph.FusedAttention(q, k, v, f.config(causal)))), f.Of(weights, err)
}

func (f *variant) torch() (out, weights *G.Node) {
	context, weights := f.heads(f.split(f.project("in_proj_weight")))
	return f.out(context), f.Of(graph.AverageHeads(weights)) // (B, T, T)
}

func (f *variant) flex() (out, weights *G.Node) {
	q, k, v := f.separate()
	near := mask.SlidingWindow{Left: blockSize - 1}
	return f.out(f.Of(graph.FusedAttention(q, k, v, f.config(mask.Or(near, causal))))), nil
}

// blockSize is the size of the blocks of FlexAttention's masks.
const blockSize = 128

func (f *variant) packed() (out, weights *G.Node) {
	context := f.Of(graph.FusedAttentionPacked(f.qkv(), [3]int{f.E, f.E, f.E}, f.config(causal)))
	return f.outGPT2(context), nil
}
