package chat

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"attention/cmd/attention/internal/commandtest"
	"attention/internal/golden"
	"attention/layers/generate"
	"attention/train/pretrained"
	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// TestChat: each line of the input is answered.
func TestChat(t *testing.T) {
	dir, _ := parrot(t, "the answer<|im_end|>")
	said, notes := greedy(t, dir, "Hello\r\n\n  is it?  ")
	require.Empty(t, notes)
	require.Equal(t, "the answer\nthe answer\n", said)
}

// TestSecondTurnReadsItsTokens: earlier turns stay in the cache.
func TestSecondTurnReadsItsTokens(t *testing.T) {
	dir, tokenizer := parrot(t, "the answer<|im_end|>")
	count := func(text string) int {
		ids, err := tokenizer.Encode(text)
		require.NoError(t, err)
		return len(ids)
	}
	long := strings.Repeat("wxyz ", 20)
	first := "<|im_start|>user\n" + strings.TrimSpace(long) + "<|im_end|>\n<|im_start|>assistant\n"
	second := "<|im_end|>\n<|im_start|>user\nagain<|im_end|>\n<|im_start|>assistant\n"
	for _, row := range []struct {
		template string
		first    string // tokens that the model read for the first answer
		second   string // tokens that it read for the second
		whole    string // the rendered conversation before that answer
	}{
		{"chatml", first, second, first + "the answer" + second},
		{templates + "qwen3.jinja", first + "<think>\n\n</think>\n\n", // the second rendering no longer has it
			"the answer" + second + "<think>\n\n</think>\n\n", first + "the answer" + second + "<think>\n\n</think>\n\n"},
	} {
		_, notes, err := chatted(t.Context(), long+"\nagain\n", "--model", dir, "--template", row.template,
			"--temperature", "0", "--stats")
		require.NoError(t, err)
		n := count(row.first)
		require.Regexp(t, fmt.Sprintf(`^attention: read %d of %d tokens in [\d.]+ s, wrote %d in [\d.]+ s, [\d.]+ tokens/s
attention: read %d of %d tokens in .*\n$`, n, n, count("the answer"), count(row.second), count(row.whole)), notes)
	}
}

// TestChatIsTheModels checks that answers equal those of a model that reads the whole conversation again.
func TestChatIsTheModels(t *testing.T) {
	dir, tokenizer := varied(t)
	g, err := pretrained.ReadGPT(dir)
	require.NoError(t, err)
	template, err := text.OpenTemplate(dir, text.ChatML, tokenizer)
	require.NoError(t, err)
	talk, want := []text.Message{say("system", "Be it.")}, ""
	questions := []string{"all?", "is it the answer", "to it"}
	for _, q := range questions {
		talk = append(talk, say("user", q))
		rendered, err := template.Render(t.Context(), talk, text.TemplateConfig{AddGenerationPrompt: true})
		require.NoError(t, err)
		ids, err := tokenizer.Encode(rendered)
		require.NoError(t, err)
		from, err := generate.New(g.Model, generate.Config{})
		require.NoError(t, err)
		require.NoError(t, from.Prompt(t.Context(), ids))
		decoder := text.NewDecoder(tokenizer)
		answer := ""
		for range 9 {
			id, err := from.Next(t.Context())
			require.NoError(t, err)
			require.NotContains(t, []int{269, 271}, id, "an end")
			token, err := decoder.Decode(id)
			require.NoError(t, err)
			answer += token
		}
		// a character that is cut at the end is not printed
		talk = append(talk, say("assistant", answer))
		want += answer + "\n"
	}
	said, notes := greedy(t, dir, strings.Join(questions, "\n"), "--system", "Be it.", "--tokens", "9")
	require.NoError(t, err)
	require.Empty(t, notes)
	require.Equal(t, want, said)
}

// TestTemplateRefuses: the error about a message that the template refuses is one line, and the conversation continues
// without the message. If there is no terminal, the command fails at its end.
func TestTemplateRefuses(t *testing.T) {
	dir, _ := parrot(t, "the answer<|im_end|>")
	template := filepath.Join(t.TempDir(), "strict.jinja")
	write(t, template, `{% for m in messages %}{% if 'no' in m.content %}{{ raise_exception('never') }}{% endif %}`+
		`{{ '<|im_start|>' + m.content + '<|im_end|>\n' }}{% endfor %}`)
	said, notes, err := chatted(t.Context(), "one\nno\ntwo\n", "--model", dir, "--template", template, "--temperature",
		"0")
	require.EqualError(t, err, "the input: got no answer to 1 of 3 messages, want one to each")
	require.Equal(t, "the answer\nthe answer\n", said)
	require.Equal(t, "attention: text: template: line 1: the template refuses: never\n", notes)
	said, notes, err = chatted(t.Context(), "caf\xe9\nok\n/bye\nnot heard\n", "--model", dir, "--template", "chatml",
		"--temperature", "0")
	require.EqualError(t, err, "the input: got no answer to 1 of 2 messages, want one to each")
	require.Regexp(t, "^attention: .*UTF-8.*\n$", notes)
	require.Equal(t, "the answer\n", said)
}

