package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"attention/cmd/attention/internal/term"
	"attention/layers"
	"attention/layers/generate"
	"attention/train/pretrained"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"
)

// newSmallGPT is a GPT of characters whose text varies.
func newSmallGPT(t testing.TB) *pretrained.GPT {
	vocabulary, err := text.NewVocabulary("abcdefg éü\n")
	require.NoError(t, err)
	p := layers.NewParams(tensor.Float32, 7)
	m, err := layers.NewGPT(p.Scope(""), layers.GPTConfig{Vocab: vocabulary.Len() + 2, Context: 40, Width: 12, Layers: 2, NumHeads: 3})
	require.NoError(t, err)
	for _, v := range p.All() {
		for i := range v.Float32s() {
			v.Float32s()[i] *= 6
		}
	}
	return &pretrained.GPT{Model: m, Params: p, Tokenizer: vocabulary, EndOfText: -1}
}

// written is a new folder with a model.
func written(t testing.TB, g *pretrained.GPT) string {
	dir := filepath.Join(t.TempDir(), "model")
	_, err := g.Write(dir, pretrained.Torch)
	require.NoError(t, err)
	return dir
}

// generated runs attention generate.
func generated(ctx context.Context, args ...string) (text, notes string, err error) {
	var out, errs bytes.Buffer
	root := newRoot()
	root.SetArgs(append([]string{"generate"}, args...))
	root.SetOut(&out)
	root.SetErr(&errs)
	err = root.ExecuteContext(ctx)
	return out.String(), errs.String(), err
}

// mustGenerate is the text that attention generate prints, and nothing else.
func mustGenerate(t testing.TB, args ...string) string {
	text, notes, err := generated(context.Background(), args...)
	require.NoError(t, err)
	require.Empty(t, notes)
	return text
}

// continued is what a model adds to a text by package generate alone.
func continued(t testing.TB, g *pretrained.GPT, prompt string, tokens int, c generate.Config) string {
	ids, err := g.Tokenizer.Encode(prompt)
	require.NoError(t, err)
	c.Vocab = g.Tokenizer.Len()
	from, err := generate.New(g.Params, g.Model, c)
	require.NoError(t, err)
	require.NoError(t, from.Prompt(context.Background(), ids))
	var drawn []int
	for range tokens {
		id, err := from.Next(context.Background())
		require.NoError(t, err)
		drawn = append(drawn, id)
	}
	text, err := g.Tokenizer.Decode(drawn)
	require.NoError(t, err)
	return text
}

// The text is what the model draws under the flags, the same each time.
func TestGenerate(t *testing.T) {
	g := newSmallGPT(t)
	dir := written(t, g)
	file := filepath.Join(t.TempDir(), "prompt")
	require.NoError(t, os.WriteFile(file, []byte("abé c\n"), 0o644))
	for _, c := range []struct {
		flags []string
		want  generate.Config
	}{
		{[]string{"--prompt", "abé c\n"}, generate.Config{Temperature: 0.8, Seed: 1}},
		{[]string{"--prompt-file", file}, generate.Config{Temperature: 0.8, Seed: 1}},
		{[]string{"--prompt-file", file, "--temperature", "0"}, generate.Config{}},
		{[]string{"--prompt-file", file, "--temperature", "2", "--seed", "5"}, generate.Config{Temperature: 2, Seed: 5}},
		{[]string{"--prompt-file", file, "--top-k", "3", "--temperature", "3"}, generate.Config{Temperature: 3, TopK: 3, Seed: 1}},
		{[]string{"--prompt-file", file, "--top-p", "0.3"}, generate.Config{Temperature: 0.8, TopP: 0.3, Seed: 1}},
	} {
		want := continued(t, g, "abé c\n", 30, c.want)
		args := append([]string{"--model", dir, "--tokens", "30"}, c.flags...)
		require.Equal(t, want, mustGenerate(t, args...), "%v", c.flags)
	}

	stdin, err := os.Open(file)
	require.NoError(t, err)
	defer func(old *os.File) { os.Stdin = old }(os.Stdin)
	os.Stdin = stdin
	require.Equal(t, continued(t, g, "abé c\n", 30, generate.Config{}),
		mustGenerate(t, "--model", dir, "--tokens", "30", "--prompt-file", "-", "--temperature", "0"))
}

// The text ends before a stop text and before the end-of-text token, which a new text
// begins with.
func TestGenerateStops(t *testing.T) {
	g := newSmallGPT(t)
	text := continued(t, g, "ab", 30, generate.Config{Temperature: 0.8, Seed: 1})
	stop := string([]rune(text)[11:14])
	dir := written(t, g)
	args := []string{"--model", dir, "--prompt", "ab", "--tokens", "30"}
	require.Equal(t, text[:strings.Index(text, stop)], mustGenerate(t, append(args, "--stop", "never", "--stop", stop)...))
	require.Equal(t, text, mustGenerate(t, append(args, "--stop", text+"x", "--stop", "x")...))

	ids, err := g.Tokenizer.Encode(text)
	require.NoError(t, err)
	g.EndOfText = ids[9]
	end := strings.IndexRune(text, []rune(text)[9])
	require.Equal(t, text[:end], mustGenerate(t, "--model", written(t, g), "--prompt", "ab", "--tokens", "30"))
	begin, err := g.Tokenizer.Decode([]int{g.EndOfText})
	require.NoError(t, err)
	fromNothing := mustGenerate(t, "--model", written(t, g), "--tokens", "5")
	whole := continued(t, g, begin, 5, generate.Config{Temperature: 0.8, Seed: 1})
	fromBegin, _, _ := strings.Cut(whole, begin)
	require.Equal(t, fromBegin, fromNothing)
}

