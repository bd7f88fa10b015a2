package finetune

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// copied returns a copy of a model's folder in which a file has another content; "" removes it.
func copied(t *testing.T, base, name, content string) string {
	dir := filepath.Join(t.TempDir(), "base")
	require.NoError(t, os.CopyFS(dir, os.DirFS(base)))
	path := filepath.Join(dir, name)
	if content == "" {
		require.NoError(t, os.Remove(path))
		return dir
	}
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	return dir
}

// requireOneLine requires a one-line error containing want, and that no run folder was made.
func requireOneLine(t *testing.T, out string, err error, want string) {
	t.Helper()
	require.ErrorContains(t, err, want)
	require.NotContains(t, err.Error(), "\n")
	require.NoDirExists(t, out)
}

// The error about the folder of an interrupted download is one line that names the missing file.
func TestInterruptedDownloads(t *testing.T) {
	base, flags := files(t, "--steps", "1")
	read := func(name string) string {
		content, err := os.ReadFile(filepath.Join(base, name))
		require.NoError(t, err)
		return string(content)
	}
	weights, out := read("model.safetensors"), filepath.Join(t.TempDir(), "run")
	const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n"
	for _, row := range []struct{ name, file, content, want string }{
		{"no weights", "model.safetensors", "", "holds neither model.safetensors nor model.safetensors.index.json"},
		{"half of the weights", "model.safetensors", weights[:len(weights)/2], "model.safetensors: "},
		{"a few bytes of the weights", "model.safetensors", weights[:5], "model.safetensors: "},
		{"a pointer of Git LFS", "model.safetensors", pointer, "model.safetensors: got a pointer of Git LFS"},
		{"no config", "config.json", "", "config.json: no such file or directory, want the folder of a model"},
		{"half of the config", "config.json", read("config.json")[:40], "config.json: "},
		{"an empty config", "config.json", " ", "config.json: "},
		{"no tokenizer", "tokenizer.json", "", "got a model without a tokenizer, want one with its tokenizer.json"},
		{"half of the tokenizer", "tokenizer.json", read("tokenizer.json")[:900], "tokenizer.json: "},
	} {
		t.Run(row.name, func(t *testing.T) {
			flags[1] = copied(t, base, row.file, row.content)
			_, err := tune(t, append(flags, "--out", out)...)
			requireOneLine(t, out, err, row.want)
			t.Log(err)
		})
	}
	flags[1] = copied(t, base, "model.safetensors", "")
	index := `{"weight_map": {"model.norm.weight": "model-00001-of-00002.safetensors"}}`
	require.NoError(t, os.WriteFile(filepath.Join(flags[1], "model.safetensors.index.json"), []byte(index), 0o644))
	_, err := tune(t, append(flags, "--out", out)...)
	requireOneLine(t, out, err, "model-00001-of-00002.safetensors: no such file or directory")
}

