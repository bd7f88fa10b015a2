//go:build ignore

// Seeds tunes all-MiniLM-L6-v2 as cmd/attention/encoders.md does, with several seeds. It prints recall@1 of the
// held-out pairs before and after of each, and the mean and the standard deviation.
//
//	go run testdata/products/seeds.go MINILM [SEEDS [products|tags]]
//
// SEEDS is the number of seeds, 3 by default. The attention command and the folder products have to be there. With tags
// it is the folder tags, and F1 of the held-out spans.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// commands are the commands that tune, by their data.
var commands = map[string]string{
	"products": "attention finetune --task embed --data products --batch 30 --epochs 12",
	"tags":     "attention finetune --task tag --data tags --batch 24 --epochs 5 --eval-every 0",
}

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 {
		log.Fatal("want the folder of all-MiniLM-L6-v2")
	}
	seeds := 3
	if len(os.Args) > 2 {
		var err error
		if seeds, err = strconv.Atoi(os.Args[2]); err != nil || seeds < 2 {
			log.Fatal("want a number of seeds, at least 2")
		}
	}
	tune, at := commands["products"], 0 // at is the index of the measure
	if len(os.Args) > 3 {
		if tune = commands[os.Args[3]]; tune == "" {
			log.Fatal("want products or tags")
		}
		if os.Args[3] == "tags" {
			at = 2
		}
	}
	dir, err := os.MkdirTemp("", "seeds")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	var after []float64
	for seed := 1; seed <= seeds; seed++ {
		run := filepath.Join(dir, strconv.Itoa(seed))
		words := append(strings.Fields(tune), "--model", os.Args[1], "--seed", strconv.Itoa(seed), "--out", run)
		if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			log.Fatalf("%v: %s", err, out)
		}
		content, err := os.ReadFile(filepath.Join(run, "report.json"))
		if err != nil {
			log.Fatal(err)
		}
		var report struct {
			Before, After []struct {
				Name  string
				Value float64
			}
		}
		if err := json.Unmarshal(content, &report); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("seed %d: %s %.4f before, %.4f after\n", seed, report.After[at].Name, report.Before[at].Value,
			report.After[at].Value)
		after = append(after, report.After[at].Value)
	}
	mean, square := 0.0, 0.0
	for _, x := range after {
		mean += x / float64(seeds)
	}
	for _, x := range after {
		square += (x - mean) * (x - mean)
	}
	fmt.Printf("after: mean %.4f, standard deviation %.4f\n", mean, math.Sqrt(square/float64(seeds-1)))
}
