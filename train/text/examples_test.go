package text_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/train/text"

	"github.com/stretchr/testify/require"
)

func TestOpenExamples(t *testing.T) {
	talk := text.Example{Messages: []text.Message{say("user", "Hi"), say("assistant", "Hello")}}
	pair := text.Example{Messages: talk.Messages, Pair: true}
	withInput := text.Example{Messages: []text.Message{say("user", "Add\n\n### Input:\n1 2"), say("assistant", "3")}}
	tagged := text.Example{Words: []string{"Ada", "slept"}, Tags: []string{"B-PER", "O"}}
	for _, row := range []struct {
		name, content string
		want          []text.Example
	}{
		{"a.jsonl", `{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}], "id": 7}` +
			"\n\n" + `{"prompt": "Hi", "completion": "Hello"}` + "\r\n" + `{"text": "Hi"}`,
			[]text.Example{talk, pair, {Text: "Hi"}}},
		{"b.json", `[{"instruction": "Add", "input": "1 2", "output": "3"},
			{"instruction": "Hi", "input": "", "output": "Hello"}, {"instruction": "Hi", "output": "Hello"}]`,
			[]text.Example{withInput, talk, talk}},
		{"c.jsonl", `{"conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}]}`,
			[]text.Example{talk}},
		{"d.tsv", "ham\tsay \"x\", y\nspam\tz\n", []text.Example{{Label: "ham", Text: `say "x", y`}, {Label: "spam", Text: "z"}}},
		{"e.csv", "Label,Text\nham,\"say \"\"x\"\",\ny\"\n\nspam,z\n",
			[]text.Example{{Label: "ham", Text: "say \"x\",\ny"}, {Label: "spam", Text: "z"}}},
		{"marked.csv", "\ufefflabel,text\nham,a\nspam,z\n", []text.Example{{Label: "ham", Text: "a"}, {Label: "spam", Text: "z"}}},
		{"marked.jsonl", "\ufeff" + `{"text": "a"}` + "\n" + `{"text": "z"}`, []text.Example{{Text: "a"}, {Text: "z"}}},
		{"marked.json", "\ufeff" + `[{"text": "a"}, {"text": "z"}]`, []text.Example{{Text: "a"}, {Text: "z"}}},
		{"f.csv", "text,label\nz,1\n", []text.Example{{Label: "1", Text: "z"}}},
		{"g.jsonl", `{"text": "z", "label": "spam"}`, []text.Example{{Label: "spam", Text: "z"}}},
		{"h.csv", "Prompt,completion,id\nHi,Hello,7\n", []text.Example{pair}},
		{"i.tsv", "instruction\tinput\toutput\nAdd\t1 2\t3\nHi\t\tHello\n", []text.Example{withInput, talk}},
		{"j.csv", "id,text,sentiment\n1,z,good\n", []text.Example{{Text: "z"}}},
		{"k.csv", "text\nz\n", []text.Example{{Text: "z"}}},
		{"l.csv", "messages,system\n\"[{\"\"role\"\":\"\"assistant\"\",\"\"content\"\":\"\"Hello\"\"}]\",Hi\n",
			[]text.Example{{Messages: []text.Message{say("system", "Hi"), say("assistant", "Hello")}}}},
		{"n.jsonl", `{"tokens": ["Ada", "slept"], "ner_tags": ["B-PER", "O"], "id": 7}` + "\n" +
			`{"query": "a", "passage": "b", "label": 1}` + "\n" + `{"query": "a", "text": "b", "label": 0.5}`,
			[]text.Example{tagged, {Texts: []string{"a", "b"}, Score: new(1.0)}, {Texts: []string{"a", "b"}, Score: new(0.5)}}},
		{"o.csv", "query,passage,label\na,b,0\n", []text.Example{{Texts: []string{"a", "b"}, Score: new(0.0)}}},
		{"p.conll", "-DOCSTART- -X- O O\n\nAda NNP B-NP B-PER\r\nslept VBD B-VP O\r\n\r\n\nNew York\tB-LOC\n#\tO",
			[]text.Example{tagged, {Words: []string{"New York", "#"}, Tags: []string{"B-LOC", "O"}}}},
		{"m.csv", "question,Is it so?\nanswer,It is.\n",
			[]text.Example{{Label: "question", Text: "Is it so?"}, {Label: "answer", Text: "It is."}}},
	} {
		e := examples(t, row.name, row.content)
		require.Equal(t, len(row.want), e.Len(), row.name)
		for i := len(row.want) - 1; i >= 0; i-- {
			got, err := e.At(i)
			require.NoError(t, err)
			require.Equal(t, row.want[i], got, row.name)
		}
	}
}

