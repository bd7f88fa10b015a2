package text

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"attention/internal/folder"
)

// Names of templates for OpenTemplate, for models whose folders have none.
const (
	ChatML = "chatml" // <|im_start|> and <|im_end|> around each message; the tokenizer must have these tokens
	Alpaca = "alpaca" // instructions and responses under headings (Stanford Alpaca); needs no special tokens
)

// namedTemplates are the sources of templates by their names.
var namedTemplates = map[string]string{
	ChatML: `{%- for message in messages %}
{{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}`,

	Alpaca: `{%- if messages and messages[0].role == 'system' %}{{ messages[0].content }}{% else %}
{{- 'Below is an instruction that describes a task. ' }}
{{- 'Write a response that appropriately completes the request.' }}
{%- endif %}
{%- for message in messages %}
{%- if message.role == 'user' %}{{ '\n\n### Instruction:\n' + message.content }}
{%- elif message.role == 'assistant' %}{{ '\n\n### Response:\n' + message.content + eos_token }}
{%- elif message.role != 'system' or loop.index0 %}
{{- raise_exception('got the role ' + message.role + ', want user, assistant or, at the beginning, system') }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '\n\n### Response:\n' }}{% endif %}`,
}

// ReadTemplate returns the argument source of OpenTemplate for a word of a command line: ChatML and Alpaca themselves,
// "" for "", or the checked text of a template's file.
func ReadTemplate(name string) (source string, err error) {
	if _, named := namedTemplates[name]; named || name == "" {
		return name, nil
	}
	file, err := folder.ReadFile(name, folder.MaxConfig)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("got %.100q, want %s, %s or a file with a template", name, ChatML, Alpaca)
	case err == nil && strings.TrimSpace(string(file)) == "":
		err = fmt.Errorf("%s: got an empty file, want a template", name)
	case err == nil:
		if _, err = ParseTemplate(string(file)); err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
	}
	return string(file), err
}
