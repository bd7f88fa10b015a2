package text

import (
	"encoding/json"
	"fmt"
)

// TemplateSource returns the source of the chat template in a tokenizer_config.json, for other programs. If there is
// none, the error is ErrNoTemplate.
func TemplateSource(config []byte) (string, error) {
	var c struct {
		Template json.RawMessage `json:"chat_template"`
	}
	if err := json.Unmarshal(config, &c); err != nil {
		return "", fmt.Errorf("text: tokenizer_config.json: %w", err)
	}
	source, err := defaultTemplate(c.Template)
	if err != nil {
		return "", fmt.Errorf("text: tokenizer_config.json: chat_template: %w", err)
	}
	return source, nil
}