func TestWrongExamples(t *testing.T) {
	answer := func(more string) string {
		return `{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": ` + more + `}]}`
	}
	for _, row := range []struct{ name, content, want string }{
		{"a.text", "x", `got a name that ends with ".text", want .jsonl, .json, .txt, .conll, .csv or .tsv`},
		{"a.txt", "x\n\n\xff", "line 3: got byte 0xff at offset 0, want UTF-8"},
		{"a.jsonl", "\n \n", "got no example, want at least one"},
		{"a.jsonl", `{"text": "a"}` + "\n\n" + `{"txt": "a"}`, `line 3: got the keys "txt", want messages, conversations, ` +
			`prompt and completion, instruction and output, tokens and ner_tags, ` +
			`query and passage, text, anchor and positive, or sentence1, sentence2 and score`},
		{"a.jsonl", `{"text": 1}`, "line 1: text: got 1, want a string"},
		{"a.jsonl", `{"text": " "}`, "line 1: text: got nothing, want some"},
		{"a.jsonl", `{"prompt": "a"}`, `line 1: got the keys "prompt", want messages, `},
		{"a.jsonl", `{"messages": [{"role": "user", "content": "a"}]}`,
			`line 1: messages: got the roles "user" and no answer of the assistant to learn, want one; known are system, user ` +
				`(or human), assistant (or gpt), tool (or observation) or function_call`},
		{"a.jsonl", answer(`"b", "weight": 0`), `line 1: messages: got the roles "assistant", "user" and no answer`},
		{"a.jsonl", answer(`"b", "weight": 0.5`), "line 1: messages: message 2: weight: got 0.5, want 0 or 1"},
		{"a.jsonl", `{"conversations": [{"from": "dog", "value": "a"}]}`,
			`line 1: conversations: message 1: from: got "dog", want system, user (or human), assistant (or gpt), `},
		{"a.csv", "prompt,answer\na,b\n", `line 1: got the keys "prompt", "answer", want messages, conversations, prompt and`},
		{"a.tsv", "question\tanswer\na\tb\n", `line 1: got the keys "question", "answer", want messages, `},
		{"a.csv", "text,label,text\na,b,c\n", `line 1: got the columns "text", "label", "text", want each once`},
		{"a.csv", "prompt,completion\na\n", "line 2: got 1 columns, want the 2 of the heading"},
		{"a.json", `{"text": "a"}`, "got no JSON array, want one of objects; for an object in each line the name ends with .jsonl"},
		{"a.json", `[{"text": "a"}, {}]`, "element 2: got the keys none, want"},
		{"a.json", `[{"text": "a"}`, "got an array without an end, want a whole one: was the file cut off?"},
		{"a.tsv", "ham\ta\nspam", "line 2: got 1 columns, want a label and a text"},
		{"a.csv", "ham,a,b", "line 1: got 3 columns, want a label and a text"},
		{"a.jsonl", `{"anchor": "a", "positive": "b"}` + "\n" + `{"anchor": "a"}`, "line 2: positive: got nothing, want a text"},
		{"a.jsonl", `{"anchor": " ", "positive": "b"}`, "line 1: anchor: got nothing, want a text"},
		{"a.jsonl", `{"anchor": "a", "positive": "b", "negative": "b"}`, "line 1: negative: got the text of positive, want another"},
		{"a.jsonl", `{"anchor": "a", "positive": ["b"]}`, `line 1: positive: got ["b"], want a string`},
		{"a.jsonl", `{"sentence1": "a", "sentence2": "b"}`, "line 1: score: got null, want a finite number"},
		{"a.jsonl", `{"sentence1": "a", "sentence2": "b", "score": NaN}`, "line 1: not JSON: invalid character 'N' "},
		{"a.csv", "sentence1,sentence2,score\na,b,0.5\na,b,nan\n", `line 3: score: got "nan", want a finite number`},
		{"a.jsonl", `{"tokens": ["a", "b"], "ner_tags": ["O"]}`, "line 1: ner_tags: got 1, want one for each of the 2 tokens"},
		{"a.jsonl", `{"tokens": ["a"], "ner_tags": [3]}`, "line 1: ner_tags: got 3 in element 1, want a text"},
		{"a.jsonl", `{"tokens": [], "ner_tags": []}`, "line 1: tokens: got none, want at least one"},
		{"a.jsonl", `{"query": "a", "text": "b"}`, "line 1: label: got null, want a finite number"},
		{"a.conll", "a O\n\nb O\nc\n", `line 4: got "c", want a word and its tag`},
		{"a.conll", "a O\n\xff O\n", "line 2: got byte 0xff at offset 0, want UTF-8"},
		{"a.csv", ",a", "line 1: label: got nothing, want a class"},
	} {
		path := filepath.Join(t.TempDir(), row.name)
		require.NoError(t, os.WriteFile(path, []byte(row.content), 0o644))
		_, err := text.OpenExamples(path)
		require.ErrorContains(t, err, "text: examples: "+path+": "+row.want)
		require.NotContains(t, err.Error(), "\n")
	}
	long := filepath.Join(t.TempDir(), "long.jsonl")
	require.NoError(t, os.WriteFile(long, []byte(strings.Repeat("a", 17<<20)), 0o644))
	_, err := text.OpenExamples(long)
	require.EqualError(t, err, "text: examples: "+long+": line 1: got more than 16777216 bytes, want fewer")
	for _, row := range []struct{ begin, line string }{{"", "1"}, {"ham,\"a\nb\"\nspam,", "3"}} {
		open := filepath.Join(t.TempDir(), "open.csv")
		require.NoError(t, os.WriteFile(open, []byte(row.begin+`"`+strings.Repeat("a\n", 20<<20)), 0o644))
		_, err = text.OpenExamples(open)
		require.EqualError(t, err, "text: examples: "+open+": line "+row.line+": got more than 16777216 bytes, want fewer: "+
			"does a quote open there that nothing closes?")
	}
}

func TestExampleFiles(t *testing.T) {
	dir := t.TempDir()
	_, _, _, err := text.ExampleFiles(dir)
	require.ErrorContains(t, err, "got no train.jsonl, train.json, train.conll, train.csv or train.tsv, want one")
	for _, name := range []string{"train.jsonl", "validation.csv", "notes.txt", "test.tsv", "train.js"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("{}"), 0o644))
	}
	training, valid, test, err := text.ExampleFiles(dir)
	require.NoError(t, err)
	require.Equal(t, []string{"train.jsonl", "validation.csv", "test.tsv"},
		[]string{filepath.Base(training), filepath.Base(valid), filepath.Base(test)})
	require.NoError(t, os.WriteFile(filepath.Join(dir, "val.json"), nil, 0o644))
	_, _, _, err = text.ExampleFiles(dir)
	require.EqualError(t, err, "text: examples: "+dir+": got both val.json and validation.csv, want one of them")
}
