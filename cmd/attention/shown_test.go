package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"attention/internal/golden"

	"github.com/stretchr/testify/require"
)

// The pages that lead through a fine-tuning, of a published model and of a model pretrained for it, and through encoders.
const (
	finetuning = "finetune.md"
	skilled    = "skills.md"
	encoders   = "encoders.md"
)

// shellScript is a shell block of a README.
type shellScript struct {
	lines []string
	shown string // the block of text right after it; "" for none
	whole bool   // whether the text is "text whole": it is printed only if no line is shortened
}

// shellScripts returns the shell blocks of a README.
func shellScripts(markdown string, installs bool, shortened map[string]string) (all []shellScript) {
	blocks := regexp.MustCompile("(?ms)^```sh\n(.*?)^```$(?:\n+```text( whole)?\n(.*?)^```$)?")
	for _, m := range blocks.FindAllStringSubmatch(markdown, -1) {
		all = append(all, shellScript{shellLines(m[1], installs, shortened), m[3], m[2] != ""})
	}
	return all
}

// run runs a script after some words were replaced, and returns its output.
func (s shellScript) run(t *testing.T, dir string, environment []string, words *strings.Replacer) string {
	shell := exec.CommandContext(t.Context(), "sh", "-ec", words.Replace(strings.Join(s.lines, "\n")))
	shell.Dir, shell.Env = dir, environment
	printed, err := shell.CombinedOutput()
	require.NoError(t, err, "%s\n%s", strings.Join(s.lines, "\n"), printed)
	return string(printed)
}

// requireShown requires that the output has the lines of a text in their order. Numbers that may differ are ignored,
// and a line … stands for any lines.
func requireShown(t *testing.T, shown, printed string, mayDiffer *regexp.Regexp) {
	same := func(text string) string {
		return strings.Join(strings.Fields(mayDiffer.ReplaceAllString(text, "0")), " ")
	}
	rest := strings.Split(printed, "\n")
	for line := range strings.Lines(shown) {
		if line = strings.TrimSpace(line); line == "…" || line == "" {
			continue
		}
		at := 0
		for at < len(rest) && same(rest[at]) != same(line) {
			at++
		}
		require.Less(t, at, len(rest), "not printed: %s\nprinted:\n%s", line, printed)
		rest = rest[at+1:]
	}
}

// The commands of the page of skills reach the results that it shows: 95 % of the answers and 97 % of the classes of
// the test files.
func TestWholeSkills(t *testing.T) {
	if os.Getenv("ATTENTION_TESTS_LARGE") == "" {
		t.Skip("trains for minutes: only with ATTENTION_TESTS_LARGE=1")
	}
	root, err := filepath.Abs(repository)
	require.NoError(t, err)
	dir, environment := readmeFolder(t, root, skilled)
	shares := regexp.MustCompile(`(?m)^right +([0-9.]+) %$`)
	var reached []float64
	for _, s := range shellScripts(readFile(t, skilled), false, nil) {
		printed := s.run(t, dir, environment, strings.NewReplacer())
		t.Logf("%s\n%s", strings.Join(s.lines, "\n"), printed)
		requireShown(t, s.shown, printed, regexp.MustCompile(`[0-9]+\.[0-9]+|[0-9]+ of [0-9]+`))
		for _, m := range shares.FindAllStringSubmatch(printed, -1) {
			share, err := strconv.ParseFloat(m[1], 64)
			require.NoError(t, err)
			reached = append(reached, share)
		}
	}
	require.Len(t, reached, 3)
	for i, want := range []float64{95, 95, 97} {
		require.GreaterOrEqual(t, reached[i], want)
	}
}

// The commands of the pages about published models print the shown output, where the folders of these models are
// present.
func TestWholePublished(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for a minute")
	}
	for page, model := range map[string]string{finetuning: "smollm2", encoders: "minilm"} {
		t.Run(page, func(t *testing.T) {
			published := golden.Published(t, model)
			root, err := filepath.Abs(repository)
			require.NoError(t, err)
			dir, environment := readmeFolder(t, root, page)
			require.NoError(t, os.RemoveAll(filepath.Join(dir, model)))
			require.NoError(t, os.Symlink(published, filepath.Join(dir, model)))
			for _, s := range shellScripts(readFile(t, page), false, nil) {
				requireShown(t, s.shown, s.run(t, dir, environment, strings.NewReplacer()), regexp.MustCompile(`[0-9]+\.[0-9]+`))
			}
		})
	}
}

// The programs of the page about encoders run, with the small model of testdata in place of the published one. With the
// published one they print what the page shows.
func TestProgramsOfEncoders(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	root, err := filepath.Abs(repository)
	require.NoError(t, err)
	page := readFile(t, encoders)
	programs := codeBlocks(page, "go")
	shown := regexp.MustCompile("(?ms)^It prints\n\n```\n(.*?)^```$").FindAllStringSubmatch(page, -1)
	patterns := []string{`^a person has a meal: 0\.\d{4} [A-Z].*\.\nI liked that film: 0.*\nmusic with strings m: 0.*\n$`,
		`^(step (0|25|50): recall@1 [01]\.\d, cosine -?0\.\d\d\n){3}$`}
	require.Len(t, programs, len(patterns))
	require.Len(t, shown, len(patterns))
	for i, program := range programs {
		require.LessOrEqual(t, strings.Count(program, "\n"), 45)
		dir, environment := readmeFolder(t, root, encoders)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o644))
		build := "go build -C '" + root + "' -o '" + dir + "/program' '" + dir + "/main.go'"
		printed := shellScript{lines: []string{build, "./program"}}.run(t, dir, environment, strings.NewReplacer())
		require.Regexp(t, patterns[i], printed)
		t.Run("published", func(t *testing.T) {
			published := golden.Published(t, "minilm")
			require.NoError(t, os.Remove(filepath.Join(dir, "minilm")))
			require.NoError(t, os.Symlink(published, filepath.Join(dir, "minilm")))
			printed := shellScript{lines: []string{"./program"}}.run(t, dir, environment, strings.NewReplacer())
			require.Equal(t, shown[i][1], printed)
		})
	}
}
