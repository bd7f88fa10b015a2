//go:build ignore

// Tags writes sentences with made-up names, which may be the names of people, companies and places: only the sentence
// says which. It writes train.jsonl and valid.jsonl. The held-out sentences have other names and other first words.
// Sentences with the same words in another order give a name another label.
//
//	go run testdata/tags/tags.go FOLDER
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

var (
	syllables = strings.Fields("ba dor fim gul ka lex mip nor pra quo ril sha tuv ven wex yol zan dri")
	// The first words in training, and those of held-out sentences.
	openings  = []string{"", "Yesterday", "In May", "As they say"}
	heldOut   = []string{"Last week", "In spring"}
	sentences = []string{
		"PER works for ORG", "for ORG works PER",
		"ORG hired PER in LOC", "in LOC PER hired ORG",
		"PER moved from ORG to LOC", "PER moved to ORG from LOC",
		"the mayor of LOC met PER of ORG", "PER of ORG met the mayor of LOC",
		"PER sued ORG in LOC", "in LOC ORG sued PER",
		"ORG of LOC paid PER", "PER paid ORG of LOC",
	}
	tags = strings.Fields("B-LOC B-ORG B-PER I-LOC I-ORG I-PER O")
)

// sentence is a row of the files.
type sentence struct {
	Tokens []string `json:"tokens"`
	Tags   []string `json:"ner_tags"`
}

// names returns n different names.
func names(random *rand.Rand, n int) (all []string) {
	for len(all) < n {
		name := ""
		for range 3 {
			name += syllables[random.IntN(len(syllables))]
		}
		if name = strings.ToUpper(name[:1]) + name[1:]; !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// sentencesOf returns n sentences with these first words and names. A name has one or two words.
func sentencesOf(random *rand.Rand, n int, openings, names []string) (all []sentence) {
	for i := range n {
		s := sentence{Tokens: strings.Fields(openings[random.IntN(len(openings))])}
		s.Tags = slices.Repeat([]string{"O"}, len(s.Tokens))
		for _, word := range strings.Fields(sentences[i%len(sentences)]) {
			if strings.ToUpper(word) != word {
				s.Tokens, s.Tags = append(s.Tokens, word), append(s.Tags, "O")
				continue
			}
			for _, tag := range []string{"B-" + word, "I-" + word}[:1+random.IntN(2)] {
				s.Tokens, s.Tags = append(s.Tokens, names[random.IntN(len(names))]), append(s.Tags, tag)
			}
		}
		all = append(all, s)
	}
	return all
}

// write writes sentences to a file.
func write(path string, sentences []sentence) {
	file, err := os.Create(path)
	if err != nil {
		log.Fatal(err)
	}
	e := json.NewEncoder(file)
	for _, s := range sentences {
		if err := e.Encode(s); err != nil {
			log.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %d sentences\n", path, len(sentences))
}

// span is a name: its words, from one up to another, and its label.
type span struct {
	from, to int
	label    string
}

// spansOf returns the spans that tags are.
func spansOf(tags []string) (all []span) {
	for i, tag := range tags {
		kind, label, _ := strings.Cut(tag, "-")
		switch n := len(all) - 1; {
		case tag == "O":
		case kind == "I" && n >= 0 && all[n].to == i && all[n].label == label:
			all[n].to++
		default:
			all = append(all, span{i, i + 1, label})
		}
	}
	return all
}

// baseline returns the F1 of the spans that a naive Bayes classifier of words finds. It sees a word, whether it is a
// name, and the bag of the words of its sentence.
func baseline(training, valid []sentence) float64 {
	count, total := map[[2]string]float64{}, map[string]float64{} // of features, and of words, with a tag
	features := func(s sentence, i int) []string {
		isName := s.Tokens[i] != strings.ToLower(s.Tokens[i])
		return append([]string{"word " + s.Tokens[i], fmt.Sprint("name ", isName)}, s.Tokens...)
	}
	for _, s := range training {
		for i, tag := range s.Tags {
			total[tag]++
			for _, f := range features(s, i) {
				count[[2]string{tag, f}]++
			}
		}
	}
	var right, found, all float64
	for _, s := range valid {
		given := make([]string, len(s.Tags))
		for i := range given {
			best := math.Inf(-1)
			for _, tag := range tags {
				score := math.Log(total[tag])
				for _, f := range features(s, i) {
					score += math.Log((count[[2]string{tag, f}] + 0.1) / (total[tag] + 1))
				}
				if score > best {
					best, given[i] = score, tag
				}
			}
		}
		want, got := spansOf(s.Tags), spansOf(given)
		all, found = all+float64(len(want)), found+float64(len(got))
		for _, x := range got {
			if slices.Contains(want, x) {
				right++
			}
		}
	}
	return 2 * right / (found + all)
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("want a folder to write")
	}
	if err := os.MkdirAll(os.Args[1], 0o755); err != nil {
		log.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	all := names(random, 720)
	training, valid := sentencesOf(random, 1440, openings, all[:640]), sentencesOf(random, 96, heldOut, all[640:])
	write(filepath.Join(os.Args[1], "train.jsonl"), training)
	write(filepath.Join(os.Args[1], "valid.jsonl"), valid)
	fmt.Printf("F1 of counting words: %.4f\n", baseline(training, valid))
}
