package layers

import (
	"attention/graph"
	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Layout is how the parameters of an Attention are named, shaped and drawn.
type Layout string

// The layouts. C is the width of all heads' outputs side by side, H·Dv.
const (
	// Book is the chapter's: W_query.weight (H·D, Width), W_key.weight (K·D, KeyWidth),
	// W_value.weight (K·Dv, ValueWidth), out_proj.weight (Out, C) and their .bias.
	Book Layout = "book"
	// Torch is nn.MultiheadAttention's: in_proj_weight (H·D + K·D + K·Dv, Width), or
	// q_proj_weight, k_proj_weight and v_proj_weight if keys or values are of another
	// width, in_proj_bias, out_proj.weight (Out, C), out_proj.bias.
	Torch Layout = "torch"
	// GPT2 is GPT-2's, with transposed weights: c_attn.weight (Width, H·D + K·D + K·Dv),
	// c_proj.weight (C, Out) and their .bias. Keys and values are as wide as queries.
	GPT2 Layout = "gpt2"
	// Llama is that of Llama and its kin in Hugging Face's transformers: q_proj.weight,
	// k_proj.weight, v_proj.weight and o_proj.weight (Out, C), and their .bias.
	Llama Layout = "llama"
)

// Layouts are all layouts.
func Layouts() []Layout { return []Layout{Book, Torch, GPT2, Llama} }

// layout says where the projections of a Layout lie.
type layout struct {
	weights, biases [3]string // of queries, keys and values
	packed          string    // one weight of all three instead, the default widths given
	packedBias      string    // one bias of all three instead
	transposed      bool      // weights are (in, out)
	out, outBias    string
}

var layouts = map[Layout]layout{
	Book: {weights: [3]string{"W_query.weight", "W_key.weight", "W_value.weight"},
		biases: [3]string{"W_query.bias", "W_key.bias", "W_value.bias"}, out: "out_proj.weight", outBias: "out_proj.bias"},
	Torch: {weights: [3]string{"q_proj_weight", "k_proj_weight", "v_proj_weight"}, packed: "in_proj_weight",
		packedBias: "in_proj_bias", out: "out_proj.weight", outBias: "out_proj.bias"},
	GPT2: {packed: "c_attn.weight", packedBias: "c_attn.bias", transposed: true, out: "c_proj.weight", outBias: "c_proj.bias"},
	Llama: {weights: [3]string{"q_proj.weight", "k_proj.weight", "v_proj.weight"},
		biases: [3]string{"q_proj.bias", "k_proj.bias", "v_proj.bias"}, out: "o_proj.weight", outBias: "o_proj.bias"},
}

const relativeBiasName = "relative_attention_bias.weight"

// layout is where the projections lie. A packed weight needs inputs of one width.
func (c AttentionConfig) layout() layout {
	l := layouts[c.Layout]
	if l.packed != "" && l.weights[0] != "" && (c.KeyWidth != c.Width || c.ValueWidth != c.Width) {
		l.packed = ""
	}
	return l
}

// AttentionParameter is the name and shape of a parameter of an Attention.
type AttentionParameter struct {
	Name   string
	Shape  tensor.Shape
	init   Init
	output bool // of the output projection
}

// Parameters are the names and shapes of what NewAttention makes, in its order. The
// config must be valid.
func (c AttentionConfig) Parameters() []AttentionParameter { return c.resolved().parameters() }

func (c AttentionConfig) parameters() []AttentionParameter {
	var list []AttentionParameter
	add := func(there bool, name string, init Init, shape ...int) {
		if there {
			list = append(list, AttentionParameter{Name: name, Shape: shape, init: init})
		}
	}
	out := func() {
		n := len(list)
		l, in := c.layout(), c.contextWidth()
		add(true, l.out, c.outInit(), l.weightShape(c.Out, in)...)
		add(c.OutBias, l.outBias, c.outBiasInit(), c.Out)
		for i := n; i < len(list); i++ {
			list[i].output = true
		}
	}
	l, outs, ins := c.layout(), c.projected(), [3]int{c.Width, c.KeyWidth, c.ValueWidth}
	all := outs[0] + outs[1] + outs[2]
	if c.Layout == Torch {
		out() // which nn.MultiheadAttention draws first
	}
	if l.packed != "" {
		add(true, l.packed, c.weightInit(c.Width, all), l.weightShape(all, c.Width)...)
	}
	for i, name := range l.weights {
		add(l.packed == "", name, c.weightInit(ins[i], outs[i]), l.weightShape(outs[i], ins[i])...)
		add(c.QKVBias && l.packedBias == "", l.biases[i], c.biasInit(ins[i]), outs[i])
	}
	add(c.QKVBias && l.packedBias != "", l.packedBias, Constant(0), all)
	add(c.AddBiasKV, "bias_k", xavierNormal(c.keyWidth(), c.keyWidth()), 1, 1, c.keyWidth())
	add(c.AddBiasKV, "bias_v", xavierNormal(c.valueWidth(), c.valueWidth()), 1, 1, c.valueWidth())
	if c.Layout != Torch {
		out()
	}
	add(c.QKNorm != NoQKNorm, "q_norm.weight", Constant(1), c.HeadDim)
	add(c.QKNorm != NoQKNorm, "k_norm.weight", Constant(1), c.HeadDim)
	add(c.Sinks, "sinks", Constant(0), c.NumHeads)
	add(c.Gate, "gate_proj.weight", linearWeight(c.Width), c.contextWidth(), c.Width)
	if c.RelativeBias != nil {
		add(true, relativeBiasName, Normal(0, 0.02), c.RelativeBias.Buckets, c.NumHeads)
	}
	return list
}

// projected are the widths that queries, keys and values are projected to.
func (c AttentionConfig) projected() [3]int {
	return [3]int{c.queryWidth(), c.keyWidth(), c.valueWidth()}
}

func (l layout) weightShape(out, in int) []int {
	if l.transposed {
		return []int{in, out}
	}
	return []int{out, in}
}

// weightInit is the layout's own initialisation: nn.Linear's, nn.MultiheadAttention's,
// or a normal distribution as in GPT-2 and Llama.
func (c AttentionConfig) weightInit(in, out int) Init {
	switch c.Layout {
	case Book:
		return linearWeight(in)
	case Torch:
		return xavierUniform(in, out)
	}
	return Normal(0, 0.02)
}

func (c AttentionConfig) biasInit(in int) Init {
	if c.Layout == Book {
		return linearBias(in)
	}
	return Constant(0)
}

func (c AttentionConfig) outInit() Init {
	if c.OutStd > 0 {
		return Normal(0, c.OutStd)
	}
	if c.Layout == Torch {
		return linearWeight(c.contextWidth())
	}
	return c.weightInit(c.contextWidth(), c.Out)
}

func (c AttentionConfig) outBiasInit() Init {
	if c.Layout == Torch {
		return drawnThenZero(linearBias(c.contextWidth()))
	}
	return c.biasInit(c.contextWidth())
}

// project maps the inputs to queries, keys and values.
func (l *Attention) project(f *expr.Formula, b *Build, in AttentionInput) qkv {
	at, c := l.config.layout(), l.config
	if at.packed != "" && in.Key == in.Query && in.Value == in.Query {
		all := at.linear(f, in.Query, l.node(f, b, at.packed), l.optional(f, b, c.QKVBias, at.packedBias))
		q, k, v := three(f, func() (G.Nodes, error) { w := c.projected(); return graph.Split(all, w[:]...) })
		return qkv{q, k, v, all}
	}
	weights, biases := l.weights(f, b)
	q := at.linear(f, in.Query, weights[0], biases[0])
	k := at.linear(f, in.Key, weights[1], biases[1])
	v := at.linear(f, in.Value, weights[2], biases[2])
	return qkv{q: q, k: k, v: v}
}

// weights are the nodes of the three projections, each alone.
func (l *Attention) weights(f *expr.Formula, b *Build) (weights, biases [3]*G.Node) {
	at, c := l.config.layout(), l.config
	widths := c.projected()
	if at.packed != "" {
		packed := l.node(f, b, at.packed)
		weights[0], weights[1], weights[2] = three(f, func() (G.Nodes, error) {
			if at.transposed {
				return graph.Split(packed, widths[:]...)
			}
			return rows(packed, widths)
		})
	} else {
		for i, name := range at.weights {
			weights[i] = l.node(f, b, name)
		}
	}
	switch {
	case !c.QKVBias:
	case at.packedBias != "":
		packed := l.node(f, b, at.packedBias)
		biases[0], biases[1], biases[2] = three(f, func() (G.Nodes, error) { return rows(packed, widths) })
	default:
		for i, name := range at.biases {
			biases[i] = l.node(f, b, name)
		}
	}
	return weights, biases
}

// rows cuts x along its first axis.
func rows(x *G.Node, counts [3]int) (G.Nodes, error) {
	var parts G.Nodes
	from := 0
	for _, n := range counts {
		part, err := graph.Rows(x, from, n)
		if err != nil {
			return nil, err
		}
		parts, from = append(parts, part), from+n
	}
	return parts, nil
}

// three is a step of a formula with three results.
func three(f *expr.Formula, step func() (G.Nodes, error)) (x, y, z *G.Node) {
	parts, err := step()
	if x = f.Of(nil, err); err != nil {
		return x, x, x
	}
	return parts[0], parts[1], parts[2]
}

// projectOut is the output projection.
func (l *Attention) projectOut(f *expr.Formula, b *Build, x *G.Node) *G.Node {
	at := l.config.layout()
	return at.linear(f, x, l.node(f, b, at.out), l.optional(f, b, l.config.OutBias, at.outBias))
}

// linear is x·weightᵀ + bias, or x·weight + bias for weights that are transposed. A nil
// bias is none.
func (l layout) linear(f *expr.Formula, x, weight, bias *G.Node) *G.Node {
	if !l.transposed {
		return f.Of(graph.Linear(x, weight, bias))
	}
	y := f.Of(graph.MatMul(x, weight))
	if bias != nil {
		y = f.Of(graph.Add(y, bias))
	}
	return y
}
