package chat

import (
	"bytes"
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"attention/cmd/attention/internal/run/models"
	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// TestPrompt: if the context has no space for the answer, the oldest turns are dropped completely, but never the system
// message, until half of the context is free.
func TestPrompt(t *testing.T) {
	tokenizer, err := text.ReadTokenizer(tokenizerFile(t))
	require.NoError(t, err)
	template, err := text.OpenTemplate(t.TempDir(), text.ChatML, nil)
	require.NoError(t, err)
	system := "<|im_start|>system\nBe it.<|im_end|>\n"
	answer := strings.Repeat(" the answer", 20)
	question := func(q string) string { return "<|im_start|>user\n" + q + "<|im_end|>\n<|im_start|>assistant\n" }
	whole := func(q string) string { return question(q) + answer + "<|im_end|>\n" }
	count := func(text string) int {
		ids, err := tokenizer.Encode(text)
		require.NoError(t, err)
		return len(ids)
	}
	all := system + whole("q0") + whole("q1") + whole("q2") + question("q3")
	n, two := count(all), count(system+whole("q2")+question("q3"))
	for _, row := range []struct {
		name           string
		capacity, room int
		begun          string
		want, note     string
	}{
		{"it fits", n + 9, 9, "", all, ""},
		{"one token too many", n + 8, 9, "", system + whole("q2") + question("q3"), "the oldest 2 turns are"},
		{"one turn is enough", 2 * count(system+whole("q1")+whole("q2")+question("q3")), 999, "",
			system + whole("q1") + whole("q2") + question("q3"), "the oldest turn is"},
		{"half is just not free", 2*two - 1, 9, "", system + question("q3"), "the oldest 3 turns are"},
		{"an answer that has begun", n + 1, 1, " the answer", system + whole("q2") + question("q3") + " the answer",
			"the oldest 2 turns are"},
		{"no room but for the last turn", count(system+question("q3")) + 1, 9, "", system + question("q3"),
			"the oldest 3 turns are"},
		{"no room", count(system + question("q3")), 9, "", "", ""},
	} {
		var notes bytes.Buffer
		of := talk{model: &models.OpenModel{Tokenizer: tokenizer}, template: template, capacity: row.capacity,
			screen: screen{notes: &notes}, system: []text.Message{say("system", "Be it.")}}
		for _, q := range []string{"q0", "q1", "q2"} {
			of.turns = append(of.turns, turn{q, answer})
		}
		of.turns = append(of.turns, turn{said: "q3"})
		begun, err := tokenizer.Encode(row.begun)
		require.NoError(t, err)
		ids, err := of.prompt(t.Context(), begun, row.room)
		if row.want == "" {
			require.EqualError(t, err, "the context is full: got a message with which the talk has "+
				strconv.Itoa(row.capacity)+" tokens, want fewer than "+strconv.Itoa(row.capacity))
			require.Zero(t, of.first)
			continue
		}
		require.NoError(t, err, row.name)
		got, err := tokenizer.Decode(ids)
		require.NoError(t, err)
		require.Equal(t, row.want, got, row.name)
		note := ""
		if row.note != "" {
			note = "attention: the context (" + strconv.Itoa(row.capacity) + " tokens) is full: " + row.note + " forgotten\n"
		}
		require.Equal(t, note, notes.String(), row.name)
	}
}

// TestFullContext: a conversation that outgrows the context continues, before an answer and within one; its file
// contains the whole conversation.
func TestFullContext(t *testing.T) {
	dir, _ := parrot(t, "the answer<|im_end|>")
	file := filepath.Join(t.TempDir(), "talk.jsonl")
	input := strings.Repeat("again\n", 12) + strings.Repeat("z", 99) + "\nagain\n/save " + file + "\n"
	said, notes, err := chatted(t.Context(), input, "--model", dir, "--template", "chatml", "--temperature", "0",
		"--context", "90", "--system", "Be it.")
	require.EqualError(t, err, "the input: got no answer to 1 of 14 messages, want one to each")
	require.Equal(t, strings.Repeat("the answer\n", 13), said)
	require.Greater(t, strings.Count(notes, "attention: the context (90 tokens) is full: the oldest "), 1)
	require.Contains(t, notes, "attention: the context is full: got a message with which the talk has ")
	require.True(t, strings.HasSuffix(notes, "attention: "+file+" has the talk\n"), notes)
	examples, err := text.OpenExamples(file)
	require.NoError(t, err)
	defer examples.Close()
	require.Equal(t, 1, examples.Len())
	example, err := examples.At(0)
	require.NoError(t, err)
	require.Len(t, example.Messages, 1+2*13)
	require.Equal(t, []text.Message{say("system", "Be it."), say("user", "again"), say("assistant", "the answer")},
		example.Messages[:3])

	endless, _ := varied(t)
	said, notes = greedy(t, endless, "a\nb\n", "--context", "80", "--tokens", "55")
	require.Len(t, strings.Split(strings.TrimSpace(said), "\n"), 2)
	require.Equal(t, "attention: the context (80 tokens) is full: the oldest turn is forgotten\n", notes)
	_, notes = greedy(t, endless, "a\n", "--context", "40")
	require.Equal(t, "attention: the context is full: the answer ends here\n", notes)
}

// TestCommands: lines that begin with / are not messages.
func TestCommands(t *testing.T) {
	dir, _ := parrot(t, "the answer<|im_end|>")
	file := filepath.Join(t.TempDir(), "talk.jsonl")
	said, notes := greedy(t, dir, "one <b>\n/reset\ntwo <b>\n/save "+file+
		"\n/save talk.txt\n/save\n/quit now\n/?\n /etc\n")
	require.Equal(t, strings.Repeat("the answer\n", 3), said)
	const name = ", want a file whose name ends with .jsonl\n"
	require.Equal(t, "attention: a new talk begins\nattention: "+file+" has the talk\n"+
		`attention: /save: got "talk.txt"`+name+`attention: /save: got ""`+name+
		`attention: got "/quit now", want /reset, /save FILE, /help or /bye`+"\n"+commands, notes)
	two := `{"messages":[{"role":"user","content":"two <b>"},{"role":"assistant","content":"the answer"}]}` + "\n"
	require.Equal(t, two, read(t, file))

	_, notes = greedy(t, dir, "one\n/save "+file+"\n")
	require.Equal(t, "attention: /save: got "+file+", which exists, want the name of a new file\n", notes)
	require.Equal(t, two, read(t, file))
	_, notes = greedy(t, dir, "one\n/save "+file+"2.jsonl\ntwo\n/save "+file+"2.jsonl\n")
	require.Equal(t, strings.Repeat("attention: "+file+"2.jsonl has the talk\n", 2), notes)
	require.Contains(t, read(t, file+"2.jsonl"), "two", "a talk that goes on takes its own file's place")
}

// TestEnds: the text that a template writes after an answer ends answers.
func TestEnds(t *testing.T) {
	tokenizer, err := text.ReadTokenizer(tokenizerFile(t))
	require.NoError(t, err)
	for _, row := range []struct {
		template, stop string
		ends           []int
	}{
		{text.ChatML, "<|im_start|>user", []int{271}},
		{templates + "qwen3.jinja", "<|im_start|>user", []int{271}},
		{templates + "gemma3.jinja", "<end_of_turn>", nil}, // the tokenizer does not have these
		{templates + "llama3.jinja", "<|eot_id|><|start_header_id|>user<|end_header_id|>", nil},
		{templates + "mistral.jinja", "[INST]", nil},
		{text.Alpaca, "### Instruction:", nil},
	} {
		source, err := text.ReadTemplate(row.template)
		require.NoError(t, err)
		template, err := text.OpenTemplate(t.TempDir(), source, nil)
		require.NoError(t, err)
		of := talk{model: &models.OpenModel{Tokenizer: tokenizer, EndOfText: -1}, template: template}
		of.ends, err = of.model.AnswerEnds(t.Context(), template)
		require.NoError(t, err)
		require.NoError(t, of.findStop(t.Context()))
		require.Equal(t, row.stop, of.stop, row.template)
		require.Equal(t, row.ends, of.ends, row.template)
	}
}

// TestStops: an answer ends before the heading of the next message, without the blanks before the heading.
func TestStops(t *testing.T) {
	dir, _ := parrot(t, "the\t=I:")
	template := filepath.Join(t.TempDir(), "headings.jinja")
	write(t, template, `{% for m in messages %}{{ '=' + ('I' if m.role == 'user' else 'A') + ':\n' + m.content + '\n' }}`+
		`{% endfor %}{% if add_generation_prompt %}{{ '=A:\n' }}{% endif %}`)
	file := filepath.Join(t.TempDir(), "talk.jsonl")
	said, notes, err := chatted(t.Context(), "is\n/save "+file, "--model", dir, "--template", template, "--temperature",
		"0")
	require.NoError(t, err)
	require.Equal(t, "attention: "+file+" has the talk\n", notes)
	require.Equal(t, "the\t\n", said)
	require.Contains(t, read(t, file), `"content":"the"}`)
}

// TestListenEnds: if a conversation is interrupted while a line is pending, it ends, whichever it notices first.
func TestListenEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 30 {
		s := &talk{screen: screen{notes: slow{}}, interactive: true}
		require.ErrorIs(t, s.listen(ctx, strings.NewReader(strings.Repeat("\n", 100))), context.Canceled)
	}
}

// slow is a terminal that delays its output while the input is read.
type slow struct{}

func (slow) Write(p []byte) (int, error) {
	time.Sleep(time.Millisecond)
	return len(p), nil
}