// TestCutCharacter: an answer that ends in the middle of a character is printed without this character.
func TestCutCharacter(t *testing.T) {
	dir, tokenizer := parrot(t, "the é<|im_end|>")
	ids, err := tokenizer.Encode("the é")
	require.NoError(t, err)
	for n, want := range map[int]string{len(ids) - 1: "the \n", len(ids): "the é\n"} {
		said, _ := greedy(t, dir, "one\n", "--tokens", fmt.Sprint(n))
		require.Equal(t, want, said)
	}
}

// TestNewestTalks: without --model the newest run that has a template answers, or with --template the newest one.
func TestNewestTalks(t *testing.T) {
	dir, err := golden.Path("runs", "gpt", "run")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	at := time.Now().Add(-time.Hour)
	put := func(name string) {
		require.NoError(t, os.CopyFS(filepath.Join("runs", name), os.DirFS(dir)))
		at = at.Add(time.Minute)
		require.NoError(t, os.Chtimes(filepath.Join("runs", name, "config.json"), at, at))
	}
	put("silent")
	_, _, err = chatted(t.Context(), "ab\n")
	require.EqualError(t, err, "--model: runs/silent: got a model without a chat template, want one that attention finetune "+
		"has tuned, or --template")
	put("talks")
	write(t, "runs/talks/chat_template.jinja", "{% for m in messages %}{{ m.content }}{% endfor %}")
	put("newest")
	said, notes, err := chatted(t.Context(), "ab\n", "--tokens", "2")
	require.NoError(t, err)
	require.Len(t, said, 3)
	require.Equal(t, "attention: --model: the newest run, runs/talks\n", notes)
	_, notes, err = chatted(t.Context(), "", "--template", "alpaca")
	require.NoError(t, err)
	require.Equal(t, "attention: --model: the newest run, runs/newest\n", notes)
}

// TestLeave: each of the three words ends a conversation.
func TestLeave(t *testing.T) {
	dir, _ := parrot(t, "the answer<|im_end|>")
	for _, word := range []string{"/bye", "/exit", "/quit"} {
		said, notes := greedy(t, dir, "one\n"+word+" \ntwo\n")
		require.Equal(t, "the answer\n", said)
		require.Empty(t, notes)
	}
}

// TestEmptyAnswer: a message without an answer is not part of the conversation.
func TestEmptyAnswer(t *testing.T) {
	dir, _ := parrot(t, "<|im_end|>")
	said, notes := greedy(t, dir, "one\n/save x.jsonl\n")
	require.Equal(t, "\n", said)
	require.Equal(t, "attention: the answer is empty: the message is not a part of the talk\n"+
		"attention: /save: got no answer yet, want one\n", notes)
}

// TestWrongChats: errors that prevent a conversation are one line.
func TestWrongChats(t *testing.T) {
	dir, _ := parrot(t, "the answer<|im_end|>")
	letters := commandtest.WriteGPT(t, commandtest.SmallGPT(t))
	layer, _, _ := commandtest.LayerRun(t, "causal")
	system := filepath.Join(t.TempDir(), "system.jinja")
	write(t, system, `{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}`+
		`{{ messages[0].content }}`)
	for _, row := range []struct{ args, want string }{
		{"--model " + dir, "--template: " + dir + " has no chat template, want chatml, alpaca or a file with one"},
		{"--model " + dir + " --template vicuna",
			`--template: got "vicuna", want chatml, alpaca or a file with a template`},
		{"--model " + letters + " --template chatml",
			"--template: got the token <|im_start|>, which the tokenizer does not have, want another template"},
		{"--model " + layer + " --template alpaca",
			"--model: " + layer + ": got a model of one attention layer, want a GPT or another decoder"},
		{"--model " + dir + " --template " + system + " --system x",
			"--template: text: template: line 1: the template refuses: no system"},
		{"--model " + dir + " --tokens 0", "--tokens: got 0, want at least 1"},
		{"--model " + dir + " --temperature -1", "--temperature: got -1, want a finite number of at least 0"},
		{"--model " + dir + " --template chatml --context 301", "--context: got 301, want 0 to ContextLength=300"},
	} {
		said, _, err := chatted(t.Context(), "Hello\n", strings.Fields(row.args)...)
		require.ErrorContains(t, err, row.want)
		require.NotContains(t, err.Error(), "\n")
		require.Empty(t, said)
	}
}

// TestLostOutput: an answer that cannot be printed ends the conversation, without a message if the reader is gone.
func TestLostOutput(t *testing.T) {
	dir, _ := parrot(t, "the answer<|im_end|>")
	for _, row := range []struct {
		out  io.Writer
		want string
	}{{commandtest.Full{}, "printing: no space left"}, {gone{}, ""}} {
		root := commandtest.Root(New())
		root.SetIn(strings.NewReader("one\ntwo\n"))
		root.SetOut(row.out)
		root.SetErr(io.Discard)
		root.SetArgs([]string{"chat", "--model", dir, "--template", "chatml"})
		if err := root.ExecuteContext(t.Context()); row.want != "" {
			require.EqualError(t, err, row.want)
		} else {
			require.NoError(t, err)
		}
	}
}

// gone is an output whose reader is gone.
type gone struct{}

func (gone) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}
}
