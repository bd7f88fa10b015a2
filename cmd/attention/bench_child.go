package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
)

// benchChild is set in the environment of a child, which never starts another.
const benchChild = "ATTENTION_BENCH_CHILD"

// measureInChild does one work in a process of its own, so that the peak of memory
// is that work's alone.
func measureInChild(ctx context.Context, w benchWork, o benchOptions) (*benchResult, error) {
	if os.Getenv(benchChild) != "" {
		return nil, fmt.Errorf("a child was asked to start children of its own")
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := append([]string{"bench", "--json", "--runs", strconv.Itoa(o.runs), "--threads", strconv.Itoa(o.threads)}, w.flags()...)
	child := exec.CommandContext(ctx, self, args...)
	child.Env = append(os.Environ(), benchChild+"=1")
	var out, problem bytes.Buffer
	child.Stdout, child.Stderr = &out, &problem
	if err := child.Run(); err != nil {
		if line, _, _ := bytes.Cut(problem.Bytes(), []byte("\n")); len(line) > 0 {
			return nil, fmt.Errorf("%w: %s", err, line)
		}
		return nil, err
	}
	r := new(benchResult)
	if err := json.Unmarshal(out.Bytes(), r); err != nil {
		return nil, fmt.Errorf("its result: got %.80q: %w", out.Bytes(), err)
	}
	return r, nil
}
