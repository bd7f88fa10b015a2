package generate

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

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/term"
	"attention/internal/simd"
	"attention/layers/generate"
	"attention/train/pretrained"

	"github.com/stretchr/testify/require"
)

// generated runs attention generate.
func generated(ctx context.Context, args ...string) (text, notes string, err error) {
	var out, errs bytes.Buffer
	err = commandtest.Run(ctx, &out, &errs, New(), args...)
	return out.String(), errs.String(), err
}

// mustGenerate returns the text that attention generate prints; notes or an error fail the test.
func mustGenerate(t testing.TB, args ...string) string {
	text, notes, err := generated(context.Background(), args...)
	require.NoError(t, err)
	require.Empty(t, notes)
	return text
}

// continued returns the text that package generate alone adds to a text.
func continued(t testing.TB, g *pretrained.GPT, prompt string, tokens int, c generate.Config) string {
	ids, err := g.Tokenizer.Encode(prompt)
	require.NoError(t, err)
	c.VocabSize = g.Tokenizer.Len()
	from, err := generate.New(g.Model, c)
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

// The flags determine the text, which is the same each time.
func TestGenerate(t *testing.T) {
	g := commandtest.SmallGPT(t)
	dir := commandtest.WriteGPT(t, g)
	file := filepath.Join(t.TempDir(), "prompt")
	require.NoError(t, os.WriteFile(file, []byte("abé c\n"), 0o644))
	for _, c := range []struct {
		flags []string
		want  generate.Config
	}{
		{flags: []string{"--prompt", "abé c\n"}, want: generate.Config{Temperature: 0.8, Seed: 1}},
		{flags: []string{"--prompt-file", file}, want: generate.Config{Temperature: 0.8, Seed: 1}},
		{flags: []string{"--prompt-file", file, "--temperature", "0"}, want: generate.Config{}},
		{flags: []string{"--prompt-file", file, "--temperature", "2", "--seed", "5"},
			want: generate.Config{Temperature: 2, Seed: 5}},
		{flags: []string{"--prompt-file", file, "--top-k", "3", "--temperature", "3"},
			want: generate.Config{Temperature: 3, TopK: 3, Seed: 1}},
		{flags: []string{"--prompt-file", file, "--top-p", "0.3"},
			want: generate.Config{Temperature: 0.8, TopP: 0.3, Seed: 1}},
		{flags: []string{"--prompt-file", file, "--min-p", "0.2", "--repetition-penalty", "1.5"},
			want: generate.Config{Temperature: 0.8, MinP: 0.2, RepetitionPenalty: 1.5, Seed: 1}},
		{flags: []string{"--prompt-file", file, "--context", "9"},
			want: generate.Config{Temperature: 0.8, Capacity: 9, Slide: true, Seed: 1}},
	} {
		want := continued(t, g, "abé c\n", 30, c.want)
		args := append([]string{"--model", dir, "--tokens", "30"}, c.flags...)
		require.Equal(t, "abé c\n"+want+"\n", mustGenerate(t, args...), "%v", c.flags)
	}

	stdin, err := os.Open(file)
	require.NoError(t, err)
	defer func(old *os.File) { os.Stdin = old }(os.Stdin)
	os.Stdin = stdin
	require.Equal(t, "abé c\n"+continued(t, g, "abé c\n", 30, generate.Config{})+"\n",
		mustGenerate(t, "--model", dir, "--tokens", "30", "--prompt-file", "-", "--temperature", "0"))
}

// The text ends before a stop text and before the end-of-text token, with which a new text begins.
func TestGenerateStops(t *testing.T) {
	g := commandtest.SmallGPT(t)
	text := continued(t, g, "ab", 30, generate.Config{Temperature: 0.8, Seed: 1})
	stop := string([]rune(text)[11:14])
	dir := commandtest.WriteGPT(t, g)
	args := []string{"--model", dir, "--prompt", "ab", "--tokens", "30"}
	require.Equal(t, "ab"+text[:strings.Index(text, stop)]+"\n",
		mustGenerate(t, append(args, "--stop", "never", "--stop", stop)...))
	require.Equal(t, "ab"+text+"\n", mustGenerate(t, append(args, "--stop", text+"x", "--stop", "x")...))

	ids, err := g.Tokenizer.Encode(text)
	require.NoError(t, err)
	g.EndOfText = ids[9]
	end := strings.IndexRune(text, []rune(text)[9])
	require.Equal(t, "ab"+text[:end]+"\n",
		mustGenerate(t, "--model", commandtest.WriteGPT(t, g), "--prompt", "ab", "--tokens", "30"))
	begin, err := g.Tokenizer.Decode([]int{g.EndOfText})
	require.NoError(t, err)
	fromNothing := mustGenerate(t, "--model", commandtest.WriteGPT(t, g), "--tokens", "5")
	whole := continued(t, g, begin, 5, generate.Config{Temperature: 0.8, Seed: 1})
	fromBegin, _, _ := strings.Cut(whole, begin)
	require.Equal(t, fromBegin+"\n", fromNothing)
}

// Where the positions end, the text continues from its last half window. A note reports a
// prompt that is longer than the window.
func TestGenerateSlides(t *testing.T) {
	g := commandtest.SmallGPT(t)
	dir := commandtest.WriteGPT(t, g)
	slide := generate.Config{Temperature: 0.8, Seed: 1, Slide: true}
	require.Equal(t, "ab"+continued(t, g, "ab", 100, slide)+"\n",
		mustGenerate(t, "--model", dir, "--prompt", "ab", "--tokens", "100"))

	prompt := strings.Repeat("abc", 40/3) + "fg"
	text, notes, err := generated(context.Background(), "--model", dir, "--prompt", prompt, "--tokens", "9")
	require.NoError(t, err)
	require.Equal(t, prompt+continued(t, g, prompt, 9, slide)+"\n", text)
	require.Equal(t, "attention: the prompt has 41 tokens, the model's window 40: it sees only the end of the prompt\n",
		notes)

	slide.Capacity = 6
	text, notes, err = generated(context.Background(), "--model", dir, "--prompt", "abcabcab", "--tokens", "9",
		"--context", "6")
	require.NoError(t, err)
	require.Equal(t, "abcabcab"+continued(t, g, "abcabcab", 9, slide)+"\n", text)
	require.Equal(t, "attention: the prompt has 8 tokens, the model's window 6: it sees only the end of the prompt\n",
		notes)
}

// Each text ends before any of the ids that end a text.
func TestDrawEndsAtAnyEnd(t *testing.T) {
	g := commandtest.SmallGPT(t)
	ids := func(text string) []int {
		ids, err := g.Tokenizer.Encode(text)
		require.NoError(t, err)
		return ids
	}
	m := &models.OpenModel{Model: settings.NewDecoder(g.Model), Tokenizer: g.Tokenizer, EndOfText: -1, Ends: ids("fa")}
	c := command{tokens: 30, given: []string{"ab", "c"}, prompts: []string{"ab", "c"}, samples: 1,
		SamplingOptions: models.SamplingOptions{Sampling: generate.Config{Temperature: 2, Seed: 1, VocabSize: g.Tokenizer.Len()}}}
	d, prompts, err := c.newTexts(m, [][]int{ids("ab"), ids("c")})
	require.NoError(t, err)
	texts, err := c.drawAll(t.Context(), d, m, prompts, io.Discard, new(stats))
	require.NoError(t, err)
	for i, prompt := range c.given {
		sampling := c.Sampling
		sampling.Seed += int64(i)
		whole := continued(t, g, prompt, 30, sampling)
		end := strings.IndexAny(whole, "fa")
		require.GreaterOrEqual(t, end, 0, whole)
		require.Equal(t, whole[:end], texts[i].out.(*bytes.Buffer).String())
	}
}

func TestGenerateStats(t *testing.T) {
	_, notes, err := generated(context.Background(), "--model", commandtest.WriteGPT(t, commandtest.SmallGPT(t)),
		"--prompt", "abc", "--tokens", "7", "--stats")
	require.NoError(t, err)
	number := regexp.MustCompile(`[0-9]+\.[0-9]+`)
	require.Equal(t, `model:  loaded in # s
prompt: 3 tokens in # s, # tokens/s
text:   7 tokens in # s, # tokens/s
memory: weights # MB, cache # MB, graphs # MB
`, number.ReplaceAllString(notes, "#"))
}

// canceller cancels a run when the first characters after the prompt are printed.
type canceller struct {
	text   bytes.Buffer
	cancel func()
	err    error
}

func (c *canceller) Write(p []byte) (int, error) {
	if c.text.Len() > 0 {
		c.cancel()
	}
	if c.err != nil {
		return 0, c.err
	}
	return c.text.Write(p)
}

// Ctrl-C ends the text at once, with its own exit code; if the reader is gone, the command ends without a message.
func TestGenerateInterrupted(t *testing.T) {
	g := commandtest.SmallGPT(t)
	dir := commandtest.WriteGPT(t, g)
	ctx, cancel := context.WithCancel(context.Background())
	out := &canceller{cancel: cancel}
	err := commandtest.Run(ctx, out, io.Discard, New(), "--model", dir, "--prompt", "ab", "--tokens", "30")
	require.EqualError(t, err, "stopped after 1 of 30 tokens")
	require.Equal(t, 130, term.ExitCode(err))
	require.Equal(t, "ab"+continued(t, g, "ab", 1, generate.Config{Temperature: 0.8, Seed: 1})+"\n", out.text.String())

	_, _, err = generated(ctx, "--model", dir, "--prompt", "ab")
	require.EqualError(t, err, "stopped after 0 of 100 tokens")

	broken := func(err error) error {
		out := &canceller{cancel: func() {}, err: &os.PathError{Op: "write", Err: err}}
		return commandtest.Run(t.Context(), out, io.Discard, New(), "--model", dir, "--prompt", "ab")
	}
	require.NoError(t, broken(syscall.EPIPE))
	require.ErrorContains(t, broken(syscall.ENOSPC), "printing: ")
}

// TestGeneratePrecision: bf16 is accepted if the processor or the environment allows it; otherwise the error is one
// line.
func TestGeneratePrecision(t *testing.T) {
	model := commandtest.WriteGPT(t, commandtest.SmallGPT(t))
	args := []string{"--model", model, "--prompt", "ab", "--tokens", "3", "--precision"}
	t.Setenv("ATTENTION_BF16", "emulated")
	require.NotEmpty(t, mustGenerate(t, append(args, "bf16")...))
	_, _, err := generated(context.Background(), append(args, "fp8")...)
	require.EqualError(t, err, `--precision: got "fp8", want full or bf16`)
	t.Setenv("ATTENTION_BF16", "")
	_, _, err = generated(context.Background(), append(args, "bf16")...)
	if refused := simd.CheckBF16(); refused != nil {
		require.EqualError(t, err, "--precision: "+refused.Error())
	} else {
		require.NoError(t, err)
	}
}
