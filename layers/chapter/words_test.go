package chapter_test

import (
	"fmt"
	"strings"
	"testing"

	"attention/internal/dense"
	"attention/internal/tensorprint"
	"attention/layers/chapter"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// steps runs a changed section and returns its steps by name.
func steps(t *testing.T, s chapter.Section) map[string]chapter.Step {
	t.Helper()
	return named(must(s.Run(tensor.Float64)))
}

// named returns steps by name.
func named(all []chapter.Step) map[string]chapter.Step {
	named := map[string]chapter.Step{}
	for _, step := range all {
		named[step.Name] = step
	}
	return named
}

// TestVectorsOfWords: the chapter's words keep its vectors, and other words get random ones from PyTorch's generator,
// equal in every section, position and sentence.
func TestVectorsOfWords(t *testing.T) {
	for id, want := range prints(t, "words.txt") {
		word, digits, _ := strings.Cut(strings.TrimPrefix(id, "words/"), " ")
		seed := int64(123)
		s := chapter.Sections()[3]
		if digits != "123" {
			must(fmt.Sscan(digits, &seed))
			s.Seed = seed
		}
		s.Words = []string{"journey", word, "one", word}
		x := dense.Float64s(steps(t, s)["x"].Value)
		require.Equal(t, want.text, tensorprint.Format(x[3:6], []int{3}), id)
		require.Equal(t, x[3:6], x[9:])
		require.Equal(t, []float64{0.55, 0.87, 0.66}, x[:3])
		require.Equal(t, []float64{0.77, 0.25, 0.10}, x[6:9])
		if seed == 123 {
			s = chapter.Sections()[0] // it has no seed
			s.Words = []string{word, word}
			require.Equal(t, want.text, tensorprint.Format(dense.Float64s(steps(t, s)["x"].Value)[:3], []int{3}))
		}
	}
}

// TestOneWordChanged: values that do not depend on the changed word keep the chapter's values.
func TestOneWordChanged(t *testing.T) {
	s := chapter.Sections()[4]
	before := dense.Float64s(steps(t, s)["scores"].Value)
	s.Words = []string{"Your", "journey", "ends", "with", "one", "step"}
	after := dense.Float64s(steps(t, s)["scores"].Value)
	for i := range before {
		if i/6 == 2 || i%6 == 2 {
			require.NotEqual(t, before[i], after[i])
		} else {
			require.Equal(t, before[i], after[i])
		}
	}
}

// TestEverySectionChanges: every setting that a section has changes some of its values, for every length and number of
// heads; all steps are there, and their names fit.
func TestEverySectionChanges(t *testing.T) {
	walk := must(walks[tensor.Float32]())
	for i, s := range chapter.Sections() {
		own := named(walk[i])
		different := func(change func(*chapter.Section)) {
			t.Helper()
			changed := s
			change(&changed)
			got := named(must(changed.Run(tensor.Float32)))
			require.Len(t, got, len(own))
			equal := true
			for name, step := range got {
				requireNames(t, fmt.Sprint(s.Number, " ", name), step)
				equal = equal && own[name].Value.Shape().Eq(step.Value.Shape()) && own[name].Value.Eq(step.Value)
			}
			require.False(t, equal, "section %d", s.Number)
		}
		if s.Words != nil {
			different(func(s *chapter.Section) { s.Words = strings.Fields("a b") })
			different(func(s *chapter.Section) { s.Words = strings.Fields("the cat sat on the mat and was happy") })
		}
		if s.Number == 15 { // a large one
			different(func(s *chapter.Section) { s.NumHeads, s.Seed = 3, 5 })
			continue
		}
		if s.Seed != 0 {
			different(func(s *chapter.Section) { s.Seed = 5 })
		}
		if s.NumHeads != 0 {
			different(func(s *chapter.Section) { s.NumHeads = 1 })
			different(func(s *chapter.Section) { s.NumHeads = 3 })
		}
		if s.HasDropout() {
			different(func(s *chapter.Section) { s.Dropout = 0.25 })
		}
		if s.Dropout != 0 {
			different(func(s *chapter.Section) { s.Dropout = 0 })
		}
	}
}

// TestLayerFollowsTheSection: the layer has the section's heads.
func TestLayerFollowsTheSection(t *testing.T) {
	layers := map[int]chapter.Config{}
	for _, s := range chapter.Sections() {
		if c := s.Layer(); c != (chapter.Config{}) {
			require.NoError(t, c.Validate())
			layers[s.Number] = c
		}
		if s.NumHeads != 0 {
			s.NumHeads = 3
			if c := s.Layer(); c != (chapter.Config{}) {
				require.NoError(t, c.Validate())
				require.Equal(t, 3, c.NumHeads)
			}
		}
	}
	require.Len(t, layers, 10)
	require.Equal(t, chapter.Config{Layer: "multi_head", EmbedDim: 3, OutDim: 2, NumHeads: 2}, layers[14])
}

// TestDropoutOfLayers: with dropout, a section shows the weights from which its context vectors are computed; for ½
// each weight is 0 or doubled.
func TestDropoutOfLayers(t *testing.T) {
	s := chapter.Sections()[13]
	own := dense.Float64s(steps(t, s)["weights"].Value)
	s.Dropout = 0.5
	changed := steps(t, s)
	weights, dropped := dense.Float64s(changed["weights"].Value), 0
	for i, w := range weights {
		if own[i] != 0 && w == 0 {
			dropped++
			continue
		}
		require.InDelta(t, 2*own[i], w, 1e-15)
	}
	require.Greater(t, dropped, 5)
	require.Less(t, dropped, 37)
	require.Equal(t, "Their softmax, with dropout.", changed["weights"].Text)

	s = chapter.Sections()[10] // one head: a token that sees only itself gets twice its value, or 0
	s.Words, s.Dropout, s.Seed = strings.Fields("a b"), 0.5, 1
	plain := s
	plain.Dropout = 0
	once, twice := dense.Float64s(steps(t, plain)["context"].Value), steps(t, s)
	factor := dense.Float64s(twice["weights"].Value)[0]
	require.Contains(t, []float64{0, 2}, factor)
	require.InDelta(t, factor*once[0], dense.Float64s(twice["context"].Value)[0], 1e-15)
}
