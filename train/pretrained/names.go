package pretrained

import (
	"regexp"
	"strings"
)

// names maps the decoder's names of weights to a family's. Weights that are not listed have the decoder's names.
type names struct {
	prefix, tokens, head string // prefix of all names except the head's; name of the token embeddings; name of the head
	renamed              []rename
}

// llamaNames are the names of Llama and similar families, which are the decoder's names.
var llamaNames = names{prefix: "model.", tokens: "model.embed_tokens.weight", head: "lm_head.weight"}

// rename is a name of weights and biases in the decoder and in the family; * is the number of the layer. If of is not
// 0, the weight is one of that many parts: of each head's rows it has the rows of part 0, 1, … If of is not 0, it is a
// part of that many: of each head's rows, the rows of part 0, 1, …
type rename struct {
	ours, theirs string
	part, of     int
}

// place says where a parameter is in a folder.
type place struct {
	name       string // of the tensor
	transposed bool   // the tensor is (out, in) and the parameter (in, out)
	part, of   int    // as in rename
	headDim    int    // rows per head in a part
}

// named returns the place with another name of the tensor.
func (at place) named(name string) place {
	at.name = name
	return at
}

// place returns the place of the parameter with a name.
func (n names) place(name string) place {
	stem, kind := name, ""
	if at := strings.LastIndexByte(name, '.'); at >= 0 {
		stem, kind = name[:at], name[at:]
	}
	for _, r := range n.renamed {
		before, after, inLayer := strings.Cut(r.ours, "*")
		number, ok := strings.CutPrefix(stem, before)
		if ok && inLayer {
			number, ok = strings.CutSuffix(number, after)
		}
		if ok && strings.Trim(number, "0123456789") == "" && (number != "") == inLayer {
			return place{name: strings.Replace(r.theirs, "*", number, 1) + kind, part: r.part, of: r.of}
		}
	}
	return place{name: name}
}

// canonical returns the name of a tensor with the prefix, which some folders leave out.
func (n names) canonical(name string) string {
	if name == n.head || strings.HasPrefix(name, n.prefix) {
		return name
	}
	return n.prefix + name
}

// buffer matches the names of tensors that are not weights, which older versions of transformers wrote: the causal
// mask, the score of hidden keys and the frequencies of rotary positions.
var buffer = regexp.MustCompile(`^transformer\.h\.[0-9]+\.attn\.(bias|masked_bias)$|` +
	`^gpt_neox\.layers\.[0-9]+\.attention\.(bias|masked_bias)$|\.rotary_emb\.inv_freq$`)

// layerName matches the names of the weights of a layer.
var layerName = regexp.MustCompile(`^(?:transformer\.h|model\.layers|gpt_neox\.layers)\.([0-9]+)\.`)
