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

// OpenTemplateAs is TemplateFor with the name of a file in place of a source.
func OpenTemplateAs(dir, name string, t Tokenizer) (*Template, error) {
	if _, named := namedTemplates[name]; named || name == "" {
		return TemplateFor(dir, name, t)
	}
	file, err := folder.ReadFile(name, folder.MaxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("text: template: got %q, want %s, %s or a file with a template", name, ChatML, Alpaca)
	}
	if err != nil {
		return nil, fmt.Errorf("text: template: %w", err)
	}
	of, err := TemplateFor(dir, string(file), t)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return of, nil
}

// TemplateFor returns the template of a source, or ChatML or Alpaca by their names, for a model in a folder whose
// tokenizer is t. Its tokens are those of the folder's tokenizer_config.json; without one there, a text begins with what
// the tokenizer puts before each. Alpaca begins with a token only if the tokenizer puts one before each text: Llama's
// does, GPT-2's does not. Without a name it is OpenTemplate.
func TemplateFor(dir, source string, t Tokenizer) (*Template, error) {
	if source == "" {
		return OpenTemplate(dir)
	}
	config, err := readTemplateConfig(dir)
	if err != nil {
		return nil, err
	}
	begin := ""
	if b, ok := t.(*BPETokenizer); ok && len(b.before) > 0 {
		begin = b.Token(b.before[0])
	}
	named, ok := namedTemplates[source]
	if source == Alpaca && begin != "" {
		named = "{{- bos_token }}\n" + named
	}
	if ok {
		source = named
	}
	of, err := ParseTemplateConfig(config, source)
	if err == nil && of.BOS == "" {
		of.BOS = begin
	}
	return of, err
}
