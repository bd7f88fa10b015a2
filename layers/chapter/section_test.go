package chapter_test

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"attention/internal/dense"
	"attention/layers/chapter"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// entries are the entries of testdata/chapter with the values of steps, by section and name.
var entries = map[string][]string{
	"1 x":                   {"walk/inputs"},
	"1 scores":              {"002/2 attention_scores", "002/3 attention_scores", "003/1 attn_scores_2"},
	"1 weights_tmp":         {"002/3 attention_scores_normed", "003/1 attn_weights_2_tmp"},
	"1 weights_tmp.sum()":   {"002/3 attention_scores_normed.sum()", "003/1 attn_weights_2_tmp.sum()"},
	"1 weights_naive":       {"002/4 attention_scores_softmax", "003/1 attn_weights_2_naive"},
	"1 weights_naive.sum()": {"002/4 attention_scores_softmax.sum()", "003/1 attn_weights_2_naive.sum()"},
	"1 weights":             {"002/5 torch_softmax_attn_scores", "003/1 attn_weights_2"},
	"1 weights.sum()":       {"002/5 torch_softmax_attn_scores.sum()", "003/1 attn_weights_2.sum()"},
	"1 context":             {"002/6 context_vector", "003/1 context_vec_2"},
	"2 scores": {"002/7 attention_scores", "002/8 attention_scores", "002/9 attention_scores",
		"003/2 attn_scores (loops)", "003/2 attn_scores (product)"},
	"2 weights":                      {"003/2 attn_weights", "walk/simple weights"},
	"2 weights.sum(1)":               {"002/9 attention_weights.sum(dim=-1)"},
	"2 context":                      {"002/10 context_vectors"},
	"3 W_query":                      {"walk/W_query"},
	"3 query":                        {"002/11 query_2", "004/5 query_2"},
	"3 keys.shape":                   {"002/12 keys.shape"},
	"3 values.shape":                 {"002/12 values.shape"},
	"3 score":                        {"002/13 attn_score_22", "004/9 attn_score_22"},
	"3 scores":                       {"002/14 attn_scores_2"},
	"3 weights":                      {"002/15 attn_weights_2"},
	"3 context":                      {"002/16 context_vec_2"},
	"4 x":                            {"walk/five inputs"},
	"4 keys.shape":                   {"walk/five keys.shape"},
	"4 scores":                       {"004/11 attn_scores_2"},
	"4 weights":                      {"004/12 attn_weights_2"},
	"4 weights.sum()":                {"004/12 attn_weights_2.sum()"},
	"4 context":                      {"004/13 context_vec_2"},
	"5 scores":                       {"walk/v1 scores"},
	"5 weights":                      {"walk/v1 weights"},
	"5 context":                      {"002/18 sa_v1(inputs)", "003/3 context_vectors"},
	"6 scores":                       {"walk/v2 scores"},
	"6 weights":                      {"walk/v2 weights"},
	"6 context":                      {"002/20 sa_v2(inputs)", "003/3 sa_v2(inputs)"},
	"6 W_query.weight":               {"003/8 query.weight"},
	"7 v2(x)":                        {"002/22 sa_v2_v1_cv"},
	"7 from_v2(x)":                   {"walk/v1 with the weights of v2"},
	"7 v1(x)":                        {"002/23 sa_v1_v2_cv"},
	"7 from_v1(x)":                   {"002/24 sa_v2_v1(inputs)"},
	"8 weights":                      {"002/25 attn_weights"},
	"8 mask":                         {"002/26 mask_simple"},
	"8 masked":                       {"002/27 masked_simple"},
	"8 normed":                       {"002/28 masked_simple_norm"},
	"9 scores":                       {"walk/scores"},
	"9 masked":                       {"002/29 masked"},
	"9 weights":                      {"002/30 attn_weights"},
	"10 dropout(ones)":               {"002/31 dropout(example)"},
	"10 dropout(weights)":            {"002/32 dropout(attn_weights)"},
	"10 masked":                      {"walk/dropout masked"},
	"10 weights":                     {"walk/dropout weights"},
	"10 context":                     {"walk/dropped context"},
	"10 dropout(weights·v)":          {"walk/context dropped"},
	"11 masked":                      {"walk/causal masked"},
	"11 weights":                     {"walk/causal weights"},
	"11 batch":                       {"002/34 batch"},
	"11 batch.shape":                 {"002/33 batch.shape"},
	"11 context":                     {"002/36 context_vecs"},
	"11 context.shape":               {"002/36 context_vecs.shape"},
	"12 weights":                     {"walk/wrapper weights"},
	"12 context":                     {"002/38 context_vecs"},
	"12 context.shape":               {"002/39 context_vecs.shape"},
	"13 queries":                     {"002/41 queries"},
	"13 queries.shape":               {"002/41 queries.shape"},
	"13 viewed.shape":                {"002/42 viewed_queries.shape"},
	"13 viewed[0].shape":             {"002/42 viewed_queries[0].shape"},
	"13 split.shape":                 {"walk/split queries.shape"},
	"14 masked":                      {"walk/mha masked"},
	"14 weights":                     {"walk/mha weights"},
	"14 joined":                      {"walk/mha joined"},
	"14 context":                     {"002/43 context_vecs"},
	"14 context.shape":               {"002/43 context_vecs.shape"},
	"15 doc":                         {"002/45 doc"},
	"15 doc.shape":                   {"002/45 doc.shape"},
	"15 batch":                       {"002/46 gpt_batch"},
	"15 batch.shape":                 {"002/46 gpt_batch.shape"},
	"15 context[0]":                  {"002/47 context_vecs[0]"},
	"15 context.shape":               {"002/47 context_vecs.shape"},
	"15 parameters":                  {"walk/parameters"},
	"15 W_query.weight.grad":         {"walk/W_query.weight.grad"},
	"15 W_query.weight.grad.norm()":  {"walk/length of W_query.weight.grad"},
	"15 W_key.weight.grad.norm()":    {"walk/length of W_key.weight.grad"},
	"15 W_value.weight.grad.norm()":  {"walk/length of W_value.weight.grad"},
	"15 out_proj.weight.grad.norm()": {"walk/length of out_proj.weight.grad"},
	"15 out_proj.bias.grad.norm()":   {"walk/length of out_proj.bias.grad"},
	"16 states":                      {"walk/decoder states"},
	"16 weights":                     {"walk/additive weights"},
	"16 context":                     {"walk/additive context"},
	"17 entropy":                     {"walk/experiment entropy"},
	"17 largest":                     {"walk/experiment largest"},
	"17 gradient":                    {"walk/experiment gradient"},
	"18 v1(x)":                       {"walk/3.1 v1"},
	"18 v2(x)":                       {"walk/3.1 v2"},
	"18 v2.W_query.weight":           {"walk/3.1 W_query.weight"},
	"18 moved.W_query":               {"walk/3.1 W_query"},
	"18 moved(x)":                    {"walk/3.1 moved"},
	"19 context":                     {"walk/3.2 context"},
	"19 context.shape":               {"walk/3.2 context.shape"},
	"20 head_dim":                    {"walk/3.3 head_dim"},
	"20 W_query.weight.shape":        {"walk/3.3 W_query.weight.shape"},
	"20 parameters":                  {"walk/3.3 parameters"},
	"20 W_query.weight":              {"walk/3.3 W_query.weight"},
	"20 context.shape":               {"walk/3.3 context.shape"},
	"21 q":                           {"walk/grouped q"},
	"21 k":                           {"walk/grouped k"},
	"21 weights":                     {"walk/grouped weights"},
	"21 context":                     {"walk/grouped context"},
	"21 kept by two heads":           {"walk/grouped kept by two heads"},
	"21 kept by one":                 {"walk/grouped kept by one"},
	"22 window":                      {"walk/window"},
	"22 normed":                      {"walk/window weights"},
	"22 context":                     {"walk/window context"},
	"22 twice":                       {"walk/window twice"},
	"23 fq":                          {"walk/linear fq"},
	"23 fk":                          {"walk/linear fk"},
	"23 weights":                     {"walk/linear weights"},
	"23 context":                     {"walk/linear context"},
	"23 state":                       {"walk/linear state"},
	"23 sum":                         {"walk/linear sum"},
	"23 read":                        {"walk/linear read"},
	"24 key":                         {"walk/delta key"},
	"24 other":                       {"walk/delta other"},
	"24 old":                         {"walk/delta old"},
	"24 kept":                        {"walk/delta kept"},
	"24 new":                         {"walk/delta new"},
	"24 memory":                      {"walk/delta memory"},
	"24 found":                       {"walk/delta found"},
	"24 both":                        {"walk/delta both"},
	"24 wrong":                       {"walk/delta wrong"},
	"24 state":                       {"walk/delta state"},
	"24 read":                        {"walk/delta read"},
	"24 still":                       {"walk/delta still"},
	"25 c":                           {"walk/latent c"},
	"25 k":                           {"walk/latent k"},
	"25 scores":                      {"walk/latent scores"},
	"25 asked":                       {"walk/latent asked"},
	"25 same":                        {"walk/latent same"},
	"25 kept as keys and values":     {"walk/latent kept as keys and values"},
	"25 kept as latents":             {"walk/latent kept as latents"},
	"26 first":                       {"walk/difference first"},
	"26 second":                      {"walk/difference second"},
	"26 weights":                     {"walk/difference weights"},
	"26 context":                     {"walk/difference context"},
	"27 shift":                       {"walk/sigmoid shift"},
	"27 shifted":                     {"walk/sigmoid shifted"},
	"27 weights":                     {"walk/sigmoid weights"},
	"27 sums":                        {"walk/sigmoid sums"},
	"27 context":                     {"walk/sigmoid context"},
	"28 gate":                        {"walk/forgetting gate"},
	"28 until":                       {"walk/forgetting until"},
	"28 bias":                        {"walk/forgetting bias"},
	"28 left":                        {"walk/forgetting left"},
	"28 weights":                     {"walk/forgetting weights"},
	"28 context":                     {"walk/forgetting context"},
	"29 means":                       {"walk/blocks means"},
	"29 likes":                       {"walk/blocks likes"},
	"29 chosen":                      {"walk/blocks chosen"},
	"29 seen":                        {"walk/blocks seen"},
	"29 weights":                     {"walk/blocks weights"},
	"29 context":                     {"walk/blocks context"},
}

