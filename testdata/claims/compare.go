package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// comparison is a report.json of attention compare.
type comparison struct {
	Level                 string
	Steps, Batch, Context int
	Seeds                 []int
	Models                []struct {
		Attention            string
		MLP, Parameters      int
		Memory               float64 `json:"training_bytes"`
		Token                int     `json:"cache_bytes_a_token"`
		Fixed                int     `json:"cache_bytes_fixed"`
		Loss, Exact, Seconds []float64
		Speed                []float64 `json:"tokens_per_second"`
		Marks                [][]struct {
			Level int
			Exact float64
		}
	}
}

// compare trains a small GPT with each attention, on the text and on the tasks.
func (c claims) compare(text string, flags []string) {
	for i, what := range [][]string{{"--text", text}, {"--task", "copy"}, {"--task", "recall"}} {
		out := fmt.Sprint("compare", i)
		c.run(slices.Concat([]string{"compare", "--seeds", strconv.Itoa(seeds), "--out", out}, what, flags)...)
		var r comparison
		c.report(filepath.Join(out, "report.json"), &r)
		fmt.Printf("\n`attention compare %s %s`: %d steps of %d sequences of %d tokens, %d seeds\n\n", what[0],
			filepath.Base(what[1]), r.Steps, r.Batch, r.Context, len(r.Seeds))
		r.print()
	}
}

// print prints what the models reach and cost and, of a task, what they have right at each level.
func (r comparison) print() {
	fmt.Println("| attention | loss, nats | right, % | seconds | training, MiB | cache, bytes a token | fixed | tokens/s | " +
		"MLP | parameters |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
	for _, m := range r.Models {
		right := "–"
		if m.Exact != nil {
			right = spread(m.Exact, hundredths)
		}
		fmt.Printf("| %s | %s | %s | %s | %.1f | %d | %d | %s | %d | %d |\n", m.Attention, spread(m.Loss, nats), right,
			spread(m.Seconds, tenths), m.Memory/(1<<20), m.Token, m.Fixed, spread(m.Speed, whole), m.MLP, m.Parameters)
	}
	if r.Level == "" {
		return
	}
	fmt.Printf("\nRight answers, %%, by %s:\n\n| attention |", r.Level)
	for _, mark := range r.Models[0].Marks[0] {
		fmt.Printf(" %d |", mark.Level)
	}
	fmt.Printf("\n|---|%s\n", strings.Repeat("---:|", len(r.Models[0].Marks[0])))
	for _, m := range r.Models {
		fmt.Printf("| %s |", m.Attention)
		for level := range m.Marks[0] {
			var exact []float64
			for _, marks := range m.Marks {
				exact = append(exact, marks[level].Exact)
			}
			fmt.Printf(" %s |", spread(exact, hundredths))
		}
		fmt.Println()
	}
}
