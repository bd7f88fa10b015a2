package finetune

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"attention/internal/folder"
)

// templates are the sources of the templates that --template names.
var templates = map[string]string{
	// alpaca is the prompt of Stanford's Alpaca, which has the book's words.
	"alpaca": `{{ bos_token }}{% if messages[0]['role'] != 'system' %}` +
		`{{ 'Below is an instruction that describes a task. Write a response that appropriately completes the request.\n\n' }}` +
		`{% endif %}{% for m in messages %}{% if m['role'] == 'system' %}{{ m['content'] + '\n\n' }}` +
		`{% elif m['role'] == 'user' %}{{ '### Instruction:\n' + m['content'] + '\n\n' }}` +
		`{% elif m['role'] == 'assistant' %}{{ '### Response:\n' + m['content'] + eos_token }}` +
		`{% if not loop.last %}{{ '\n\n' }}{% endif %}` +
		`{% else %}{{ raise_exception('role: got ' + m['role'] + ', want system, user or assistant') }}{% endif %}{% endfor %}` +
		`{% if add_generation_prompt %}{{ '### Response:\n' }}{% endif %}`,
	"chatml": `{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}` +
		`{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}`,
}

// templateOf returns the source of the template that a flag names.
func templateOf(name string) (string, error) {
	if source, ok := templates[name]; ok || name == "" {
		return source, nil
	}
	source, err := folder.ReadFile(name, folder.MaxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("--template: got %.100q, want alpaca, chatml or the file of a template", name)
	}
	if err == nil && strings.TrimSpace(string(source)) == "" {
		err = fmt.Errorf("%s: got an empty file, want a template", name)
	}
	if err != nil {
		return "", fmt.Errorf("--template: %w", err)
	}
	return string(source), nil
}
