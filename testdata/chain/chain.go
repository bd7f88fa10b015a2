//go:build ignore

// Chain goes the whole way with models of published shapes and random weights in bfloat16. It trains adapters of rank 8
// on rows of 512 tokens. It exports model and adapter as one model, as a folder and for llama.cpp. Where llama.cpp is
// installed (see testdata/llamacpp), it compares the log-probabilities there with those of the folder here.
//
//	go run testdata/chain/chain.go [SHAPE …]
//
// The shapes are SmolLM2-135M, which is trained whole too, Qwen2.5-0.5B and Llama-3.2-1B, which takes 5 GB of memory and
// 15 GB of disk. Times are those of whole processes, except the time of a step. Memory is the peak of a process, with
// the pages of files that it maps.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"

	"attention/layers/generate"
	"attention/train/pretrained"
)

// tokens is the size of the tokenizer, whose last token ends a text.
const tokens = 512

// small is the shape that is trained whole too.
const small = "SmolLM2-135M"

func main() {
	log.SetFlags(0)
	log.SetPrefix("chain: ")
	dir, err := os.MkdirTemp("", "chain")
	check(err)
	defer os.RemoveAll(dir)
	c := chain{dir: dir, program: filepath.Join(dir, "attention")}
	flag.Parse()
	c.run("go", "build", "-o", c.program, "./cmd/attention")
	c.run(c.program, "tokenize", "--train", "--text-file", "cmd/attention/README.md", "--vocab", fmt.Sprint(tokens),
		"--out", c.path("tokenizer.json"))
	text, err := os.ReadFile("cmd/attention/README.md")
	check(err)
	var data bytes.Buffer
	for i := range 8 { // of more than 512 tokens each
		check(json.NewEncoder(&data).Encode(map[string]string{"text": string(text[4000*i : 4000*(i+1)])}))
	}
	check(os.WriteFile(c.path("data.jsonl"), data.Bytes(), 0o644))
	shapes := flag.Args()
	if len(shapes) == 0 {
		shapes = []string{small, "Qwen2.5-0.5B", "Llama-3.2-1B"}
	}
	fmt.Printf("| | a step | with checkpointed blocks | memory | checkpointed | export, folder | memory | "+
		"export, gguf | memory | llama.cpp |\n|---|%s\n", strings.Repeat("---:|", 9))
	for _, shape := range shapes {
		c.through(shape)
	}
	fmt.Printf("\nOn %d cores.\n", runtime.NumCPU())
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// chain works in a folder.
type chain struct{ dir, program string }

func (c chain) path(name string) string { return filepath.Join(c.dir, name) }

// run runs a program, and returns its time in words and the most memory that it had.
func (c chain) run(name string, args ...string) (took, memory string) {
	cmd := exec.Command(name, args...)
	began := time.Now()
	printed, err := cmd.CombinedOutput()
	if err != nil {
		log.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, printed)
	}
	used := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return seconds(time.Since(began).Seconds()), fmt.Sprintf("%.2f GB", float64(used.Maxrss)*1024/1e9)
}

func seconds(s float64) string { return fmt.Sprintf("%.2f s", s) }

// through takes a shape the whole way and prints its row.
func (c chain) through(shape string) {
	c.write(shape)
	row := []string{shape}
	plain, memory := c.tune("plain")
	checkpointed, less := c.tune("checkpointed", "--checkpoint-activations")
	row = append(row, plain, checkpointed, memory, less)
	for _, format := range []string{"huggingface --dtype float32", "gguf"} {
		took, memory := c.run(c.program, append([]string{"export", "--model", c.path("plain"), "--out",
			c.path(format[:4]), "--format"}, strings.Fields(format)...)...)
		row = append(row, took, memory)
	}
	row = append(row, c.judge())
	fmt.Printf("| %s |\n", strings.Join(row, " | "))
	if shape == small {
		whole, memory := c.tune("whole", "--lora", "0", "--checkpoint-activations")
		fmt.Printf("\n%s trained whole with checkpointed blocks: %s a step, %s.\n", shape, whole, memory)
	}
	for _, name := range []string{"model", "plain", "checkpointed", "whole", "hugg", "gguf"} {
		check(os.RemoveAll(c.path(name)))
	}
}

// write writes the folder of a shape, with a tokenizer.
func (c chain) write(shape string) {
	check(os.Setenv("PUBLISHED_SHAPE", shape))
	check(os.Setenv("PUBLISHED_FOLDER", c.path("model")))
	c.run("go", "test", "./train/pretrained", "-run", "^TestWritePublishedShape$", "-count", "1")
	config, err := os.ReadFile(c.path("model/config.json"))
	check(err)
	config = regexp.MustCompile(`("[be]os_token_id": )\d+`).ReplaceAll(config, fmt.Appendf(nil, "${1}%d", tokens-1))
	check(os.WriteFile(c.path("model/config.json"), config, 0o644))
	tokenizer, err := os.ReadFile(c.path("tokenizer.json"))
	check(err)
	check(os.WriteFile(c.path("model/tokenizer.json"), tokenizer, 0o644))
}

// tune trains adapters, and returns the time of the fastest step and the memory.
func (c chain) tune(run string, flags ...string) (step, memory string) {
	_, memory = c.run(c.program, append([]string{"finetune", "--model", c.path("model"), "--data", c.path("data.jsonl"),
		"--context", "512", "--batch", "1", "--steps", "3", "--sample", "0", "--out", c.path(run)}, flags...)...)
	metrics, err := os.Open(filepath.Join(c.path(run), "metrics.jsonl"))
	check(err)
	defer metrics.Close()
	most := 0.0
	for lines := bufio.NewScanner(metrics); lines.Scan(); {
		var line struct {
			Rate float64 `json:"tokens_per_second"`
		}
		check(json.Unmarshal(lines.Bytes(), &line))
		most = max(most, line.Rate)
	}
	return seconds(512 / most), memory
}

// judge returns by how much llama.cpp's log-probabilities of the next token differ at most.
func (c chain) judge() string {
	script := "testdata/llamacpp/judge.mjs"
	if _, err := os.Stat("testdata/llamacpp/node_modules"); errors.Is(err, fs.ErrNotExist) {
		return "not installed"
	}
	ids := []int{72, 101, 299, 300, 17, 400}
	job, err := json.Marshal([]map[string]any{{"model": c.path("gguf"), "ids": ids, "letters": true}})
	check(err)
	check(os.WriteFile(c.path("jobs.json"), job, 0o644))
	c.run("node", script, c.path("jobs.json"), c.path("answers.json"))
	text, err := os.ReadFile(c.path("answers.json"))
	check(err)
	var answers []struct {
		Error    string
		LogProbs [][]float64
	}
	check(json.Unmarshal(text, &answers))
	if answers[0].Error != "" {
		log.Fatal("llama.cpp: ", answers[0].Error)
	}
	g, err := pretrained.ReadGPT(c.path("hugg"))
	check(err)
	model, err := generate.New(g.Model, generate.Config{Capacity: 16})
	check(err)
	check(model.Prompt(context.Background(), ids))
	logits, sum, worst := model.Logits(), 0.0, 0.0
	for _, x := range logits {
		sum += math.Exp(x)
	}
	for id, theirs := range answers[0].LogProbs[len(ids)-1] {
		worst = max(worst, math.Abs(theirs-(logits[id]-math.Log(sum))))
	}
	return fmt.Sprintf("off by %.1g", worst)
}
