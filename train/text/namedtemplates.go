package text

import (
	"errors"
	"fmt"
	"io/fs"

	"attention/internal/folder"
)

// Names of templates for OpenTemplateAs, of models whose folders have none.
const (
	ChatML = "chatml" // <|im_start|> and <|im_end|> around each message: needs these tokens
	Alpaca = "alpaca" // instructions and responses under headings (Stanford Alpaca), which needs no tokens
)

// namedTemplates are the sources of templates by their names.
var namedTemplates = map[string]string{
	ChatML: `{%- for message in messages %}
{{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}`,

	Alpaca: `{{- bos_token }}
{%- if messages and messages[0].role == 'system' %}{{ messages[0].content }}{% else %}
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

// OpenTemplateAs returns a template with the tokens that the tokenizer_config.json of a model's folder names: ChatML,
// Alpaca or that of a file. Without a name it is OpenTemplate.
func OpenTemplateAs(dir, name string) (*Template, error) {
	if name == "" {
		return OpenTemplate(dir)
	}
	source, ok := namedTemplates[name]
	if !ok {
		file, err := folder.ReadFile(name, folder.MaxConfig)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("text: template: got %q, want %s, %s or a file with a template", name, ChatML, Alpaca)
		}
		if err != nil {
			return nil, fmt.Errorf("text: template: %w", err)
		}
		source = string(file)
	}
	config, err := readTemplateConfig(dir)
	if err != nil {
		return nil, err
	}
	t, err := ParseTemplateConfig(config, source)
	if err != nil && !ok {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, err
}
