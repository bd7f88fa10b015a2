package text

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"attention/internal/folder"
	"attention/internal/gguf"
	"attention/train/text/jinja"
)

// Template is the chat template of a model: it makes the text of a conversation in the form that the model was trained
// to continue. Any number of goroutines may use it.
type Template struct {
	BOS, EOS string // texts of the tokens that begin and end a text; "" for none
	Source   string // the argument of ParseTemplate
	compiled *jinja.Template
}

// ParseTemplate returns a template of its source, the content of a chat_template.jinja.
func ParseTemplate(source string) (*Template, error) {
	compiled, err := jinja.Parse(source)
	if err != nil {
		return nil, fmt.Errorf("text: template: %w", err)
	}
	return &Template{Source: source, compiled: compiled}, nil
}

// OpenTemplate returns the template of conversations with a model in a folder whose tokenizer is t. source is ChatML,
// Alpaca or the text of a template. "" means the folder's own template: its chat_template.jinja, or else the one in
// tokenizer_config.json. If there is none, the error is ErrNoTemplate. A GGUF file has its template in the settings.
//
// The tokens that begin and end a text are those of tokenizer_config.json. If that file names no token that begins a
// text, a template from source uses the tokens that the tokenizer puts before each text. Alpaca begins with a token
// only if the tokenizer puts one before each text: Llama's does, GPT-2's does not.
func OpenTemplate(dir, source string, t Tokenizer) (*Template, error) {
	c, err := readTemplateConfig(dir)
	if err != nil {
		return nil, err
	}
	if source == "" {
		var of *Template
		if source, err = c.source(); err == nil {
			of, err = c.parse(source)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		return of, nil
	}
	begin := ""
	if b, ok := t.(*SubwordTokenizer); ok && len(b.before) > 0 {
		begin = b.Token(b.before[0])
	}
	named, ok := namedTemplates[source]
	if source == Alpaca && begin != "" {
		named = "{{- bos_token }}\n" + named
	}
	if ok {
		source = named
	}
	c.BOS = cmp.Or(c.BOS, specialToken(begin))
	return c.parse(source)
}

// TemplateSource returns the source of the template in a model's folder, for other programs. If there is none, the error
// is ErrNoTemplate.
func TemplateSource(dir string) (string, error) {
	c, err := readTemplateConfig(dir)
	if err != nil {
		return "", err
	}
	return c.source()
}

// templateConfig is the part of a tokenizer_config.json that is about templates, with the chat_template.jinja beside it.
type templateConfig struct {
	File     string          `json:"-"` // "" if there is none
	Template json.RawMessage `json:"chat_template"`
	BOS      specialToken    `json:"bos_token"`
	EOS      specialToken    `json:"eos_token"`
}

// readTemplateConfig reads the files of a folder, each of which may be missing, or a GGUF file.
func readTemplateConfig(dir string) (c templateConfig, err error) {
	if gguf.Is(dir) {
		return readGGUFTemplate(dir)
	}
	config, err := folder.ReadFile(filepath.Join(dir, "tokenizer_config.json"), folder.MaxConfig)
	if err == nil {
		if err := json.Unmarshal(config, &c); err != nil {
			return c, fmt.Errorf("%s: text: tokenizer_config.json: %w", dir, err)
		}
	}
	var file []byte
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		file, err = folder.ReadFile(filepath.Join(dir, "chat_template.jinja"), folder.MaxConfig)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	c.File = string(file)
	return c, err
}

// source returns the source of the template: that of the file, or the chat_template, which is a text or a list of texts
// with names.
func (c templateConfig) source() (source string, err error) {
	if c.File != "" {
		return c.File, nil
	}
	var named []struct{ Name, Template string }
	switch {
	case len(c.Template) == 0 || string(c.Template) == "null":
		err = ErrNoTemplate
	case json.Unmarshal(c.Template, &source) == nil:
		return source, nil
	default:
		err = json.Unmarshal(c.Template, &named)
	}
	for _, t := range named {
		if t.Name == "default" {
			return t.Template, nil
		}
	}
	if err == nil {
		err = errors.New("got no template with the name default, want one")
	}
	return "", fmt.Errorf("text: tokenizer_config.json: chat_template: %w", err)
}

// parse returns the template with a source and the tokens of the config.
func (c templateConfig) parse(source string) (*Template, error) {
	t, err := ParseTemplate(source)
	if err != nil {
		return nil, err
	}
	t.BOS, t.EOS = string(c.BOS), string(c.EOS)
	return t, nil
}

// specialToken is a token in tokenizer_config.json: a text, an object with its content, or null.
type specialToken string

func (s *specialToken) UnmarshalJSON(data []byte) error {
	var token struct{ Content string }
	if json.Unmarshal(data, (*string)(s)) == nil {
		return nil
	}
	err := json.Unmarshal(data, &token)
	*s = specialToken(token.Content)
	return err
}

// ErrNoTemplate is the error for a folder without a chat template.
var ErrNoTemplate = errors.New("got none, want the template of a model that talks")

// TemplateConfig sets how a conversation is rendered.
type TemplateConfig struct {
	AddGenerationPrompt bool        // the text ends at the beginning of the assistant's answer
	ThinkingOff         bool        // enable_thinking is false; otherwise it is not set, which templates treat as on
	Tools               []any       // that the model may call, as jinja.DecodeJSON returns them; nil for none
	Variables           *jinja.Dict // additional variables; nil for none
	Now                 time.Time   // of strftime_now
}

// Render returns the text of a conversation. It begins with the text of the BOS token if the model needs one, so the
// tokenizer must not add another. A template that refuses the conversation is an error with its message, a
// *jinja.Raised. If the template does not accept a content that is a list, the list's parts are joined to one text.
func (t *Template) Render(ctx context.Context, messages []Message, c TemplateConfig) (string, error) {
	r, err := t.render(ctx, messages, c)
	return r.text, err
}

// render also returns the parts of the text.
func (t *Template) render(ctx context.Context, messages []Message, c TemplateConfig) (r rendering, err error) {
	r, err = t.renderAs(ctx, messages, c)
	hasParts := func(m Message) bool { return m.Parts != nil }
	if err != nil && !jinja.IsRaised(err) && slices.ContainsFunc(messages, hasParts) {
		joined := slices.Clone(messages)
		for i, m := range joined {
			joined[i].Content, joined[i].Parts = m.Text(), nil
		}
		r, err = t.renderAs(ctx, joined, c)
	}
	if err != nil {
		return rendering{}, fmt.Errorf("text: template: %w", err)
	}
	return r, nil
}

// renderAs renders messages without changes.
func (t *Template) renderAs(ctx context.Context, messages []Message, c TemplateConfig) (r rendering, err error) {
	all, index := make([]any, len(messages)), map[*jinja.Dict]int{}
	for i, m := range messages {
		d := m.dict()
		all[i], index[d] = d, i
	}
	var variables jinja.Dict
	variables.Set("messages", all)
	variables.Set("add_generation_prompt", c.AddGenerationPrompt)
	variables.Set("bos_token", t.BOS)
	variables.Set("eos_token", t.EOS)
	variables.Set("tools", nil)
	if c.Tools != nil {
		variables.Set("tools", c.Tools)
	}
	if c.ThinkingOff {
		variables.Set("enable_thinking", false)
	}
	if c.Variables != nil {
		for _, key := range c.Variables.Keys() {
			value, _ := c.Variables.Get(key)
			variables.Set(key, value)
		}
	}
	text, spans, err := t.compiled.Render(ctx, &variables, c.Now)
	r = rendering{text: text, passes: map[int]AssistantSpan{}}
	for _, s := range spans {
		span := AssistantSpan{From: s.From, To: s.To, Message: -1}
		for _, item := range s.Items {
			d, _ := item.(*jinja.Dict)
			if i, ok := index[d]; ok && span.Message < 0 {
				span.Message = i
			}
		}
		before := r.passes[span.Message]
		switch {
		case s.Pass && span.Message >= 0 && s.To-s.From >= before.To-before.From:
			r.passes[span.Message] = span
		case !s.Pass && s.From < s.To:
			if span.Message < 0 {
				span.Message = len(all) - 1
			}
			r.blocks = append(r.blocks, span)
		}
	}
	return r, err
}

// End returns the id of the token that ends an answer: the first token that the template writes after the last message,
// if it is a special token of the tokenizer; otherwise −1.
func (t *Template) End(ctx context.Context, tokenizer Tokenizer, c TemplateConfig) (id int, err error) {
	b, ok := tokenizer.(*SubwordTokenizer)
	if !ok {
		return -1, nil
	}
	c.AddGenerationPrompt = false
	text, err := t.Render(ctx, []Message{{Role: "user", Content: "a"}, {Role: "assistant", Content: stand}}, c)
	if err != nil {
		return -1, err
	}
	_, after, _ := strings.Cut(text, stand)
	ids, err := b.Encode(strings.TrimLeft(after, afterEnd))
	if err != nil || len(ids) == 0 || !b.IsSpecial(ids[0]) {
		return -1, err
	}
	return ids[0], nil
}
