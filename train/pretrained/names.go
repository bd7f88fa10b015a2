package pretrained

import (
	"regexp"
	"strings"
)

// names are a family's names of weights. Weights that are not listed have the decoder's names.
type names struct {
	prefix, tokens, head string // of all names but the head's; of the token embeddings; of the head
	renamed              []rename
}

// llamaNames are those of Llama and its kin, which are the decoder's.
var llamaNames = names{prefix: "model.", tokens: "model.embed_tokens.weight", head: "lm_head.weight"}

// rename is the decoder's name and the family's of weights and biases; * is the number of the layer. If of is not 0, it
// is a part of that many: of each head's rows, the rows of part 0, 1, …
type rename struct {
	ours, theirs string
	part, of     int
}

// place is where a parameter is in a folder.
type place struct {
	name       string // of the tensor
	transposed bool   // it is (out, in) and the parameter (in, out)
	part, of   int    // as in rename
	headDim    int    // rows of a head in a part
}

// named returns the place with another tensor's name.
func (at place) named(name string) place {
	at.name = name
	return at
}

// place returns where the parameter of a name is.
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

// buffer matches the names of tensors that are no weights, which older versions of transformers wrote: the causal mask,
// the score of hidden keys and the frequencies of rotary positions.
var buffer = regexp.MustCompile(`^transformer\.h\.[0-9]+\.attn\.(bias|masked_bias)$|` +
	`^gpt_neox\.layers\.[0-9]+\.attention\.(bias|masked_bias)$|\.rotary_emb\.inv_freq$`)

// layerName matches the names of the weights of a layer.
var layerName = regexp.MustCompile(`^(?:transformer\.h|model\.layers|gpt_neox\.layers)\.([0-9]+)\.`)
