package chapter

import (
	"hash/fnv"

	"attention/layers"

	"gorgonia.org/tensor"
)

// sentence is the chapter's example: six words, of three numbers each.
var sentence = []string{"Your", "journey", "starts", "with", "one", "step"}

// vectors are the chapter's vectors of its words.
var vectors = map[string][]float64{
	"Your":    {0.43, 0.15, 0.89},
	"journey": {0.55, 0.87, 0.66},
	"starts":  {0.57, 0.85, 0.64},
	"with":    {0.22, 0.58, 0.33},
	"one":     {0.77, 0.25, 0.10},
	"step":    {0.05, 0.80, 0.55},
	unknown:   {0.02, 0.81, 0.52}, // no notebook prints this vector
}

// chapterSeed is the seed of most sections, and of the vectors of words that the chapter does not have.
const chapterSeed = 123

// unknown stands for the fifth word of a notebook that does not print its words.
const unknown = "(new)"

// vector returns the three numbers of a word: the chapter's, or numbers between 0 and 1 that depend
// only on the word and a seed, so that a word has the same numbers in every sentence.
func vector(word string, seed int64) []float64 {
	if v, ok := vectors[word]; ok {
		return v
	}
	hash := fnv.New32a()
	hash.Write([]byte(word)) // never fails
	drawn := layers.NewParams(tensor.Float64, seed^int64(hash.Sum32())).Draw(layers.Uniform(0, 1), 3)
	return drawn.Data().([]float64)
}
