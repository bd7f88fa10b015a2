//go:build ignore

// Seeds takes several seeds the way of cmd/attention/skills.md: a base, and what is tuned from it. It prints which
// share of the answers and classes of the test files is right, and the processor time; at the end means and standard
// deviations.
//
//	go run testdata/skills/seeds.go [SEEDS]
//
// SEEDS is the number of seeds, 3 by default. The number of epochs of a task is the one with the best result on the
// valid file, averaged over the seeds; of equal ones it is the smallest. The valid file has arguments that are not in
// the training file and not in the test file. The test file is not used to choose anything. Shares do not depend on the
// load of the machine, but times do.
package main

import (
	"cmp"
	"fmt"
	"log"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// base is the command that pretrains.
const base = "attention train --preset speedrun --lr 0.02 --momentum 0.95 --context-growth none --text skills/text.txt " +
	"--tokenizer tokenizer.json --batch 32 --steps 1000 --eval-batches 20"

// task is something that a base is tuned to.
type task struct {
	name        string
	flags       string    // of attention finetune
	epochs      []int     // to choose from
	valid, test string    // files of check.go
	tuned       [][]tuned // of each number of epochs, with each seed
}

// tuned is a model of a task.
type tuned struct {
	out            string
	share, seconds float64 // percent of valid that is right, processor time
}

// tasks are all of them.
var tasks = []*task{
	{name: "sums", flags: "--template skills/talks.jinja --data sums.jsonl --valid valid.jsonl --context 64 --lr 0.003",
		epochs: []int{10, 20, 40, 60}, valid: "valid.jsonl", test: "test.jsonl"},
	{name: "classes", flags: "--task classify --data skills/classes --context 64 --batch 16 --lr 0.005",
		epochs: []int{4, 6, 8}, valid: "skills/classes/valid.tsv", test: "skills/classes/test.tsv"},
	{name: "talks", flags: "--template skills/talks.jinja --data skills/talks --context 64 --batch 16 --lr 0.005",
		epochs: []int{4, 6, 8}, valid: "skills/talks/valid.jsonl", test: "skills/talks/test.jsonl"},
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("seeds: ")
	seeds := 3
	if len(os.Args) > 1 {
		n, err := strconv.Atoi(os.Args[1])
		if check(err); n < 1 {
			log.Fatalf("got %d seeds, want at least 1", n)
		}
		seeds = n
	}
	dir, err := os.MkdirTemp("", "seeds")
	check(err)
	defer os.RemoveAll(dir)
	build(dir)
	check(os.Chdir(dir))
	prepare()
	var times []float64
	for seed := 1; seed <= seeds; seed++ {
		_, took := run(fmt.Sprintf("%s --seed %d --out base%[2]d", base, seed))
		times = append(times, took)
		fmt.Printf("seed %d  base      %s\n", seed, seconds(took))
		for _, t := range tasks {
			t.tune(seed)
		}
	}
	const row = "%-8s  %-6s  %-14s  %-14s  %-8s  %s\n"
	fmt.Printf("\nMeans of %d seeds:\n\n"+row, seeds, "", "epochs", "valid", "test", "least", "processor time")
	fmt.Printf(row, "base", "", "", "", "", spread(times, "s"))
	for _, t := range tasks {
		epochs, models := t.choose()
		var valid, test, times []float64
		for _, m := range models {
			valid, test, times = append(valid, m.share), append(test, right(m.out, t.test)), append(times, m.seconds)
		}
		fmt.Printf(row, t.name, strconv.Itoa(epochs), spread(valid, "%"), spread(test, "%"),
			fmt.Sprintf("%.1f %%", slices.Min(test)), spread(times, "s"))
		fmt.Printf("%8s  test of each seed: %v\n", "", test)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func seconds(s float64) string { return fmt.Sprintf("%4.0f s", s) }

// build builds the programs, which the path has from then on.
func build(dir string) {
	for program, source := range map[string]string{"attention": "./cmd/attention", "check": "testdata/skills/check.go",
		"skills": "testdata/skills/skills.go"} {
		run("go build -o " + filepath.Join(dir, "bin", program) + " " + source)
	}
	check(os.Setenv("PATH", filepath.Join(dir, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH")))
}

// prepare writes the data and the tokenizer.
func prepare() {
	run("skills skills")
	run("attention tokenize --train --text-file skills/text.txt --vocab 430 --out tokenizer.json")
	for name, most := range map[string]int{"train": 200, "valid": -1, "test": -1} {
		talks, err := os.ReadFile("skills/talks/" + name + ".jsonl")
		check(err)
		sums := regexp.MustCompile(`(?m)^.*sum.*\n`).FindAll(talks, most)
		name = cmp.Or(map[string]string{"train": "sums"}[name], name)
		check(os.WriteFile(name+".jsonl", slices.Concat(sums...), 0o644))
	}
}

// run runs a command, and returns what it prints and the seconds of processor time that it takes.
func run(line string) (printed string, took float64) {
	words := strings.Fields(line)
	cmd := exec.Command(words[0], words[1:]...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		log.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
}

// tune tunes the base of a seed with each number of epochs.
func (t *task) tune(seed int) {
	t.tuned = slices.Grow(t.tuned, len(t.epochs))[:len(t.epochs)]
	for i, epochs := range t.epochs {
		m := tuned{out: fmt.Sprintf("%s%d-%d", t.name, seed, epochs)}
		const tune = "attention finetune --model base%[1]d %s --epochs %d --seed %[1]d --out %[4]s"
		_, m.seconds = run(fmt.Sprintf(tune, seed, t.flags, epochs, m.out))
		m.share = right(m.out, t.valid)
		fmt.Printf("seed %d  %-8s  %s  %d epochs, %5.1f %% of %s right\n", seed, t.name, seconds(m.seconds), epochs,
			m.share, t.valid)
		t.tuned[i] = append(t.tuned[i], m)
	}
}

// choose returns the number of epochs with the greatest sum of shares, and its models.
func (t *task) choose() (epochs int, models []tuned) {
	best := -1.0
	for i, of := range t.tuned {
		sum := 0.0
		for _, m := range of {
			sum += m.share
		}
		if sum > best {
			best, epochs, models = sum, t.epochs[i], of
		}
	}
	return epochs, models
}

// right returns the share of a file that a model has right.
func right(model, file string) float64 {
	printed, _ := run("check " + model + " " + file)
	found := regexp.MustCompile(`(?m)^right +([0-9.]+) %`).FindStringSubmatch(printed)
	if found == nil {
		log.Fatalf("check: got no share, want one:\n%s", printed)
	}
	share, err := strconv.ParseFloat(found[1], 64)
	check(err)
	return share
}

// spread returns the mean and the standard deviation of numbers.
func spread(all []float64, unit string) string {
	mean, squares := 0.0, 0.0
	for _, x := range all {
		mean += x / float64(len(all))
	}
	for _, x := range all {
		squares += (x - mean) * (x - mean)
	}
	return fmt.Sprintf("%.1f ± %.1f %s", mean, math.Sqrt(squares/float64(max(len(all)-1, 1))), unit)
}
