//go:build ignore

// Claims trains what README and manual give figures of, with five seeds each, and prints tables of means and spreads:
//
//	go run testdata/claims/claims.go tinyshakespeare.txt > testdata/claims/claims.md
//
// It takes about a quarter of an hour on two cores with AVX-512. Names after the text, of nano-char, bf16, speedrun,
// translate and why, choose some of the tables. Another name, compare, is of those of attention compare, which take
// two to three hours; flags after it, such as --attention full,window, are passed on:
//
//	go run testdata/claims/claims.go tinyshakespeare.txt compare > testdata/claims/compare.md
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

const seeds = 5 // from 1 on

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 {
		log.Fatal("claims: got no file, want that of tiny Shakespeare")
	}
	text, err := filepath.Abs(os.Args[1])
	check(err)
	dir, err := os.MkdirTemp("", "claims")
	check(err)
	defer os.RemoveAll(dir)
	c := claims{program: filepath.Join(dir, "attention"), dir: dir}
	build := exec.Command("go", "build", "-o", c.program, "./cmd/attention")
	build.Stderr = os.Stderr
	check(build.Run())
	parts, flags := os.Args[2:], []string(nil)
	if at := slices.IndexFunc(parts, func(part string) bool { return strings.HasPrefix(part, "--") }); at >= 0 {
		parts, flags = parts[:at], parts[at:]
	}
	if len(parts) == 0 {
		parts = []string{"nano-char", "bf16", "speedrun", "translate", "why"}
		fmt.Printf("# Figures of trainings\n\nMeans of seeds 1 to %d ± their standard deviation, and each seed's, by "+
			"`claims.go` beside this file.\n", seeds)
	}
	for _, part := range parts {
		switch part {
		case "nano-char":
			c.nanoChar(text, "float32")
		case "bf16":
			c.nanoChar(text, "`--precision bf16`", "--precision", "bf16")
		case "speedrun":
			c.speedrun(text)
		case "translate":
			c.translate()
		case "why":
			c.why()
		case "compare":
			c.compare(text, flags)
		default:
			log.Fatalf("claims: got %q, want nano-char, bf16, speedrun, translate, why or compare", part)
		}
		fmt.Printf("\nOn %s.\n", c.host())
	}
}

func check(err error) {
	if err != nil {
		log.Fatal("claims: ", err)
	}
}

// claims runs the program in a folder.
type claims struct{ program, dir string }

// run runs the program.
func (c claims) run(args ...string) string {
	cmd := exec.Command(c.program, args...)
	cmd.Dir, cmd.Stderr = c.dir, os.Stderr
	printed, err := cmd.Output()
	check(err)
	return string(printed)
}

// host returns the processor's kernels and what the program was built from.
func (c claims) host() string {
	version := strings.Fields(strings.SplitN(c.run("--version"), "\n", 2)[0])
	commit, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	check(err)
	return fmt.Sprintf("%d cores, commit %s, %s", runtime.NumCPU(), bytes.TrimSpace(commit),
		strings.Join(version[len(version)-3:], " "))
}

// report reads a file of the folder.
func (c claims) report(path string, v any) {
	text, err := os.ReadFile(filepath.Join(c.dir, path))
	check(err)
	check(json.Unmarshal(text, v))
}

// spread returns the mean of values and their standard deviation.
func spread(values []float64, format func(float64) string) string {
	mean, square := 0.0, 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		square += (v - mean) * (v - mean) / float64(len(values)-1)
	}
	return format(mean) + " ± " + format(math.Sqrt(square))
}

// row prints a line of a table.
func row(what string, values []float64, format func(float64) string) {
	fmt.Printf("| %s | %s |", what, spread(values, format))
	for _, v := range values {
		fmt.Printf(" %s |", format(v))
	}
	fmt.Println()
}

func table(title string) {
	fmt.Printf("\n%s\n\n| | mean |%s\n|---|---:|%s\n", title, strings.Repeat(" |", seeds), strings.Repeat("---:|", seeds))
}

func nats(v float64) string       { return strconv.FormatFloat(v, 'f', 4, 64) }
func tenths(v float64) string     { return strconv.FormatFloat(v, 'f', 1, 64) }
func whole(v float64) string      { return strconv.FormatFloat(v, 'f', 0, 64) }
func hundredths(v float64) string { return tenths(100 * v) }
func percent(v float64) string    { return strconv.FormatFloat(100*v, 'f', 2, 64) + " %" }

