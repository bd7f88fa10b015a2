package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTokenizerFile: a run keeps the tokenizer.json of its flags, and all commands that read the run use it.
func TestTokenizerFile(t *testing.T) {
	t.Chdir(t.TempDir())
	words := strings.Repeat("the cat sat on the mat, the dog lay on the log; ", 60)
	require.NoError(t, os.WriteFile("text", []byte(words), 0o644))
	call := func(line string) string {
		printed, _, err := attention(t, strings.Fields(line)...)
		require.NoError(t, err, line)
		return printed
	}
	same := func(folder string) {
		want, err := os.ReadFile("mine.json")
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(folder, "tokenizer.json"))
		require.NoError(t, err, folder)
		require.Equal(t, string(want), string(got), folder)
	}
	call("tokenize --train --text-file text --vocab 270 --out mine.json")
	const small = "train --text text --steps 3 --eval-batches 1 --sample 2 "
	printed := call(small + "--tokenizer mine.json --model gpt --layers 1 --heads 2 --width 8 --context 16 --out run")
	require.Contains(t, printed, "tokenizer.json")
	same("run")
	call("train --resume run --steps 4")
	want := call("generate --model run --prompt the --tokens 5")
	require.True(t, strings.HasPrefix(want, "the"))
	call("view --model run --text the --export page.html")
	for _, format := range []string{"huggingface", "torch"} {
		call("export --model run --format " + format + " --out " + format)
		same(format)
		require.Equal(t, want, call("generate --model "+format+" --prompt the --tokens 5"))
	}
	settings, err := os.ReadFile("huggingface/tokenizer_config.json")
	require.NoError(t, err)
	require.Contains(t, string(settings), `"eos_token": "\u003c|endoftext|\u003e"`)
	for out, from := range map[string]string{"from-run": "--init run", "from-export": "--init huggingface",
		"from-config": "--config run/config.json", "from-folder": "--tokenizer run --context 16"} {
		if strings.HasPrefix(from, "--init") {
			from += " --model gpt"
		}
		call(small + from + " --out " + out)
		same(out)
	}

	other := strings.Repeat("some other words, again and again, once more; ", 60)
	require.NoError(t, os.WriteFile("other", []byte(other), 0o644))
	call("tokenize --train --text-file other --vocab 270 --out other.json")
	for _, row := range []struct{ name, line, want string }{
		{"neither name nor file", small + "--tokenizer words --out x", `--tokenizer: got "words", want characters, ` +
			"bytes, gpt2 or the path of a tokenizer.json"},
		{"a folder without", small + "--tokenizer . --out x", "--tokenizer: .: got neither tokenizer.json nor vocab.json with " +
			"merges.txt, want a tokenizer"},
		{"with --resume", "train --resume run --tokenizer mine.json", "--tokenizer: got it beside --resume"},
		{"another for the same weights", small + "--init run --model gpt --tokenizer other.json --out x",
			"got other tokens than those of --tokenizer tokenizer.json"},
	} {
		_, _, err := attention(t, strings.Fields(row.line)...)
		require.ErrorContains(t, err, row.want, row.name)
	}

	call("tokenize --train --text-file text --vocab 269 --out run/tokenizer.json")
	_, _, err = attention(t, "generate", "--model", "run", "--prompt", "the")
	require.ErrorContains(t, err, "run/tokenizer.json: got a file with SHA-256 ")
	require.NoError(t, os.Remove("run/tokenizer.json"))
	_, _, err = attention(t, "train", "--resume", "run", "--steps", "5")
	require.EqualError(t, err, "--resume: open run/tokenizer.json: no such file or directory")
}

// Added tokens in any text are encoded as their own ids. These are the ids that attention tokenize prints and that the
// Rust library has (TestRust in train/text). A text that ends with the end token gets no second one.
func TestAddedTokensInTexts(t *testing.T) {
	t.Chdir(t.TempDir())
	words := strings.Repeat("the cat sat on the mat, the dog lay on the log; ", 60)
	const said = "<|endoftext|>the<|endoftext|>"
	require.NoError(t, os.WriteFile("text", []byte(words), 0o644))
	require.NoError(t, os.WriteFile("data.jsonl", []byte(`{"text": "`+said+`"}`), 0o644))
	call := func(line string) string {
		printed, _, err := attention(t, strings.Fields(line)...)
		require.NoError(t, err, line)
		return printed
	}
	call("tokenize --train --text-file text --vocab 270 --out mine.json")
	require.Equal(t, "[269,257,269]\n", call("tokenize --tokenizer mine.json --json --text "+said))
	const small = "train --text text --steps 1 --eval-batches 1 --sample 0 --tokenizer mine.json --width 8 --context 16 "
	call(small + "--model gpt --layers 1 --heads 2 --out run")

	shown := call("finetune --model run --data data.jsonl --show 1")
	require.Equal(t, []string{"example", "1:", "3", "tokens", "269", `"<|endoftext|>"`, "257", "learned", `"the"`,
		"269", "learned", `"<|endoftext|>"`}, strings.Fields(shown))
	call("generate --model run --tokens 1 --seed 1 --weights w.safetensors --prompt " + said)
	weights, err := os.ReadFile("w.safetensors")
	require.NoError(t, err)
	require.Contains(t, string(weights), `"tokens":"[\"\\u003c|endoftext|\\u003e\",\"the\",\"\\u003c|endoftext|\\u003e\",`)
	call("view --model run --export page.html --text " + said)
	page, err := os.ReadFile("page.html")
	require.NoError(t, err)
	require.Contains(t, string(page), `"tokens":[{"id":269,"text":"\u003c|endoftext|\u003e"},{"id":257,"text":"the"},`+
		`{"id":269,"text":"\u003c|endoftext|\u003e"}]`)
	_, _, err = attention(t, strings.Fields(small+"--layer self_v2 --out x --prompt "+said)...)
	require.ErrorContains(t, err, "--prompt: got 3 tokens, want at least --context 16")
}
