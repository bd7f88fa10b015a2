package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// comparison is a report.json of attention compare.
type comparison struct {
	Level, Version string
	Steps, Batch   int
	ContextLength  int `json:"context_length"`
	Seeds          []int
	Models         []struct {
		Attention            string
		DimFeedforward       int `json:"dim_feedforward"`
		Parameters           int
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

// program returns the version of the program that trained the models.
func (r comparison) program() string { return strings.Fields(r.Version)[0] }

// complete reports whether every model was trained with as many seeds.
func (r comparison) complete(seeds int) bool {
	for _, m := range r.Models {
		if len(m.Loss) != seeds {
			return false
		}
	}
	return len(r.Models) > 0
}

// compare trains a small GPT with each attention, on the text and on the tasks, a short time against the clock and then
// with all seeds.
func (c claims) compare(text string, flags []string) {
	for _, what := range [][]string{{"--text", text}, {"--task", "copy"}, {"--task", "recall"}} {
		name := filepath.Base(what[1])
		times := c.comparison(name+"-times", 1, slices.Concat(what, []string{"--steps", "100"}, flags))
		r := c.comparison(name, seeds, slices.Concat(what, flags))
		fmt.Printf("\n`attention compare %s %s`: %d steps of %d sequences of %d tokens, %d seeds by %s; times of %d steps "+
			"by %s\n\n", what[0], name, r.Steps, r.Batch, r.ContextLength, len(r.Seeds), r.program(),
			times.Steps, times.program())
		r.print(times)
	}
}

// comparison returns the report of attention compare in a folder, which may be there from an earlier run.
func (c claims) comparison(folder string, seeds int, flags []string) (r comparison) {
	path := filepath.Join(folder, "report.json")
	if _, err := os.Stat(filepath.Join(c.dir, path)); err == nil {
		c.report(path, &r)
		if r.complete(seeds) {
			return r
		}
		check(os.RemoveAll(filepath.Join(c.dir, folder)))
	}
	c.run(slices.Concat([]string{"compare", "--seeds", strconv.Itoa(seeds), "--out", folder}, flags)...)
	r = comparison{}
	c.report(path, &r)
	return r
}

// print prints what the models reach and cost and, of a task, what they have right at each level.
func (r comparison) print(times comparison) {
	fmt.Println("| attention | loss, nats | right, % | a step, ms | training, MiB | cache, bytes a token | fixed | " +
		"tokens/s | MLP | parameters |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
	for i, m := range r.Models {
		right := "–"
		if m.Exact != nil {
			right = spread(m.Exact, hundredths)
		}
		step := 1e3 * times.Models[i].Seconds[0] / float64(times.Steps)
		fmt.Printf("| %s | %s | %s | %.1f | %.1f | %d | %d | %.0f | %d | %d |\n", m.Attention, spread(m.Loss, nats), right,
			step, m.Memory/(1<<20), m.Token, m.Fixed, times.Models[i].Speed[0], m.DimFeedforward, m.Parameters)
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
