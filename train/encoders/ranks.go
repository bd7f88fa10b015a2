package encoders

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"attention/train/pretrained"
)

// EvaluateRanks measures an encoder of pairs on examples of a query, a text and a score. The texts of each query are
// sorted by the encoder's scores. The measure is MRR@10, as in Retrieval, where texts with a score of at least 0.5 are
// relevant, over the queries with relevant and other texts. Among equal scores of the encoder, relevant texts come last.
// If no query has both, it is Spearman's correlation of both scores.
func EvaluateRanks(ctx context.Context, e *pretrained.Encoder, on Examples) ([]Measure, error) {
	if ctx == nil || e == nil || on == nil || on.Len() == 0 {
		return nil, errors.New("encoders: evaluate ranks: got nil or no example, want a context, an encoder and examples")
	}
	ranker, err := e.Ranker()
	if err != nil {
		return nil, err
	}
	examples, queries := map[string][]int{}, []string(nil)
	for i := range on.Len() {
		example, err := on.At(i)
		if err != nil {
			return nil, err
		}
		if len(example.Texts) != 2 || example.Score == nil {
			return nil, fmt.Errorf("%s: got no pair of texts with a score, want one", on.Where(i))
		}
		query := example.Texts[0]
		if examples[query] == nil {
			queries = append(queries, query)
		}
		examples[query] = append(examples[query], i)
	}
	var wanted, given []float64
	var ranks [][]int // of the first relevant text of each query
	for _, query := range queries {
		var texts []string
		var scores []float64
		for _, i := range examples[query] {
			example, err := on.At(i)
			if err != nil {
				return nil, err
			}
			texts, scores = append(texts, example.Texts[1]), append(scores, *example.Score)
		}
		got, err := ranker.Scores(ctx, query, texts...)
		if err != nil {
			return nil, err
		}
		wanted, given = append(wanted, scores...), append(given, got...)
		if rank := firstRelevant(scores, got); rank > 0 {
			ranks = append(ranks, []int{rank})
		}
	}
	if ranks == nil {
		return []Measure{{"Spearman", Spearman(wanted, given)}}, nil
	}
	all := Retrieval(ranks)
	return all[slices.IndexFunc(all, func(m Measure) bool { return m.Name == "MRR@10" }):], nil
}

// firstRelevant returns the rank, from 1, of the best relevant text; 0 if all or no texts are relevant.
func firstRelevant(scores, given []float64) int {
	best, found, others := 0.0, false, 0
	for i, score := range scores {
		if score >= 0.5 && (!found || given[i] > best) {
			best, found = given[i], true
		}
	}
	rank := 1
	for i, score := range scores {
		if score < 0.5 {
			if others++; given[i] >= best {
				rank++
			}
		}
	}
	if !found || others == 0 {
		return 0
	}
	return rank
}
