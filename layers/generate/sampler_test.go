package generate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"attention/internal/golden"

	"github.com/stretchr/testify/require"
)

// probabilities returns the probabilities of all ids after a text under the config, computed from the definitions: the
// penalty, the softmax, sorting all, the first k, the fewest that reach p, then those with the least share.
func probabilities(c Config, logits []float64, text ...int) []float64 {
	if penalty := c.RepetitionPenalty; penalty > 0 {
		logits = slices.Clone(logits)
		for _, id := range slices.Compact(slices.Sorted(slices.Values(text))) {
			if logits[id] > 0 {
				logits[id] /= penalty
			} else {
				logits[id] *= penalty
			}
		}
	}
	ids := make([]int, len(logits))
	top := slices.Max(logits)
	p, sum := make([]float64, len(logits)), 0.0
	for id, v := range logits {
		ids[id], p[id] = id, math.Exp((v-top)/c.Temperature)
		sum += p[id]
	}
	slices.SortStableFunc(ids, func(a, b int) int {
		if logits[a] > logits[b] {
			return -1
		}
		if logits[a] < logits[b] {
			return 1
		}
		return 0
	})
	keep := func(n int) {
		for _, id := range ids[n:] {
			sum -= p[id]
			p[id] = 0
		}
	}
	if c.TopK > 0 && c.TopK < len(ids) {
		keep(c.TopK)
	}
	if c.TopP > 0 {
		reached := 0.0
		for i, id := range ids {
			if reached += p[id] / sum; reached >= c.TopP {
				keep(i + 1)
				break
			}
		}
	}
	if c.MinP > 0 {
		kept := 0
		for _, id := range ids {
			if p[id] >= c.MinP*p[ids[0]] {
				kept++
			}
		}
		keep(kept)
	}
	for id := range p {
		p[id] /= sum
	}
	return p
}

// Only tokens that the limits leave are drawn, with the right frequencies.
func TestDrawsFollowTheProbabilities(t *testing.T) {
	logits := []float64{1.5, -2, math.Inf(-1), 3, 0.5, 3, 2.25, -700, 1, 0}
	for _, c := range []Config{
		{Temperature: 1},
		{Temperature: 0.7, Seed: 3},
		{Temperature: 4},
		{Temperature: 1e300},
		{Temperature: 1, TopK: 1},
		{Temperature: 1, TopK: 3},
		{Temperature: 2, TopK: 99},
		{Temperature: 1, TopP: 1},
		{Temperature: 1, TopP: 1e-9},
		{Temperature: 1, TopP: 0.5},
		{Temperature: 2, TopP: 0.9},
		{Temperature: 2, TopK: 4, TopP: 0.7},
		{Temperature: 1, MinP: 0.3},
		{Temperature: 1, MinP: 1},
		{Temperature: 2, TopK: 6, TopP: 0.9, MinP: 0.5},
		{Temperature: 1, RepetitionPenalty: 1.7},
		{Temperature: 1, RepetitionPenalty: 0.5},
		{Temperature: 1, TopK: 5, MinP: 0.2, RepetitionPenalty: 2.5},
	} {
		s := newSampler(c, len(logits))
		text := []int{3, 1, 6, 3, 2}
		const n = 40000
		counts := make([]int, len(logits))
		for range n {
			clear(s.seen) // of what was drawn
			s.see(text...)
			id, err := s.draw(logits)
			if err != nil {
				t.Fatal(err)
			}
			counts[id]++
		}
		for id, p := range probabilities(c, logits, text...) {
			// Five standard deviations of a count; one of a hundred counts exceeds this by chance for one seed in ten thousand.
			require.InDelta(t, n*p, counts[id], 5*math.Sqrt(n*p*(1-p))+1e-9, "%+v: id %d", c, id)
		}
	}
}