// The error about examples without learned tokens is one line with their number.
func TestBadExamples(t *testing.T) {
	_, flags := files(t, "--steps", "1")
	out := filepath.Join(t.TempDir(), "run")
	good := `{"prompt": "cat", "completion": "mat"}` + "\n"
	for _, row := range []struct{ name, file, content, want string }{
		{"nothing", "x.jsonl", "\n\n", "x.jsonl: got no example, want at least one"},
		{"another end", "x.text", good, `got a name that ends with ".text", want .jsonl, .json, .txt, .conll, .csv or .tsv`},
		{"no JSON", "x.jsonl", good + "cat\n", "x.jsonl: line 2: "},
		{"a line that is cut off", "x.jsonl", good + `{"prompt": "c`, "x.jsonl: line 2: "},
		{"another form", "x.jsonl", good + "\n" + `{"question": "cat"}`,
			`x.jsonl: line 3: got the keys "question", want messages, `},
		{"no answer", "x.jsonl", `{"messages": [{"role": "user", "content": "a"}]}`,
			`line 1: messages: got the roles "user" and no answer of the assistant`},
		{"a message without a role", "x.jsonl", `{"messages": [{"content": "a"}]}`,
			"line 1: messages: message 1: role: got no text"},
		{"a weight", "x.jsonl", `{"messages": [{"role": "assistant", "content": "a", "weight": 2}]}`,
			"line 1: messages: message 1: weight: got 2, want 0 or 1"},
		{"only weights of 0", "x.jsonl", `{"messages": [{"role": "assistant", "content": "a", "weight": 0}]}`,
			`line 1: messages: got the roles "assistant" and no answer of the assistant to learn`},
		{"a picture", "x.jsonl", `{"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}`,
			`part 1: got the type "image_url", want text`},
		{"another speaker", "x.jsonl", `{"conversations": [{"from": "narrator", "value": "a"}]}`,
			`line 1: conversations: message 1: from: got "narrator"`},
		{"an array that is cut off", "x.json", "[" + good,
			"got an array without an end, want a whole one: was the file cut off?"},
		{"no array", "x.json", good, "got no JSON array"},
		{"three columns", "x.csv", "label,text\na,b,c\n", "x.csv: line 2: got 3 columns, want the 2 of the heading"},
		{"no label", "x.tsv", "\tcat\n", "x.tsv: line 1: label: got nothing, want a class"},
		{"a longer element", "x.json", `[{"text": "a"}, {"text": "` + strings.Repeat("a", 16<<20) + `"}]`,
			"element 2: got more than 16777216 bytes"},
		{"a longer text of a table", "x.csv", "a,b\na," + strings.Repeat("a", 16<<20), "line 2: got more than 16777216 bytes"},
		{"no UTF-8", "x.jsonl", good + `{"prompt": "` + "\xff" + `", "completion": "a"}`, "x.jsonl: line 2: "},
		{"no UTF-8 in a table", "x.tsv", "a\tb\na\t\xff", "x.tsv: line 2: "},
		{"an empty text", "x.jsonl", `{"text": " "}`, "line 1: text: got nothing, want some"},
		{"a longer line than any example", "x.jsonl", good + strings.Repeat("a", 16<<20+1),
			"line 2: got more than 16777216 bytes"},
	} {
		t.Run(row.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), row.file)
			require.NoError(t, os.WriteFile(path, []byte(row.content), 0o644))
			_, err := tune(t, append(flags, "--data", path, "--valid", path, "--out", out)...)
			requireOneLine(t, out, err, row.want)
		})
	}
}

// A single example is enough; if it is also named as held-out data, it is both. The error about a base of another run
// names the command.
func TestOneExample(t *testing.T) {
	_, flags := files(t, "--steps", "2")
	path := filepath.Join(t.TempDir(), "x.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(`{"prompt": "cat", "completion": "mat"}`), 0o644))
	said, err := tune(t, append(flags, "--data", path, "--valid", path, "--out", filepath.Join(t.TempDir(), "run"))...)
	require.NoError(t, err)
	require.Contains(t, said, "1 example,")
	require.Contains(t, said, "in 1 row,")
}

// The error about a template that raises is one line with its message; the error about a role that the template does
// not know names the line.
func TestBadTemplates(t *testing.T) {
	_, flags := files(t, "--steps", "1")
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "run")
	const strict = `{% for m in messages %}{% if m.role == 'assistant' %}{{ m.content }}{{ eos_token }}` +
		`{% elif m.role == 'user' %}{{ m.content }}?{% else %}` +
		`{{ raise_exception('Only user and assistant roles are supported!') }}{% endif %}{% endfor %}`
	for _, row := range []struct{ name, template, example, want string }{
		{"a role that it does not know", strict,
			`{"messages": [{"role": "system", "content": "a"}, {"role": "assistant", "content": "b"}]}`,
			"line 1: text: template: line 1: the template refuses: Only user and assistant roles are supported!"},
		{"no template", "{% for", `{"prompt": "a", "completion": "b"}`, "--template: "},
		{"an empty file", " ", `{"prompt": "a", "completion": "b"}`, "got an empty file, want a template"},
		{"no answer in its text", "{{ messages[0].content }}", `{"prompt": "a", "completion": "b"}`,
			"line 1: text: template: got no generation blocks, and no loop over the messages that writes message 2"},
	} {
		t.Run(row.name, func(t *testing.T) {
			template, data := filepath.Join(dir, "t.jinja"), filepath.Join(dir, "x.jsonl")
			require.NoError(t, os.WriteFile(template, []byte(row.template), 0o644))
			require.NoError(t, os.WriteFile(data, []byte(row.example), 0o644))
			_, err := tune(t, append(flags, "--template", template, "--data", data, "--valid", data, "--out", out)...)
			requireOneLine(t, out, err, row.want)
			t.Log(err)
		})
	}
}
