package graph

import (
	"cmp"
	"fmt"
	"math"

	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// T5Config sets the positions between which T5RelativeBias measures distances, and their
// buckets.
type T5Config struct {
	T, S        int // queries and keys
	Offset      int // position of query 0, where key 0 is at position 0
	MaxDistance int // this distance and all larger ones share the last bucket; 0 means 128

	// Unidirectional selects the decoder's form: all keys after the query share one bucket. Otherwise, as in the encoder,
	// keys before and after the query have half the buckets each.
	Unidirectional bool
}

// T5RelativeBias returns T5's learned bias of the scores (Raffel et al. 2020, section 2.1;
// Hugging Face's relative_attention_bias). table is (Buckets, H); the bias of query t
// and key s in head h is
//
//	table[bucket(s − t − Offset), h]
//
// as a relative bias (H, T+S−1) as ExpandRelativeBias takes it. Half the buckets of a direction hold one distance each;
// the other half hold ranges that grow with the logarithm of the distance up to MaxDistance. With N = Buckets/2 buckets
// per direction (N = Buckets if Unidirectional) and E = ⌊N/2⌋, a key at the distance d before the query has
//
//	bucket = d                                                if d < E
//	bucket = min(N−1, E + ⌊ln(d/E)/ln(MaxDistance/E)·(N−E)⌋)  otherwise
//
// and a key after it the bucket of its distance plus N or, if Unidirectional, bucket 0.
func T5RelativeBias(table *G.Node, c T5Config) (*G.Node, error) {
	if err := checkLengths("T5RelativeBias", c.T, c.S); err != nil {
		return nil, err
	}
	c.MaxDistance = cmp.Or(c.MaxDistance, 128)
	in, err := checked("T5RelativeBias", named("table"), table)
	if err != nil {
		return nil, err
	}
	if err := c.check(in[0].Shape()); err != nil {
		return nil, err
	}
	buckets := in[0].Shape()[0]
	of := make([]int, c.T+c.S-1) // the bucket of every distance
	for i := range of {
		of[i] = c.bucket(c.S-1-i-c.Offset, buckets) // s − t − Offset
	}
	ids := constantIDs(table, fmt.Sprintf("buckets %+v of %d", c, buckets), of)
	var f expr.Formula
	return f.Result(f.Of(Transpose(f.Of(Embedding(in[0], ids)))))
}

func (c T5Config) check(table tensor.Shape) error {
	want := "(Buckets, H) with 2 buckets or more"
	if !c.Unidirectional {
		want = "(Buckets, H) with an even number of buckets, 4 or more"
	}
	if table.Dims() != 2 || c.single(table[0]) < 1 || !c.Unidirectional && table[0]%2 != 0 {
		return &ShapeError{"T5RelativeBias", "table", table, want}
	}
	if n := c.single(table[0]); c.MaxDistance <= n {
		return fmt.Errorf("graph: T5RelativeBias: MaxDistance: got %d, want more than the %d distances that have a "+
			"bucket each", c.MaxDistance, n)
	}
	return checkResult("T5RelativeBias", tensor.Shape{table[1], c.T + c.S - 1})
}

// single returns the number of distances of a direction that have a bucket each.
func (c T5Config) single(buckets int) int { return c.side(buckets) / 2 }

// side returns the number of buckets of a direction.
func (c T5Config) side(buckets int) int {
	if c.Unidirectional {
		return buckets
	}
	return buckets / 2
}

// bucket returns the bucket of a key at s − t − Offset = relative, as _relative_position_bucket of Hugging Face's T5
// does, with the same roundings to float32.
func (c T5Config) bucket(relative, buckets int) int {
	first, side, single := 0, c.side(buckets), c.single(buckets)
	distance := -relative
	if relative > 0 && c.Unidirectional {
		distance = 0
	} else if relative > 0 {
		first, distance = side, relative
	}
	if distance < single {
		return first + distance
	}
	log := float32(math.Log(float64(float32(distance) / float32(single))))
	full := float32(math.Log(float64(c.MaxDistance) / float64(single)))
	b := single + int(log/full*float32(side-single))
	return first + min(b, side-1)
}
