package finetune

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"attention/internal/folder"
	"attention/train/text"
)

// templateOf returns what config.json has of the template that a flag names.
func templateOf(name string) (string, error) {
	if name == "" || name == text.Alpaca || name == text.ChatML {
		return name, nil
	}
	source, err := folder.ReadFile(name, folder.MaxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("--template: got %.100q, want alpaca, chatml or the file of a template", name)
	}
	if err == nil && strings.TrimSpace(string(source)) == "" {
		err = fmt.Errorf("%s: got an empty file, want a template", name)
	}
	if err == nil {
		_, err = text.ParseTemplate(string(source))
	}
	if err != nil {
		return "", fmt.Errorf("--template: %w", err)
	}
	return string(source), nil
}

// haveThoughts reports whether an answer in a file of examples has thoughts. A wrong file is reported where its
// examples are learned.
func haveThoughts(path string) bool {
	file, err := text.OpenExamples(path)
	if err != nil {
		return false
	}
	defer file.Close()
	return file.Think()
}
