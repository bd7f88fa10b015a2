package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// finetune tunes a published model by each task with the defaults alone, seeds 1 to 3.
func (c claims) finetune(model string) {
	const seeds = 3
	fmt.Printf("# What the defaults of attention finetune teach\n\n"+
		"`attention finetune --model SMOLLM2 --data FILE --seed N`, and `--task classify` for labels, without any other "+
		"flag: seeds 1 to %d, by `claims` beside this file. SMOLLM2 is SmolLM2-135M-Instruct.\n\n", seeds)
	fmt.Printf("| data | asked | right before | right after, each seed | steps, rows × tokens of a batch | seconds |\n" +
		"|---|---|---:|---:|---:|---:|\n")
	for i, task := range tuneTasks(1) {
		var right, shapes, times []string
		for seed := 1; seed <= seeds; seed++ {
			task := tuneTasks(seed)[i]
			out := fmt.Sprint(task.name, seed)
			c.tune(task, model, out, seed)
			right = append(right, strconv.Itoa(c.countRight(task, out)))
			var of struct {
				Batch    int
				Training struct{ Steps int }
				Tuning   struct{ Context int }
			}
			c.report(out+"/config.json", &of)
			shapes = append(shapes, fmt.Sprintf("%d, %d × %d", of.Training.Steps, of.Batch, of.Tuning.Context))
			var said struct{ Sessions []struct{ Seconds float64 } }
			c.report(out+"/report.json", &said)
			seconds := 0.0
			for _, s := range said.Sessions {
				seconds += s.Seconds
			}
			times = append(times, fmt.Sprintf("%.0f", seconds))
		}
		before := "–"
		if task.name != notes {
			before = strconv.Itoa(c.countRight(task, model))
		}
		fmt.Printf("| %s | %s | %s | %s | %s | %s |\n", task.data, task.asked, before, strings.Join(right, ", "),
			strings.Join(slices.Compact(shapes), "; "), strings.Join(times, ", "))
	}
}

// tune tunes a model by a task, unless the folder has it already.
func (c claims) tune(t tuneTask, model, out string, seed int) {
	if report, err := os.ReadFile(filepath.Join(c.dir, out, "report.json")); err == nil &&
		bytes.Contains(report, []byte(`"finished"`)) {
		return
	}
	flags := []string{"finetune", "--model", model, "--data", t.write(c.dir), "--seed", strconv.Itoa(seed), "--out", out}
	if t.name == notes {
		flags = append(flags, "--task", "classify")
	}
	c.run(flags...)
}

// countRight returns how many of a task's other data a model has right.
func (c claims) countRight(t tuneTask, model string) (n int) {
	var input, printed strings.Builder
	args := []string{"chat", "--model", model, "--temperature", "0", "--tokens", "24"}
	parts := "attention: a new talk begins\n"
	if t.name == notes {
		args, parts = []string{"classify", "--model", model, "--text-file", "-"}, "\n"
	}
	for _, row := range t.test {
		input.WriteString(row.ask + "\n")
		if t.name != notes {
			input.WriteString("/reset\n")
		}
	}
	cmd := exec.Command(c.program, args...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.dir, strings.NewReader(input.String()), &printed, &printed
	check(cmd.Run())
	for i, said := range strings.Split(printed.String(), parts) {
		if t.name == notes {
			said, _, _ = strings.Cut(said, " ")
		}
		if i < len(t.test) && t.right(strings.TrimSpace(said), t.test[i].answer) {
			n++
		}
	}
	return n
}
