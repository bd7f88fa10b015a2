package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// claims runs the program in a folder.
type claims struct{ program, dir string }

// run runs the program and returns what it prints.
func (c claims) run(args ...string) string {
	var printed bytes.Buffer
	c.runTo(&printed, args...)
	return printed.String()
}

// runTo runs the program, which prints to w.
func (c claims) runTo(w io.Writer, args ...string) {
	cmd := exec.Command(c.program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.dir, w, os.Stderr
	check(cmd.Run())
}

// train trains a preset. It returns the run's folder, the seconds from the start of the process until the loss of the
// whole validation text is known, and that loss.
func (c claims) train(preset, text string, seed int, flags ...string) (out string, seconds, loss float64) {
	out = strings.NewReplacer(" ", "", "/", "-").Replace(fmt.Sprint(preset, seed, flags))
	w := &watch{began: time.Now()}
	c.runTo(w, append([]string{"train", "--preset", preset, "--text", text, "--seed", strconv.Itoa(seed), "--out", out},
		flags...)...)
	var r struct{ Losses struct{ Validation float64 } }
	c.report(filepath.Join(out, "report.json"), &r)
	return out, w.seconds, r.Losses.Validation
}

// watch is the output of a training, which names the loss of the whole validation text once, as soon as it is known.
type watch struct {
	began   time.Time
	seconds float64 // until then
}

func (w *watch) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("losses in nats")) {
		w.seconds = time.Since(w.began).Seconds()
	}
	return len(p), nil
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
