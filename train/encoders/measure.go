package encoders

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"attention/train/pretrained"
)

// Measure is a number that says how good an encoder is on examples.
type Measure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// MostMeasured is the number of examples that Evaluate reads at most, the first ones: its work grows as their square.
const MostMeasured = 2000

// Evaluate measures an encoder on examples as Loss learns them. With scores it returns Spearman's correlation of
// scores and cosines. Else the anchors are queries among all positives and negatives, and it returns Retrieval's
// measures.
func Evaluate(ctx context.Context, e *pretrained.Encoder, on Examples) ([]Measure, error) {
	if ctx == nil || e == nil || on == nil || on.Len() == 0 {
		return nil, errors.New("encoders: evaluate: got nil or no example, want a context, an encoder and examples")
	}
	embedder, err := e.Embedder()
	if err != nil {
		return nil, err
	}
	numbers, texts := map[string]int{}, []string(nil) // of different texts
	number := func(s string) int {
		if _, ok := numbers[s]; !ok {
			numbers[s], texts = len(texts), append(texts, s)
		}
		return numbers[s]
	}
	var scores []float64
	var pairs [][]int // the numbers of each example's texts
	for i := range min(on.Len(), MostMeasured) {
		example, err := on.At(i)
		if err != nil {
			return nil, err
		}
		if len(example.Texts) < 2 {
			return nil, fmt.Errorf("%s: got no pair of texts, want one", on.Where(i))
		}
		var pair []int
		for _, s := range example.Texts {
			pair = append(pair, number(s))
		}
		if pairs = append(pairs, pair); example.Score != nil {
			scores = append(scores, *example.Score)
		}
	}
	vectors, err := embedder.Embed(ctx, texts...)
	if err != nil {
		return nil, err
	}
	if len(scores) == len(pairs) {
		cosines := make([]float64, len(pairs))
		for i, p := range pairs {
			cosines[i] = pretrained.Cosine(vectors[p[0]], vectors[p[1]])
		}
		return []Measure{{"Spearman", Spearman(scores, cosines)}}, nil
	}
	queries, candidates, relevant := []int(nil), []int(nil), map[int]map[int]bool{}
	for _, p := range pairs {
		if relevant[p[0]] == nil {
			queries, relevant[p[0]] = append(queries, p[0]), map[int]bool{}
		}
		relevant[p[0]][p[1]] = true
		candidates = append(candidates, p[1:]...)
	}
	slices.Sort(candidates)
	candidates = slices.Compact(candidates)
	ranks := make([][]int, len(queries))
	for i, q := range queries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		ranks[i] = ranksOf(vectors, q, candidates, relevant[q])
	}
	return Retrieval(ranks), nil
}

// ranksOf returns the ranks, from 1, of the relevant ones of the candidates of a query, ascending.
func ranksOf(vectors [][]float32, query int, candidates []int, relevant map[int]bool) (ranks []int) {
	cosines := make([]float64, len(candidates))
	order := make([]int, len(candidates))
	for i, c := range candidates {
		cosines[i], order[i] = pretrained.Cosine(vectors[query], vectors[c]), i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(cosines[j], cosines[i]) })
	for rank, i := range order {
		if relevant[candidates[i]] {
			ranks = append(ranks, rank+1)
		}
	}
	return ranks
}

// Retrieval returns recall@1, recall@10 and MRR@10 of queries. ranks are the ranks, from 1 and ascending, of the
// relevant texts of each query. Recall is the share of them among the first texts, and MRR the reciprocal of the first
// rank, or 0 if it is above 10; both are means over the queries.
func Retrieval(ranks [][]int) []Measure {
	const most = 10
	var first, recall, reciprocal float64
	for _, of := range ranks {
		for i, rank := range of {
			if share := 1 / float64(len(of)); rank <= most {
				recall += share
				if rank == 1 {
					first += share
				}
			}
			if i == 0 && rank <= most {
				reciprocal += 1 / float64(rank)
			}
		}
	}
	n := float64(max(len(ranks), 1))
	return []Measure{{"recall@1", first / n}, {"recall@10", recall / n}, {"MRR@10", reciprocal / n}}
}

// Spearman returns Spearman's rank correlation of x and y: Pearson's of their ranks, where equal numbers share the mean
// of theirs (scipy.stats.spearmanr). It is NaN if the lengths differ or if all numbers of one are equal.
func Spearman(x, y []float64) float64 {
	if len(x) != len(y) {
		return math.NaN()
	}
	a, b, mean := sharedRanks(x), sharedRanks(y), float64(len(x)-1)/2
	var product, aa, bb float64
	for i := range a {
		product += (a[i] - mean) * (b[i] - mean)
		aa += (a[i] - mean) * (a[i] - mean)
		bb += (b[i] - mean) * (b[i] - mean)
	}
	return product / math.Sqrt(aa*bb)
}

// sharedRanks returns the rank of each number, from 0, where equal numbers have the mean of their ranks.
func sharedRanks(x []float64) []float64 {
	order, ranks := make([]int, len(x)), make([]float64, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(x[i], x[j]) })
	for from := 0; from < len(x); {
		to := from + 1
		for to < len(x) && x[order[to]] == x[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			ranks[i] = float64(from+to-1) / 2
		}
		from = to
	}
	return ranks
}