// Where the positions end, the text goes on from its last half window. That a prompt is
// longer than they are is said.
func TestGenerateSlides(t *testing.T) {
	g := newSmallGPT(t)
	dir := written(t, g)
	slide := generate.Config{Temperature: 0.8, Seed: 1, Slide: true}
	require.Equal(t, continued(t, g, "ab", 100, slide), mustGenerate(t, "--model", dir, "--prompt", "ab", "--tokens", "100"))

	prompt := strings.Repeat("abc", 40/3) + "fg"
	text, notes, err := generated(context.Background(), "--model", dir, "--prompt", prompt, "--tokens", "9")
	require.NoError(t, err)
	require.Equal(t, continued(t, g, prompt, 9, slide), text)
	require.Equal(t, "attention: the prompt has 41 tokens, the model's window 40: it sees only the end of the prompt\n", notes)
}

func TestGenerateStats(t *testing.T) {
	_, notes, err := generated(context.Background(), "--model", written(t, newSmallGPT(t)), "--prompt", "abc", "--tokens", "7", "--stats")
	require.NoError(t, err)
	number := regexp.MustCompile(`[0-9]+\.[0-9]+`)
	require.Equal(t, `model:  loaded in # s
prompt: 3 tokens in # s, # tokens/s
text:   7 tokens in # s, # tokens/s
memory: weights # MB, cache # MB, graphs # MB
`, number.ReplaceAllString(notes, "#"))
}

// canceller cancels a run when the first characters are printed.
type canceller struct {
	text   bytes.Buffer
	cancel func()
	err    error
}

func (c *canceller) Write(p []byte) (int, error) {
	c.cancel()
	if c.err != nil {
		return 0, c.err
	}
	return c.text.Write(p)
}

// Ctrl-C ends the text with what there is, and the exit code says so; a reader who goes
// away ends it without a word.
func TestGenerateInterrupted(t *testing.T) {
	g := newSmallGPT(t)
	dir := written(t, g)
	ctx, cancel := context.WithCancel(context.Background())
	root := newRoot()
	out := &canceller{cancel: cancel}
	root.SetArgs([]string{"generate", "--model", dir, "--prompt", "ab", "--tokens", "30"})
	root.SetOut(out)
	root.SetErr(io.Discard)
	err := root.ExecuteContext(ctx)
	require.EqualError(t, err, "generate: stopped after 1 of 30 tokens")
	require.Equal(t, 130, term.ExitCode(err))
	require.Equal(t, continued(t, g, "ab", 1, generate.Config{Temperature: 0.8, Seed: 1}), out.text.String())

	_, _, err = generated(ctx, "--model", dir, "--prompt", "ab")
	require.EqualError(t, err, "generate: stopped after 0 of 100 tokens")

	broken := func(err error) error {
		root := newRoot()
		root.SetArgs([]string{"generate", "--model", dir, "--prompt", "ab"})
		root.SetOut(&canceller{cancel: func() {}, err: &os.PathError{Op: "write", Err: err}})
		return root.Execute()
	}
	require.NoError(t, broken(syscall.EPIPE))
	require.ErrorContains(t, broken(syscall.ENOSPC), "generate: printing: ")
}

// However a text comes in pieces, it is printed up to the first stop text.
func TestStopperCutsAtTheFirstStop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.StringOfN(rapid.RuneFrom([]rune("abé")), 1, 4, -1)
		s := stopper{stops: rapid.SliceOfN(letters, 0, 3).Draw(t, "stops")}
		pieces := rapid.SliceOf(rapid.StringOfN(rapid.RuneFrom([]rune("abé")), 0, 20, -1)).Draw(t, "pieces")
		text := strings.Join(pieces, "")
		want, stopped := text, false
		for _, stop := range s.stops {
			if i := strings.Index(text, stop); i >= 0 && i <= len(want) {
				want, stopped = text[:i], true
			}
		}
		got := ""
		for _, piece := range pieces {
			got += s.add(piece)
			if !strings.HasPrefix(want, got) {
				t.Fatalf("printed %q of %q", got, want)
			}
		}
		got += s.rest()
		if got != want || s.stopped != stopped {
			t.Fatalf("got %q, stopped %v, want %q, %v", got, s.stopped, want, stopped)
		}
	})
	s := stopper{stops: []string{"b", "ab", "c"}}
	require.Equal(t, "x", s.add("xabc"), "the first in the text, not in the list")
	s = stopper{stops: []string{"abc"}}
	require.Equal(t, "xa", s.add("xaab"), "what cannot begin a stop text is shown at once")
}

// A terminal does not obey what a model writes.
func TestGenerateEscapesOnATerminal(t *testing.T) {
	var out bytes.Buffer
	w := &continuation{out: &out, terminal: true}
	require.NoError(t, w.print("a\x1b[2J\n"))
	require.Equal(t, "a\\x1b[2J\n", out.String())
	w.terminal = false
	require.NoError(t, w.print("\x1b"))
	require.Equal(t, "a\\x1b[2J\n\x1b", out.String())
}