// axes are the entries that hold the lengths of its axes.
var axes = map[string][]string{
	"3 W_query":    {"004/3 d_in", "004/3 d_out"},
	"3 query":      {"004/10 len(query_2)"},
	"4 keys.shape": {"004/10 keys.shape[0]", "004/10 keys.shape[1]"},
	"11 batch":     {"002/43 batch_size", "002/43 num_tokens", "002/43 d_in"},
}

// walks are the steps of all sections in each type, computed once for all tests.
var walks = map[tensor.Dtype]func() ([][]chapter.Step, error){
	tensor.Float32: sync.OnceValues(func() ([][]chapter.Step, error) { return walked(tensor.Float32) }),
	tensor.Float64: sync.OnceValues(func() ([][]chapter.Step, error) { return walked(tensor.Float64) }),
}

func walked(dt tensor.Dtype) (all [][]chapter.Step, err error) {
	for _, s := range chapter.Sections() {
		steps, err := s.Run(dt)
		if err != nil {
			return nil, err
		}
		all = append(all, steps)
	}
	return all, nil
}

// eachStep calls a function for every step of the walk.
func eachStep(t testing.TB, dt tensor.Dtype, do func(id string, step chapter.Step)) {
	t.Helper()
	for i, steps := range must(walks[dt]()) {
		for _, step := range steps {
			do(fmt.Sprint(i+1, " ", step.Name), step)
		}
	}
}

