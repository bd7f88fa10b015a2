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

// measureInChild does one work in a process of its own, so that the peak of memory
// is that work's alone.
func measureInChild(ctx context.Context, w benchWork, o benchOptions) (*benchResult, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := append([]string{"bench", "--json", "--runs", strconv.Itoa(o.runs), "--threads", strconv.Itoa(o.threads)}, w.flags()...)
	child := exec.CommandContext(ctx, self, args...)
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
