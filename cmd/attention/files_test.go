package main

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/term"
	"attention/internal/testenv"

	"github.com/stretchr/testify/require"
)

// damage is what happens to a file of a run.
type damage struct {
	name string
	do   func(path string) error
}

// damages returns the ways to damage a file of a run in a state: all ways for a finished GPT, few for models whose
// files the same code reads.
func damages(model, state string) []damage {
	cut := func(name string, at func(size int64) int64) damage {
		return damage{name, func(path string) error {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			return os.Truncate(path, at(info.Size()))
		}}
	}
	all := []damage{
		{"removed", os.RemoveAll},
		cut("emptied", func(int64) int64 { return 0 }),
		cut("halved", func(n int64) int64 { return n / 2 }),
	}
	if testing.Short() || model != "gpt" {
		return []damage{all[0], all[2]}
	}
	if testenv.All && state == "finished" {
		all = append(all, cut("cut to a byte", func(n int64) int64 { return min(n, 1) }),
			cut("cut in its beginning", func(n int64) int64 { return n / 9 }),
			cut("cut at its end", func(n int64) int64 { return max(n-1, 0) }))
	}
	return all
}

// attempt runs a command and returns its error, which is one clear line with the documented exit code.
func attempt(t require.TestingT, ctx context.Context, out io.Writer, args ...string) (err error) {
	line := strings.Join(args, " ")
	require.NotPanics(t, func() {
		root := newRoot()
		root.SetOut(out)
		root.SetErr(io.Discard)
		root.SetArgs(args)
		err = root.ExecuteContext(ctx)
	}, line)
	if err == nil {
		return nil
	}
	for _, unclear := range []string{"\n", "nil", "runtime error", "%!"} {
		require.NotContains(t, err.Error(), unclear, line)
	}
	if !term.IsInterrupted(err) {
		require.Equal(t, 1, term.ExitCode(err), line)
	}
	return err
}

// The hints of errors.
var (
	resumeHint = regexp.MustCompile(`attention ((?:train|translate) --resume \S+(?: --steps \d+)?)`)
	againHint  = regexp.MustCompile(`start again with (--config \S+)$`)
	withoutOne = regexp.MustCompile(`(run/\S+): .*; without this file the run resumes too`)
)

// follow runs a command, then the commands that its errors name, until one succeeds or its error names the damage.
func follow(t require.TestingT, args ...string) {
	var told []string
	for range 6 {
		err := attempt(t, context.Background(), io.Discard, args...)
		if err == nil {
			return
		}
		text := err.Error()
		told = append(told, strings.Join(args, " ")+"\n\t"+text)
		if found := withoutOne.FindStringSubmatch(text); found != nil {
			require.NoError(t, os.Remove(found[1]))
			continue // with the same command
		}
		if found := againHint.FindStringSubmatch(text); found != nil {
			require.NoError(t, os.RemoveAll("again"))
			args = []string{"train", "--config", strings.Fields(found[1])[1], "--out", "again"}
			continue
		}
		if found := resumeHint.FindStringSubmatch(text); found != nil {
			args = strings.Fields(found[1])
			continue
		}
		require.Regexp(t, "run|NaN|Inf", text, "a file of the run, or what a model of such weights computes")
		require.NotContains(t, text, "--resume ", "a hint")
		return
	}
	require.Fail(t, "no end", strings.Join(told, "\n"))
}

// filesOf returns the paths of all files of a run except its lock, and its folders.
func filesOf(t require.TestingT, run string) (paths []string) {
	require.NoError(t, filepath.WalkDir(run, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() != "lock" {
			paths = append(paths, path)
		}
		return err
	}))
	return paths
}