// Sections are numbered from 1, and the names of a section's steps are different.
func TestSections(t *testing.T) {
	for i, s := range chapter.Sections() {
		require.Equal(t, i+1, s.Number)
		require.NotEmpty(t, s.Title)
		require.True(t, strings.HasSuffix(s.Text, "."), s.Text)
		require.GreaterOrEqual(t, strings.Count(s.Why+" ", ". "), 2, "sentences that say why: %s", s.Why)
	}
	seen := map[string]bool{}
	eachStep(t, tensor.Float32, func(id string, step chapter.Step) {
		require.False(t, seen[id], id)
		seen[id] = true
		require.NotEmpty(t, step.Name)
		require.True(t, strings.HasSuffix(step.Text, "."), step.Text)
		requireNames(t, id, step)
		require.False(t, step.Value.RequiresIterator(), id)
	})
}

// requireNames requires names for all indices of an axis, or for none.
func requireNames(t *testing.T, id string, s chapter.Step) {
	t.Helper()
	shape := s.Value.Shape()
	if len(s.Columns) > 0 {
		require.Len(t, s.Columns, shape[shape.Dims()-1], id)
	}
	if len(s.Blocks) > 0 {
		require.Len(t, s.Blocks, shape[0], id)
		require.Equal(t, 3, shape.Dims(), id)
	}
	if len(s.Rows) > 0 {
		require.Len(t, s.Rows, shape[shape.Dims()-2], id)
	}
}

