package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// runInChildren times each work in a process of its own.
func runInChildren(ctx context.Context, out io.Writer, o options, works []work) error {
	p := printer{out: out, json: o.json}
	var failed []string
	for _, w := range works {
		r, err := measureInChild(ctx, w, o)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil { // most likely too little memory; the other works may fit
			failed = append(failed, fmt.Sprintf("%s: %v", w.name(), err))
			continue
		}
		if err := p.print(r); err != nil {
			return err
		}
	}
	if failed != nil {
		return fmt.Errorf("%d of %d works failed: %s", len(failed), len(works), strings.Join(failed, "; "))
	}
	return nil
}

// childVariable is set in the environment of a child, so that it starts no other.
const childVariable = "ATTENTION_BENCH_CHILD"

// measureInChild times a work in a process of its own, so that the peak of memory is the
// work's alone.
func measureInChild(ctx context.Context, w work, o options) (*result, error) {
	if os.Getenv(childVariable) != "" {
		return nil, fmt.Errorf("a child was asked to start children of its own")
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := append([]string{"bench", "--json", "--runs", strconv.Itoa(o.runs), "--threads", strconv.Itoa(o.threads)},
		w.flags()...)
	if o.profile {
		args = append(args, "--profile")
	}
	child := exec.CommandContext(ctx, self, args...)
	child.Env = append(os.Environ(), childVariable+"=1")
	var out, problem bytes.Buffer
	child.Stdout, child.Stderr = &out, &problem
	if err := child.Run(); err != nil {
		if line, _, _ := bytes.Cut(problem.Bytes(), []byte("\n")); len(line) > 0 {
			return nil, fmt.Errorf("%w: %s", err, line)
		}
		return nil, err
	}
	r := new(result)
	if err := json.Unmarshal(out.Bytes(), r); err != nil {
		return nil, fmt.Errorf("its result: got %.80q: %w", out.Bytes(), err)
	}
	return r, nil
}
