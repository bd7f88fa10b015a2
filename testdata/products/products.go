//go:build ignore

// Products writes pairs of questions about products by their names, which are made up, and descriptions without the
// names: train.jsonl and valid.jsonl. The held-out pairs are about the same products in phrases that training does not
// have.
//
//	go run testdata/products/products.go FOLDER
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// product is a product: its name, and what it is.
type product struct{ name, quality, kind, use string }

var (
	syllables = strings.Fields("ba dor fim gul ka lex mip nor pra quo ril sha tuv ven wex yol zan dri")
	qualities = strings.Fields("light heavy red blue silent fast folding waterproof")
	kinds     = strings.Fields("lamp tent drill kettle bicycle camera")
	uses      = []string{"for camping", "for the office", "for children", "for travel", "for a small kitchen"}
	// The phrases of training, and those of held-out pairs.
	questions    = []string{"What is the %s?", "Tell me about %s", "I want to buy a %s", "%s"}
	heldOut      = "Do you still sell the %s?"
	descriptions = []string{"a %s %s %s", "This is a %[1]s %[2]s, made %[3]s.", "%[3]s: our %[1]s %[2]s",
		"Our %[2]s %[3]s, and a %[1]s one"}
	heldOutDescription = "You get a %[2]s that is %[1]s and made %[3]s."
)

// products returns the products: each has a name of its own, and no two are the same thing.
func products(random *rand.Rand, n int) (all []product) {
	seen := map[string]bool{}
	for len(all) < n {
		pick := func(from []string) string { return from[random.IntN(len(from))] }
		name := pick(syllables) + pick(syllables) + pick(syllables)
		p := product{strings.ToUpper(name[:1]) + name[1:], pick(qualities), pick(kinds), pick(uses)}
		thing := p.quality + p.kind + p.use
		if seen[name] || seen[thing] {
			continue
		}
		seen[name], seen[thing] = true, true
		all = append(all, p)
	}
	return all
}

// pair is a row of the files.
type pair struct {
	Anchor   string `json:"anchor"`
	Positive string `json:"positive"`
}

func (p product) pair(question, description string) pair {
	return pair{fmt.Sprintf(question, p.name), fmt.Sprintf(description, p.quality, p.kind, p.use)}
}

// write writes pairs to a file.
func write(path string, pairs []pair) {
	file, err := os.Create(path)
	if err != nil {
		log.Fatal(err)
	}
	e := json.NewEncoder(file)
	for _, p := range pairs {
		if err := e.Encode(p); err != nil {
			log.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %d pairs\n", path, len(pairs))
}

// baseline returns recall@1 of a search that counts equal words: the share of anchors whose positive has the most, and
// of those with as many the first.
func baseline(pairs []pair) float64 {
	words := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return r < 'a' || r > 'z' })
	}
	right := 0
	for i, p := range pairs {
		best, most := 0, -1
		for j, of := range pairs {
			count := 0
			for _, w := range words(p.Anchor) {
				if slices.Contains(words(of.Positive), w) {
					count++
				}
			}
			if count > most {
				best, most = j, count
			}
		}
		if best == i {
			right++
		}
	}
	return float64(right) / float64(len(pairs))
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
	var training, valid []pair
	for _, p := range products(random, 60) {
		for i := range questions {
			training = append(training, p.pair(questions[i], descriptions[i]))
		}
		valid = append(valid, p.pair(heldOut, heldOutDescription))
	}
	write(filepath.Join(os.Args[1], "train.jsonl"), training)
	write(filepath.Join(os.Args[1], "valid.jsonl"), valid)
	fmt.Printf("recall@1 of counting words: %.4f\n", baseline(valid))
}