func TestRunRefusesATypeWithoutWeights(t *testing.T) {
	_, err := chapter.Sections()[2].Run(tensor.Int)
	require.EqualError(t, err, "chapter: section 3: type: got int, want float32 or float64")
}

// TestStepsEqualTheNotebooks: every value that the chapter's notebooks print is computed and printed equally, and every
// step's value is either printed there or computed by PyTorch.
func TestStepsEqualTheNotebooks(t *testing.T) {
	want := prints(t, "002.txt", "003.txt", "004.txt", "walk.txt")
	eachStep(t, tensor.Float32, func(step string, s chapter.Step) {
		require.NotEmpty(t, entries[step], "%s: compared with nothing", step)
		for _, id := range entries[step] {
			require.Contains(t, want, id, "unknown, or compared twice")
			requirePrinted(t, id, want[id].kind, want[id].text, s.Value)
			delete(want, id)
		}
		lengths := []int(s.Value.Shape())
		if shape, ok := s.Value.Data().([]int); ok {
			lengths = shape
		}
		for axis, id := range axes[step] {
			require.Contains(t, want, id, "unknown, or compared twice")
			require.Equal(t, want[id].text, strconv.Itoa(lengths[axis]), id)
			delete(want, id)
		}
	})
	for id := range want {
		t.Errorf("%s: printed by a notebook, but by no step", id)
	}
}

// TestStepsInFloat64 compares with PyTorch in float64, which draws other weights from the same seeds.
func TestStepsInFloat64(t *testing.T) {
	want := prints(t, "walk_float64.txt")
	eachStep(t, tensor.Float64, func(step string, s chapter.Step) {
		found := 0
		for _, id := range entries[step] {
			if print, ok := want[id]; ok {
				requirePrinted(t, id, print.kind, print.text, s.Value)
				delete(want, id)
				found++
			}
		}
		require.Equal(t, 1, found, "%s: number of comparisons", step)
	})
	for id := range want {
		t.Errorf("%s: computed by PyTorch, but by no step", id)
	}
}

// TestWhatSectionsSayOfEachOther checks the statements of sections about other sections.
func TestWhatSectionsSayOfEachOther(t *testing.T) {
	values := map[string][]float64{}
	eachStep(t, tensor.Float64, func(id string, s chapter.Step) {
		if s.Value.Dtype() == tensor.Float64 {
			values[id] = dense.Float64s(s.Value)
		}
	})
	for _, c := range []struct {
		reason string
		a, b   []float64
	}{
		{"section 4: a score depends on its two tokens alone", values["4 scores"][:4], values["3 scores"][:4]},
		{"section 5: the row of the second token", values["5 scores"][6:12], values["3 scores"]},
		{"section 7: the first layer with the second's weights", values["7 from_v2(x)"], values["7 v2(x)"]},
		{"section 7: the second layer with the first's", values["7 from_v1(x)"], values["7 v1(x)"]},
		{"section 8: nothing leaks", values["8 normed"], values["9 weights"]},
		{"section 11: no sequence sees the other", values["11 context"][:12], values["11 context"][12:]},
		{"section 23: what is read is the last context vector", values["23 read"], values["23 context"][10:]},
		{"section 24: what is read is the new value", values["24 read"], values["24 new"]},
		{"section 24: the other key's value stays", values["24 still"], values["24 kept"]},
		{"section 25: scores of latents", values["25 same"], values["25 scores"]},
		{"section 18: the exercise", values["18 moved(x)"], values["18 v2(x)"]},
	} {
		require.NotEmpty(t, c.a, c.reason)
		require.InDeltaSlice(t, c.a, c.b, 1e-14, c.reason)
	}
	for i, plain := range values["17 entropy"][:5] {
		scaled := values["17 entropy"][5+i]
		require.Less(t, plain, scaled)
		require.Greater(t, scaled, 1.5, "the weights stay spread")
		require.Less(t, values["17 gradient"][i], values["17 gradient"][5+i])
	}
	require.Less(t, values["17 entropy"][4], 0.2, "one key has all")
	require.Less(t, values["17 gradient"][4], values["17 gradient"][0]/3)
}
