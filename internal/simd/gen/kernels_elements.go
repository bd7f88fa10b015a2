package main

// Functions of elements. Assembly reads and writes what does not fill a vector under a mask.
var elementKernels = []kernel{
	ofOneKernel("exp", "sets y ← e^x.", (*vector).expElements),
	ofOneKernel("tanh", "sets y ← tanh x.", (*vector).tanhElements),
	ofOneKernel("geluTanh", "sets y ← x/(1 + e^−u), u = 2√(2/π)·(x + 0.044715·x³).", (*vector).geluTanh),
	ofOneKernel("inverse", "sets y ← 1/x.", (*vector).reciprocal),
	{
		name:   "logSingle",
		does:   "sets y ← log x of normal numbers x > 0, with the bits of log32.",
		params: "y, x [n]F",
		only:   "float32",
		write:  inVectors((*vector).logSingle),
	},
	{
		name:   "minusLog1p",
		does:   "sets y ← min(x, 0) − log(1 + e) for 0 ≤ e ≤ 1, with the bits of log1p.",
		params: "y, x, e [n]F",
		only:   "float32",
		write:  inVectors((*vector).minusLog1p),
	},
	ofTwoKernel("mul", "sets z ← x·y.", func(v *vector) { v.ofTwo(v.mul) }),
	ofTwoKernel("sub", "sets z ← x − y.", func(v *vector) { v.ofTwo(v.sub) }),
	ofTwoKernel("div", "sets z ← x/y.", func(v *vector) { v.ofTwo(v.div) }),
	ofTwoKernel("greater", "sets z ← max(x, y): NaN where one is, y where they are equal.", (*vector).greaterOfTwo),
	{
		name:   "tanhBackward",
		does:   "sets dx ← dy·(1 − y²).",
		params: "dx, y, dy [n]F",
		write:  inVectors((*vector).tanhBackward),
	},
	{
		name:   "gelu",
		does:   "sets y ← x·Φ(x).",
		params: "y, x [n]F",
		only:   "float32", // plain Go is right to the last digits of float64
		write:  inVectors((*vector).gelu),
	},
	{
		name:   "geluBackward",
		does:   "sets dx ← dy·(Φ(x) + x·φ(x)).",
		params: "dx, x, dy [n]F",
		only:   "float32",
		write:  inVectors((*vector).geluBackward),
	},
	{
		name:   "geluTanhBackward",
		does:   "sets dx ← dy·(s + x·s·(1−s)·u′), s = 1/(1 + e^−u).",
		params: "dx, x, dy [n]F",
		write:  inVectors((*vector).geluTanhBackward),
	},
	ofOneKernel("silu", "sets y ← x/(1 + e^−x).", (*vector).silu),
	{
		name:   "gatedSiLUBackward",
		does:   "sets dgate ← dy·up·s·(1 + gate·(1−s)) and dup ← dy·gate·s, s = 1/(1 + e^−gate).",
		params: "dgate, dup, gate, up, dy [n]F",
		write:  inVectors((*vector).gatedSiLUBackward),
	},
	{
		name:   "scale",
		does:   "sets y ← c·x.",
		params: "y, x [n]F; c F",
		write:  inVectors((*vector).scale),
	},
	{
		name:   "adam",
		does:   "does a step of Adam.",
		params: "value, grad, m, v [n]F; k *AdamConstants[F]",
		write:  inVectors((*vector).adam),
	},
	{
		name:   "sgd",
		does:   "sets d ← grad + decay·value and value ← value − rate·d.",
		params: "value, grad [n]F; rate, decay F",
		write:  inVectors(func(v *vector) { v.descent(false) }),
	},
	{
		name:   "momentum",
		does:   "sets buffer ← momentum·buffer + grad + decay·value and value ← value − rate·buffer.",
		params: "value, grad, buffer [n]F; rate, momentum, decay F",
		write:  inVectors(func(v *vector) { v.descent(true) }),
	},
	{
		name:   "sum",
		does:   "returns Σ x, summed in float64.",
		params: "x [n]F",
		result: "float64",
		write:  inVectors((*vector).sum),
	},
	{
		name:   "sumSquares",
		does:   "returns Σ x², summed in float64.",
		params: "x [n]F",
		result: "float64",
		write:  inVectors((*vector).sumSquares),
	},
	{
		name:   "sumProducts",
		does:   "returns Σ x·y·weight, summed in float64.",
		params: "x, y, weight [n]F",
		result: "float64",
		write:  inVectors((*vector).sumProducts),
	},
}

// ofOneKernel returns the entry of a function y of x, element by element.
func ofOneKernel(name, does string, write func(*vector)) kernel {
	return kernel{name: name, does: does, params: "y, x [n]F", write: inVectors(write)}
}

// ofTwoKernel returns the entry of a function z of x and y.
func ofTwoKernel(name, does string, write func(*vector)) kernel {
	return kernel{name: name, does: does, params: "z, x, y [n]F", write: inVectors(write)}
}