// look runs the commands that read a run; they must not change the run.
func look(t require.TestingT, model string) {
	for _, line := range []string{
		"runs .", "view --run run --export page.html",
		"view --model run --export page.html",
		"generate --model run --prompt the --tokens 2", "export --model run --format torch --out exported",
		"translate --model run --date 8/6/63",
	} {
		if model == "dates" && (strings.HasPrefix(line, "generate") || strings.HasPrefix(line, "export")) ||
			model != "dates" && strings.HasPrefix(line, "translate") {
			continue
		}
		follow(t, strings.Fields(line)...)
		require.NoError(t, os.RemoveAll("exported"))
	}
}

// writtenDuring calls a function when a text has been written.
type writtenDuring struct {
	text string
	do   func()
}

func (w *writtenDuring) Write(p []byte) (int, error) {
	if do := w.do; do != nil && bytes.Contains(p, []byte(w.text)) {
		w.do = nil
		do()
	}
	return len(p), nil
}

// brokenRun is a kind of run whose files are damaged.
type brokenRun struct {
	model        string
	begin        string   // the command
	at           string   // a text that it prints while it runs
	states, more []string // state in which it is damaged; also with all tests
}

// brokenText is what they learn from.
var brokenText = strings.Repeat("the quick brown fox jumps\n", 30)

var brokenRuns = []brokenRun{
	{model: "gpt", at: "  10  ", begin: "train --model gpt --layers 1 --heads 2 --width 8 --context 6 --batch 3 --steps 12 " +
		"--eval-every 5 --save-every 5 --keep 2 --sample 3 --text text --out run",
		states: []string{"finished", "stopped", "running"}},
	{model: "layer", at: "  10  ", begin: "train --layer causal --width 8 --context 6 --batch 3 --steps 12 --best " +
		"--eval-every 5 --save-every 5 --keep 2 --sample 3 --text text --out run",
		more: []string{"finished"}},
	{model: "dates", at: "     2  ", begin: "translate --steps 2 --width 4 --heads 1 --out run",
		states: []string{"finished"}, more: []string{"stopped", "running"}},
}

// TestFilesAreDamaged removes, empties and cuts every file of a run that is finished, was stopped or trains, reads it
// with all commands, and follows their hints. Nothing panics. Nothing panics.
func TestFilesAreDamaged(t *testing.T) {
	commandtest.SketchPictures()
	for _, kind := range brokenRuns {
		states := kind.states
		if testenv.All {
			states = slices.Concat(states, kind.more)
		}
		for _, state := range states {
			if testing.Short() && kind.model+state != "gptfinished" && kind.model+state != "gptrunning" {
				continue
			}
			t.Run(kind.model+" "+state, func(t *testing.T) {
				t.Chdir(t.TempDir())
				require.NoError(t, os.WriteFile("text", []byte(brokenText), 0o644))
				kind.damageAll(t, state)
			})
		}
	}
}

// damageAll damages each file of a run in some state.
func (k brokenRun) damageAll(t *testing.T, state string) {
	begin := strings.Fields(k.begin)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var paths []string
	out := &writtenDuring{text: k.at, do: func() {
		if state == "stopped" {
			stop()
		}
		paths = filesOf(t, "run")
	}}
	err := attempt(t, ctx, out, begin...)
	require.Equal(t, state == "stopped", term.IsInterrupted(err), err)
	if state != "running" {
		paths = filesOf(t, "run")
		require.NoError(t, os.Rename("run", "whole"))
	}
	resume := []string{begin[0], "--resume", "run"}
	for _, path := range paths {
		for i, d := range damages(k.model, state) {
			if filepath.Ext(path) == "" && i > 0 {
				continue // of a folder
			}
			require.NoError(t, os.RemoveAll("run"))
			if state != "running" {
				require.NoError(t, os.CopyFS("run", os.DirFS("whole")))
				require.NoError(t, d.do(path))
				look(t, k.model)
				follow(t, resume...)
				continue
			}
			out := &writtenDuring{text: k.at, do: func() {
				require.NoError(t, d.do(path))
				look(t, k.model)
			}}
			_ = attempt(t, t.Context(), out, begin...) // it may succeed
			require.Nil(t, out.do, "%s %s", path, d.name)
			follow(t, resume...)
		}
	}
}