// nanoChar trains nanoGPT's small character model.
func (c claims) nanoChar(text, name string, flags ...string) {
	var whole, batches []float64
	for seed := 1; seed <= seeds; seed++ {
		out := strings.ReplaceAll(fmt.Sprint("nano", seed, flags), " ", "")
		c.run(append([]string{"train", "--preset", "nano-char", "--text", text, "--seed", strconv.Itoa(seed), "--out", out},
			flags...)...)
		var r struct{ Losses struct{ Validation float64 } }
		c.report(filepath.Join(out, "report.json"), &r)
		whole, batches = append(whole, r.Losses.Validation), append(batches, c.lastOfBatches(out))
	}
	table(fmt.Sprintf("`attention train --preset nano-char --text tinyshakespeare.txt`, %s: losses of validation, in nats", name))
	row("the whole text", whole, nats)
	row("20 random batches, as nanoGPT's", batches, nats)
}

// speedrun trains the preset of that name and nano-char in turns, each as a whole process.
func (c claims) speedrun(text string) {
	seconds, losses := map[string][]float64{}, map[string][]float64{}
	presets := []string{"speedrun", "nano-char"}
	for seed := 1; seed <= seeds; seed++ {
		for _, preset := range presets {
			out, began := fmt.Sprint(preset, seed), time.Now()
			c.run("train", "--preset", preset, "--text", text, "--seed", strconv.Itoa(seed), "--out", out)
			seconds[preset] = append(seconds[preset], time.Since(began).Seconds())
			var r struct{ Losses struct{ Validation float64 } }
			c.report(filepath.Join(out, "report.json"), &r)
			losses[preset] = append(losses[preset], r.Losses.Validation)
		}
	}
	table("`attention train --preset speedrun --text tinyshakespeare.txt` beside nano-char, in turns: the whole process")
	for _, preset := range presets {
		row(preset+", seconds", seconds[preset], tenths)
		row(preset+", nats on the whole validation text", losses[preset], nats)
	}
}

// lastOfBatches returns the last validation loss of a run over some batches.
func (c claims) lastOfBatches(run string) (loss float64) {
	f, err := os.Open(filepath.Join(c.dir, run, "metrics.jsonl"))
	check(err)
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var line struct {
			Loss    float64 `json:"validation_loss"`
			Batches int
		}
		check(json.Unmarshal(lines.Bytes(), &line))
		if line.Batches > 0 {
			loss = line.Loss
		}
	}
	return loss
}

// translate trains the model that writes dates.
func (c claims) translate() {
	var exact []float64
	for seed := 1; seed <= seeds; seed++ {
		out := fmt.Sprint("dates", seed)
		c.run("translate", "--seed", strconv.Itoa(seed), "--out", out)
		var r struct {
			Exact float64 `json:"exact_match"`
		}
		c.report(filepath.Join(out, "report.json"), &r)
		exact = append(exact, r.Exact)
	}
	table("`attention translate`: held-out dates that are right to the last character")
	row("of 2000", exact, percent)
}

// why trains the models with and without attention.
func (c claims) why() {
	c.run("why", "--seeds", strconv.Itoa(seeds), "--out", "why")
	var r struct {
		Reverse struct {
			Lengths []int
			Models  []struct {
				Name  string
				Exact [][]float64
			}
		}
		Picture struct {
			Models []struct {
				Name                    string
				Digits, Arrows, Colours []float64
			}
		}
	}
	c.report("why/report.json", &r)
	table("`attention why --task reverse`: strings that come back right to the last letter")
	for _, m := range r.Reverse.Models {
		for _, length := range []int{5, 10, 15, 20, 30, 40} {
			at := slices.Index(r.Reverse.Lengths, length)
			var exact []float64
			for _, shares := range m.Exact {
				exact = append(exact, shares[at])
			}
			row(fmt.Sprintf("%s, %d letters", m.Name, length), exact, percent)
		}
	}
	table("`attention why --task picture`: right answers")
	for _, m := range r.Picture.Models {
		row(m.Name+", digits", m.Digits, percent)
		row(m.Name+", arrows", m.Arrows, percent)
		row(m.Name+", colours", m.Colours, percent)
	}
}

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
