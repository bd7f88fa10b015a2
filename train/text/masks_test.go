package text_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// masksFolder has a template of each kind, and the parts of their texts that transformers' masks count.
const masksFolder = "testdata/masks"

// askLearned runs testdata/masks/learned.py if there is a Python with the packages that it needs.
func askLearned(t *testing.T, tokenizer string, args ...string) []byte {
	cmd := exec.CommandContext(t.Context(), "python3", append([]string{"-B", "learned.py", tokenizer}, args...)...)
	cmd.Dir, cmd.Stderr = masksFolder, os.Stderr
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() == 77) {
		t.Skip("needs a python3 with transformers and trl")
	}
	require.NoError(t, err)
	return out
}

// withBlocks matches the parts that turn a template into one without generation blocks when they are removed.
var withBlocks = regexp.MustCompile(`\{% (end)?generation %\}`)

// TestMasks: the learned parts of a conversation are those that transformers' masks of generation blocks count
// (testdata/masks/learned.py). They are the same without the blocks, unless the template leaves out a part of an
// answer.
func TestMasks(t *testing.T) {
	var stored struct {
		Conversations map[string][]text.Message
		Masks         map[string]map[string]string
	}
	data, err := os.ReadFile(filepath.Join(masksFolder, "masks.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &stored))
	tokenizer, end := chatTokenizer(t, maskTokens...)
	shortened := 0
	for name, masks := range stored.Masks {
		source, err := os.ReadFile(filepath.Join(masksFolder, name))
		require.NoError(t, err)
		for _, source := range []string{string(source), withBlocks.ReplaceAllString(string(source), "")} {
			template, err := text.ParseTemplate(source)
			require.NoError(t, err)
			template.BOS, template.EOS = "<|endoftext|>", "<|endoftext|>"
			l, err := text.NewLessons(t.Context(), text.LessonConfig{Tokenizer: tokenizer, Template: template, Ends: []int{end}})
			require.NoError(t, err)
			for title, want := range masks {
				lesson, whole, err := l.Of(t.Context(), text.Example{Messages: stored.Conversations[title]})
				require.NoError(t, err, "%s: %s", name, title)
				if !whole {
					require.Equal(t, "return.jinja: thoughts", name+": "+title)
					want = strings.ReplaceAll(want, "{ says\n4<|im_end|>}", " says\n4<|im_end|>")
					shortened++
				}
				require.Equal(t, want, learned(t, tokenizer, lesson), "%s: %s", name, title)
			}
		}
	}
	require.Equal(t, 1, shortened)
}

// maskTokens are the special tokens of the templates of masksFolder.
var maskTokens = []string{"<|im_start|>", "<|return|>", "<|im_end|>"}

// TestMasksAnew: the script gives the stored masks.
func TestMasksAnew(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokenizer.json")
	require.NoError(t, os.WriteFile(file, chatTokenizerFile(t, maskTokens...), 0o644))
	want, err := os.ReadFile(filepath.Join(masksFolder, "masks.json"))
	require.NoError(t, err)
	require.Equal(t, string(want), string(askLearned(t, file)))
}

// maskLine is a line of learned.py's output about TRL's templates: about a template, or about a conversation with it.
type maskLine struct {
	conversation
	Template, Source, Plain string
	Text, Error             string
	IDs, Mask               []int
}

// TestTRLMasks: the learned tokens are those of TRL's training templates, except blanks after the token that ends an
// answer. If the template without generation blocks writes the same text, its answers are the same, except the text of
// its generation prompt.
func TestTRLMasks(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	dir := t.TempDir()
	base := filepath.Join(dir, "base.json")
	require.NoError(t, os.WriteFile(base, chatTokenizerFile(t), 0o644))
	askLearned(t, base, dir)
	file, err := os.ReadFile(filepath.Join(dir, "tokenizer.json"))
	require.NoError(t, err)
	tokenizer, err := text.ReadTokenizer(file)
	require.NoError(t, err)
	masks, err := os.Open(filepath.Join(dir, "masks.jsonl"))
	require.NoError(t, err)
	defer masks.Close()
	m := trlMasks{T: t, tokenizer: tokenizer}
	for decoder := json.NewDecoder(masks); ; {
		var line maskLine
		err := decoder.Decode(&line)
		if err != io.EOF {
			require.NoError(t, err)
		}
		switch {
		case err == io.EOF || line.Template != "":
			if m.name != "" {
				t.Logf("%s: %d texts equal, %d of them without blocks", m.name, m.same, m.plainSame)
				require.GreaterOrEqual(t, m.same, 40, m.name)
			}
			if err == io.EOF {
				require.Equal(t, 34, m.templates)
				return
			}
			m = trlMasks{T: t, tokenizer: tokenizer, templates: m.templates + 1, name: line.Template,
				template: m.parse(line.Source)}
			if line.Plain != "" {
				m.plain = m.parse(line.Plain)
			}
		case line.Error == "":
			m.compare(line)
		}
	}
}

// trlMasks compares our learned tokens with the masks of one of TRL's templates.
type trlMasks struct {
	*testing.T
	tokenizer                  *text.SubwordTokenizer
	templates, same, plainSame int
	name                       string
	template, plain            *text.Template
}

// blanks matches the blanks after a token that ends an answer, nextHeader a header that ends an answer.
var (
	blanks     = regexp.MustCompile(`\s+$`)
	nextHeader = regexp.MustCompile(`<\|(user|observation)\|>$`)
)

func (m *trlMasks) parse(source string) *text.Template {
	parsed, err := text.ParseTemplate(source)
	require.NoError(m, err)
	parsed.BOS, parsed.EOS = "<s>", "</s>"
	return parsed
}

func (m *trlMasks) compare(line maskLine) {
	c := line.config(m.T)
	c.AddGenerationPrompt = false
	got, spans, err := m.template.RenderSpans(m.Context(), line.Messages, c)
	require.NoError(m, err, m.name)
	require.Equal(m, line.Text, got, m.name)
	end, _ := m.tokenizer.ID("</s>")
	l, err := text.NewLessons(m.Context(), text.LessonConfig{Tokenizer: m.tokenizer, Template: m.template, Rendering: c,
		Ends: []int{end}})
	require.NoError(m, err, m.name)
	m.same++
	example := text.Example{Messages: line.Messages}
	if strings.Contains(m.template.Source, "tools") { // other conversations are refused if there are tools
		example.Tools = c.Tools
	}
	lesson, _, err := l.Of(m.Context(), example)
	require.NoError(m, err, m.name)
	require.Equal(m, line.IDs, lesson.IDs, m.name)
	want := text.Lesson{IDs: line.IDs}
	for i, mask := range line.Mask {
		token, err := m.tokenizer.Decode(line.IDs[i : i+1])
		require.NoError(m, err)
		follows := i > 0 && m.tokenizer.IsSpecial(line.IDs[i-1]) && strings.TrimSpace(token) == "" && !lesson.Learned[i]
		want.Learned = append(want.Learned, mask == 1 && !follows)
	}
	require.Equal(m, learned(m.T, m.tokenizer, want), learned(m.T, m.tokenizer, lesson), m.name)
	if m.plain == nil {
		return
	}
	plain, answers, err := m.plain.RenderSpans(m.Context(), line.Messages, c)
	if err != nil || plain != got || slices.ContainsFunc(answers, func(s text.AssistantSpan) bool { return s.Changed }) {
		return
	}
	m.plainSame++
	blocks := map[int]string{}
	for _, s := range spans {
		blocks[s.Message] = strings.TrimSuffix(blocks[s.Message], "\n") + got[s.From:s.To]
	}
	said := map[int]string{}
	for _, s := range answers {
		said[s.Message] = strings.TrimSuffix(said[s.Message], "\n") + plain[s.From:s.To]
	}
	for i, said := range said {
		c.AddGenerationPrompt = true
		asked, err := m.plain.Render(m.Context(), line.Messages[:i], c)
		if err != nil { // some refuse a conversation without a user's message
			asked, err = m.plain.Render(m.Context(), []text.Message{say("user", "a")}, c)
		}
		block := blanks.ReplaceAllString(blocks[i], "")
		if m.name == "glm4moe_training" { // the next header ends an answer
			block = nextHeader.ReplaceAllString(block, "")
		}
		prompted, answered := strings.CutSuffix(block, said)
		require.True(m, answered, "%s: %q %q", m.name, block, said)
		if prompted = strings.TrimSpace(prompted); prompted != "" {
			require.NoError(m, err)
			require.Contains(m, asked[max(0, len(asked)-80):], prompted, m.name)
		}
	}
}
