//go:build ignore

// Check asks a model for the answers to a file that skills.go has written, and prints how many are right: attention
// chat for those of a talks/*.jsonl, attention classify for those of a classes/*.tsv.
//
//	go run testdata/skills/check.go MODEL FILE [ROWS]
//
// ROWS is how many rows are asked for, all of them without it.
package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("check: ")
	if len(os.Args) < 3 {
		log.Fatal("got no model or no file, want MODEL FILE [ROWS]")
	}
	rows, err := read(os.Args[2])
	if err == nil && len(os.Args) > 3 {
		n, wrong := strconv.Atoi(os.Args[3])
		rows, err = rows[:min(n, len(rows))], wrong
	}
	if err == nil {
		err = check(os.Args[1], rows)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// row is a question, or a text without a task, with its answer.
type row struct{ task, question, answer string }

// read reads the rows of a file.
func read(path string) (rows []row, err error) {
	content, err := os.ReadFile(path)
	for line := range strings.Lines(string(content)) {
		if filepath.Ext(path) == ".tsv" {
			label, text, _ := strings.Cut(strings.TrimSpace(line), "\t")
			rows = append(rows, row{question: text, answer: label})
			continue
		}
		var of struct {
			Task     string
			Messages []struct{ Content string }
		}
		if err := json.Unmarshal([]byte(line), &of); err != nil {
			return nil, err
		}
		rows = append(rows, row{of.Task, of.Messages[0].Content, of.Messages[1].Content})
	}
	return rows, err
}

// check prints how many answers are right of each task, or in each class.
func check(model string, rows []row) error {
	ask := chat
	if rows[0].task == "" {
		ask = classify
	}
	answers, err := ask(model, rows)
	if err != nil {
		return err
	}
	if len(answers) != len(rows) {
		return fmt.Errorf("got %d answers, want %d", len(answers), len(rows))
	}
	right, all, sum := map[string]int{}, map[string]int{}, 0
	for i, r := range rows {
		group := cmp.Or(r.task, r.answer)
		all[group]++
		if strings.TrimSpace(answers[i]) == r.answer {
			right[group]++
			sum++
		}
	}
	for _, group := range slices.Sorted(maps.Keys(all)) {
		fmt.Printf("%-7s  %d of %d\n", group, right[group], all[group])
	}
	fmt.Printf("right    %.1f %%\n", 100*float64(sum)/float64(len(rows)))
	return nil
}

// chat asks each question in a talk of its own.
func chat(model string, rows []row) ([]string, error) {
	var input strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&input, "%s\n/reset\n", r.question)
	}
	printed, err := attention(input.String(), "chat", "--model", model, "--temperature", "0", "--tokens", "20")
	answers := strings.Split(printed, "attention: a new talk begins\n")
	return answers[:len(answers)-1], err
}

// classify asks for the class of each text.
func classify(model string, rows []row) (answers []string, err error) {
	var input strings.Builder
	for _, r := range rows {
		input.WriteString(r.question + "\n")
	}
	printed, err := attention(input.String(), "classify", "--model", model, "--text-file", "-")
	for line := range strings.Lines(printed) {
		class, _, _ := strings.Cut(line, " ")
		answers = append(answers, class)
	}
	return answers, err
}

// attention runs the program, and returns what it prints, notes included.
func attention(input string, args ...string) (string, error) {
	c := exec.Command("attention", args...)
	c.Stdin = strings.NewReader(input)
	printed, err := c.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("attention %s: %w: %s", strings.Join(args, " "), err, printed)
	}
	return string(printed), err
}
