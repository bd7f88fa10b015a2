package text_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"attention/graph"
	"attention/train"
	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// examples opens a file of examples with the given content.
func examples(t *testing.T, name, content string) *text.Examples {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	e, err := text.OpenExamples(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// textLessons makes lessons of plain texts, in which ids are bytes and the end is 0.
func textLessons(t *testing.T) *text.Lessons {
	l, err := text.NewLessons(t.Context(), text.LessonConfig{Tokenizer: text.ByteTokenizer{}, Ends: []int{0}})
	require.NoError(t, err)
	return l
}

// rowsOf returns the texts of the examples in each row of a batch, and checks all other parts of the batch.
func rowsOf(t *testing.T, b train.Batch, B, T int) (rows [][]string) {
	tokens := 0
	for row := range B {
		part := func(name string) []int { return b.Inputs[name].Ints()[row*T : (row+1)*T] }
		inputs, targets, segments, positions := part(text.Inputs), part(text.Targets), part(text.Segments), part(text.Positions)
		var texts []string
		for i := 0; i < T; {
			from := i
			for i < T && segments[i] == segments[from] {
				require.Equal(t, i-from, positions[i])
				i++
			}
			if targets[from] == graph.IgnoreTarget { // what is left
				require.Equal(t, T, i)
				break
			}
			var example strings.Builder
			for j := from; j < i; j++ {
				example.WriteByte(byte(inputs[j]))
				want := graph.IgnoreTarget
				if j+1 < i {
					want = inputs[j+1]
					tokens++
				}
				require.Equal(t, want, targets[j])
			}
			texts = append(texts, example.String())
		}
		rows = append(rows, texts)
	}
	require.Equal(t, tokens, b.Tokens)
	return rows
}

func TestPacked(t *testing.T) {
	var lines strings.Builder
	for _, n := range []int{3, 5, 1, 7, 2, 4, 12, 6} {
		fmt.Fprintf(&lines, "{\"text\": %q}\n", strings.Repeat(string(rune('a'+n)), n))
	}
	e := examples(t, "train.jsonl", lines.String())
	p, err := text.NewPacked(t.Context(), e, textLessons(t), text.PackConfig{Batch: 2, Context: 10, Once: true,
		Shuffle: true, Seed: 3})
	require.NoError(t, err)
	require.Equal(t, text.PackSummary{Examples: 8, Tokens: 4 + 6 + 2 + 8 + 3 + 5 + 10 + 7, Learned: 45 - 8, Longest: 10,
		Rows: 5, Batches: 3, Fill: 0.9, Cut: 1}, p.Summary())
	epoch := func() (all []string) {
		for {
			b, err := p.Next()
			if err != nil {
				return all
			}
			for _, row := range rowsOf(t, b, 2, 10) {
				all = append(all, strings.Join(row, "|"))
			}
		}
	}
	first, second := epoch(), epoch()
	require.NotEqual(t, first, second)
	for _, rows := range [][]string{first, second} {
		seen := strings.Split(strings.Join(rows, "|"), "|")
		for _, n := range []int{3, 5, 1, 7, 2, 4, 6} {
			require.Contains(t, seen, strings.Repeat(string(rune('a'+n)), n)+"\x00")
		}
		require.Contains(t, seen, strings.Repeat("m", 10), "cut")
	}

	_, err = p.Next()
	require.NoError(t, err)
	state, rest := p.State(), epoch()
	again, err := text.NewPacked(t.Context(), e, textLessons(t), text.PackConfig{Batch: 2, Context: 10, Once: true,
		Shuffle: true, Seed: 3})
	require.NoError(t, err)
	require.NoError(t, again.SetState(state))
	p = again
	require.Equal(t, rest, epoch(), "resumed")
	require.Error(t, p.SetState(state[1:]))

	skipped, err := text.NewPacked(t.Context(), e, textLessons(t), text.PackConfig{Batch: 1, Context: 5, Long: text.SkipLong})
	require.NoError(t, err)
	require.Equal(t, text.PackSummary{Examples: 4, Tokens: 14, Learned: 10, Longest: 5, Rows: 3, Batches: 3,
		Fill: 14.0 / 15, Skipped: 4},
		skipped.Summary())
	_, err = text.NewPacked(t.Context(), e, textLessons(t), text.PackConfig{Batch: 1, Context: 1})
	require.EqualError(t, err, "text: packing: Context: got 1, want at least 2")

	stopped, stop := context.WithCancel(t.Context())
	stop()
	_, err = text.NewPacked(stopped, e, textLessons(t), text.PackConfig{Batch: 1, Context: 5})
	require.ErrorIs(t, err, context.Canceled)
}

// Examples stay on the disk: the memory holds one number for each, whatever their size.
func TestExamplesStayOnTheDisk(t *testing.T) {
	const n, size = 1000, 16 << 10
	line := `{"text": "` + strings.Repeat("a", size) + `"}` + "\n"
	path := filepath.Join(t.TempDir(), "large.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat(line, n)), 0o644))
	lessons := textLessons(t)
	held := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before := held()
	e, err := text.OpenExamples(path)
	require.NoError(t, err)
	defer e.Close()
	p, err := text.NewPacked(t.Context(), e, lessons, text.PackConfig{Batch: 1, Context: 64})
	require.NoError(t, err)
	_, err = p.Next()
	require.NoError(t, err)
	require.Less(t, held()-before, n*size/32, "of %d bytes", n*size)
	runtime.KeepAlive(p)
}

// Rows become as long as the longest example, and a batch has no more rows than there are.
func TestReshape(t *testing.T) {
	e := examples(t, "x.jsonl", `{"text": "aa"}`+"\n"+`{"text": "bbbbb"}`+"\n"+`{"text": "c"}`+"\n")
	p, err := text.NewPacked(t.Context(), e, textLessons(t), text.PackConfig{Batch: 4, Context: 100})
	require.NoError(t, err)
	require.Equal(t, 1, p.Summary().Rows)
	require.Equal(t, 1, p.Config().Batch)
	require.EqualError(t, p.Reshape(4, 5), "text: packing: got rows of 5 tokens, want at least the 6 of an example")
	require.NoError(t, p.Reshape(4, p.Summary().Longest))
	require.Equal(t, text.PackSummary{Examples: 3, Tokens: 11, Learned: 8, Longest: 6, Rows: 2, Batches: 1,
		Fill: 11.0 / 12}, p.Summary())
	b, err := p.Next()
	require.NoError(t, err)
	require.Equal(t, [][]string{{"bbbbb\x00"}, {"aa\x00", "c\x00"}}, rowsOf(t, b, 2, 6))
}

// If most examples are truncated before their learned tokens, the error says how many tokens the template needs.
func TestFrameLongerThanRows(t *testing.T) {
	of, err := text.ParseTemplate(`{% for m in messages %}frame {{ m.content }}{% endfor %}` +
		`{% if add_generation_prompt %}!{% endif %}`)
	require.NoError(t, err)
	l, err := text.NewLessons(t.Context(),
		text.LessonConfig{Tokenizer: text.ByteTokenizer{}, Template: of, Ends: []int{0}})
	require.NoError(t, err)
	row := func(question string) string {
		return `{"messages": [{"role": "user", "content": "` + question + `"}, {"role": "assistant", "content": "b"}]}` + "\n"
	}
	pack := func(rows string) error {
		_, err := text.NewPacked(t.Context(), examples(t, "x.jsonl", rows), l, text.PackConfig{Batch: 1, Context: 14})
		return err
	}
	require.NoError(t, pack(row("a")+row("aaaaaaaa")), "half is left")
	require.EqualError(t, pack(row("a")+row("aaaaaaaa")+row("aaaaaaaaa")), "text: packing: got 2 of 3 examples without a "+
		"token to learn in their first 14 tokens: the template takes 7 tokens beside a question; want longer rows or a "+
		"shorter template")
}