// The probabilities of tokens equal those of transformers' definitions in PyTorch, except for ties in top-k.
func TestProbabilitiesEqualPyTorch(t *testing.T) {
	file := golden.Load(t, "torch/sampling.safetensors")
	logits, text := file.Float64("logits"), []int{}
	for _, id := range file.Int64("text") {
		text = append(text, int(id))
	}
	cases := map[string]Config{
		"temperature": {Temperature: 0.7},
		"top_k":       {Temperature: 1, TopK: 7},
		"top_p":       {Temperature: 1.3, TopP: 0.8},
		"min_p":       {Temperature: 1.3, MinP: 0.1},
		"penalty":     {Temperature: 1, RepetitionPenalty: 1.3},
		"reward":      {Temperature: 1, RepetitionPenalty: 0.8},
		"all":         {Temperature: 1.7, TopK: 20, TopP: 0.9, MinP: 0.15, RepetitionPenalty: 1.5},
		"order":       {Temperature: 3, TopK: 30, TopP: 0.7, MinP: 0.4, RepetitionPenalty: 2},
	}
	require.Len(t, file.Names(), len(cases)+2)
	for name, c := range cases {
		s := newSampler(c, len(logits))
		s.see(text...)
		scores := logits
		if s.seen != nil {
			scores = s.penalized(logits)
		}
		best, err := greatest(scores)
		require.NoError(t, err)
		n, total := s.limit(s.gather(scores, scores[best]))
		got := make([]float64, len(logits))
		for i := range n {
			got[s.at(i).id] = s.at(i).weight / total
		}
		require.InDeltaSlice(t, file.Float64(name), got, 1e-14, name)
		require.InDeltaSlice(t, file.Float64(name), probabilities(c, logits, text...), 1e-14, name)
	}
}

// Each token uses one draw of the random stream, so that limits without effect change nothing.
func TestLimitsThatLeaveOutNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	logits := make([]float64, 503)
	samplers := make([]*sampler, 6)
	for i, c := range []Config{{}, {TopK: len(logits)}, {TopP: 1},
		{TopK: 2 * len(logits), TopP: 1, VocabSize: len(logits)}, {MinP: 1e-300}, {RepetitionPenalty: 1}} {
		c.Temperature, c.Seed = 1, 7
		samplers[i] = newSampler(c, len(logits))
	}
	for range 100 {
		for i := range logits {
			logits[i] = 3 * random.NormFloat64()
		}
		want, err := samplers[0].draw(logits)
		require.NoError(t, err)
		for _, s := range samplers[1:] {
			got, err := s.draw(logits)
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
	}
}

// The candidates come in the order of sorting.
func TestCandidatesAreInOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for n := range 60 {
		logits := make([]float64, n+1)
		for i := range logits {
			logits[i] = float64(random.IntN(9)) // with ties
		}
		s := newSampler(Config{Temperature: 1}, len(logits))
		got, _ := s.gather(logits, slices.Max(logits))
		want := slices.Clone(s.heap)
		slices.SortFunc(want, func(a, b candidate) int {
			if a.before(b) {
				return -1
			}
			return 1
		})
		s.at(got - 1)
		require.Equal(t, want, s.sorted)
	}
}

func TestGreedy(t *testing.T) {
	s := newSampler(Config{TopK: 3, TopP: 0.1}, 5)
	id, err := s.draw([]float64{1, 4, -1, 4, math.Inf(-1)})
	require.NoError(t, err)
	require.Equal(t, 1, id, "the first of equals")
	for _, c := range []Config{{VocabSize: 2}, {VocabSize: 2, Temperature: 1e-300},
		{VocabSize: 2, Temperature: 1, TopK: 1}} {
		id, err = newSampler(c, 3).draw([]float64{-5, -4, 9})
		require.NoError(t, err)
		require.Equal(t, 1, id, "ids beyond Vocab are not drawn")
	}
}

func TestDrawRefusesScoresThatAreNone(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []Config{{}, {Temperature: 1}, {Temperature: 1, TopK: 1}} {
		for _, row := range []struct {
			want   string
			logits []float64
		}{
			{want: "logits: got NaN for id 2, want numbers: are the weights finite?", logits: []float64{1, 2, nan}},
			{want: "logits: got NaN for id 0, want numbers: are the weights finite?", logits: []float64{nan, 2, 3}},
			{want: "logits: got +Inf for id 1, want numbers: are the weights finite?", logits: []float64{1, inf, 3}},
			{want: "logits: got -Inf for all 3 ids, want a number", logits: []float64{-inf, -inf, -inf}},
		} {
			_, err := newSampler(c, 3).draw(row.logits)
			require.EqualError(t, err, row.want)
		}
	}
}
