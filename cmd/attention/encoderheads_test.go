package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/cmd/attention/internal/session"
	"attention/internal/golden"
	"attention/internal/safetensors"

	"github.com/stretchr/testify/require"
)

// Two runs learn, and print their measures before and after: one learns tags that depend on the next word, the other
// scores that depend on both texts. The command of the task prints the same for the run and for its export, and other commands refuse
// the run.
func TestTuneHeads(t *testing.T) {
	var sentences, rows, pairs strings.Builder // the same sentences in both forms
	for i := range 64 {
		words, tags := []string{string('a' + rune(i%8)), "mn"[i/8%2 : i/8%2+1], string('a' + rune(i*3/16))}, "B-X"
		if words[1] == "n" {
			tags = "O"
		}
		fmt.Fprintf(&sentences, `{"tokens": ["%s"], "ner_tags": ["%s", "O", "O"]}`+"\n", strings.Join(words, `", "`), tags)
		fmt.Fprintf(&rows, "%s\t%s\n%s\tO\n%s\tO\n\n", words[0], tags, words[1], words[2])
		label := 0
		if i/2%4 == i/8%2 {
			label = 1
		}
		fmt.Fprintf(&pairs, `{"query": "%c", "text": "%c", "label": %d}`+"\n", 'a'+i/8%2, 'i'+i%8, label)
	}
	back, err := os.Getwd()
	require.NoError(t, err)
	for _, row := range []struct {
		task, file, content, printed string
		least                        float64
		measure                      int
		args                         []string
	}{
		{"tag", "a.jsonl", sentences.String(), "\n64 held-out texts +before +after\n" +
			"precision +0.*\nrecall +.*\nF1 +0.*\naccuracy +0", 0.95, 2, []string{"tag", "--text", "a m b", "--text", "a n b"}},
		{"tag", "a.conll", rows.String(), "\nF1 +0", 0.95, 2, []string{"tag", "--text", "a m b"}},
		{"rank", "a.jsonl", pairs.String(), "\n64 held-out pairs +before +after\nMRR@10 +0", 0.9, 0,
			[]string{"rank", "--query", "a", "--text-file", "lines"}},
	} {
		flags := encoderFiles(t, "--data", row.file, "--valid", row.file, "--task", row.task, "--steps", "400",
			"--batch", "16", "--eval-every", "200", "--lora", "0", "--out", "run")
		t.Chdir(t.TempDir())
		require.NoError(t, os.WriteFile(row.file, []byte(row.content), 0o644))
		require.NoError(t, os.WriteFile("lines", []byte("k\no\ni\n"), 0o644))
		out, err := tune(t, flags...)
		require.NoError(t, err, out)
		require.Regexp(t, row.printed, out)
		require.Contains(t, out, "attention "+row.task+" --model run --")
		r, err := session.ReadReport("run")
		require.NoError(t, err)
		require.Greater(t, r.After[row.measure].Value, row.least, out)
		require.Less(t, r.Before[row.measure].Value, 0.8, out)
		_, _, err = attention(t, "export", "--model", "run", "--format", "huggingface", "--out", "written")
		require.NoError(t, err)
		shown, _, err := attention(t, append(row.args, "--model", "run")...)
		require.NoError(t, err)
		again, _, err := attention(t, append(row.args, "--model", "written")...)
		require.NoError(t, err)
		require.Equal(t, shown, again)
		if row.task == "tag" {
			require.Regexp(t, `^a m b\n  X  \d\.\d{4}  0:1  a\n`, shown)
		} else {
			require.Regexp(t, `^ 0\.\d{4}  i\n`, shown)
		}
		_, _, err = attention(t, "classify", "--model", "run", "--text", "a")
		require.Error(t, err)
		args := []string{"tag", "--text", "a"}
		if row.task == "tag" {
			args = []string{"rank", "--query", "a", "--text-file", "lines"}
		}
		_, _, err = attention(t, append(args, "--model", "run")...)
		written, err2 := filepath.Abs("written")
		require.NoError(t, err2)
		t.Chdir(back)
		if row.task == "rank" && !testing.Short() {
			t.Run("judge", func(t *testing.T) { readByCrossEncoder(t, written, shown) })
		}
		require.ErrorContains(t, err, "run: got a run of --task "+row.task+", want one of --task ")
	}
}

// The error about wrong sentences and pairs names their line.
func TestWrongWordsAndPairs(t *testing.T) {
	const good = `{"tokens": ["a", "b"], "ner_tags": ["B-X", "O"]}`
	for _, row := range []struct{ task, data, valid, want string }{
		{"tag", good + "\n" + `{"tokens": ["a"], "ner_tags": []}`, "", `line 2: ner_tags: got none, want at least one`},
		{"tag", good + "\n" + `{"text": "a"}`, "", `line 2: got no words with tags, want tokens and ner_tags`},
		{"tag", good, good + "\n" + `{"tokens": ["a", "b"], "ner_tags": ["O", "B-Y"]}`,
			`line 2: word 2, "b": got the tag "B-Y", want one of the 2 that are learned`},
		{"tag", `{"tokens": ["a"], "ner_tags": ["O"]}`, "", `got 1 class, want at least two`},
		{"rank", good, "", `line 1: got no pair of texts, want a query, a passage and a label`},
		{"rank", `{"query": "a", "passage": "b", "label": 2}`, "", `line 1: got no label from 0 to 1, want a query`},
	} {
		dir := t.TempDir()
		path, valid := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.jsonl")
		require.NoError(t, os.WriteFile(path, []byte(row.data), 0o644))
		args := encoderFiles(t, "--task", row.task, "--data", path, "--out", filepath.Join(dir, "run"))
		if row.valid != "" {
			require.NoError(t, os.WriteFile(valid, []byte(row.valid), 0o644))
			args = append(args, "--valid", valid)
		}
		_, err := tune(t, args...)
		require.ErrorContains(t, err, row.want)
		require.NotContains(t, err.Error(), "\n")
		require.NoDirExists(t, filepath.Join(dir, "run"))
	}
}

// readByCrossEncoder requires the scores of sentence-transformers' CrossEncoder in printed lines. It skips without a
// Python that has it.
func readByCrossEncoder(t *testing.T, dir, printed string) {
	out := filepath.Join(t.TempDir(), "out.safetensors")
	golden.Python(t, "cross_read.py", out, dir, "a", "k", "o", "i")
	f, err := safetensors.ReadFile(out)
	require.NoError(t, err)
	for i, text := range []string{"k", "o", "i"} {
		score := safetensors.Floats[float64](f.Tensors[0].Data)[i]
		require.Regexp(t, fmt.Sprintf(`(?m)^%7.4f  %s$`, score, text), printed)
	}
}
