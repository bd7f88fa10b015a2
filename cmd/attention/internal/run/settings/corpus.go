package settings

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"attention/internal/folder"
	"attention/train/text"
)

//go:embed text/attention.txt
var builtinText string

// Corpus is the text of a run.
type Corpus struct {
	*text.Corpus
	Source TextSource
}

// TextSource is the file that a run learns from.
type TextSource struct {
	Name   string `json:"name"`
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// BuiltinName is the name of the text embedded in the program.
const BuiltinName = "built-in"

// Builtin reports whether the text is the one embedded in the program.
func (s TextSource) Builtin() bool { return s.Name == BuiltinName }

// textName returns the name of the text at path, which differs from the built-in one's.
func textName(path string) string {
	if path == BuiltinName {
		return "." + string(filepath.Separator) + path
	}
	return path
}

// ReadCorpus reads and splits the text of a run. If the config has its checksum, the text must be the same. A
// vocabulary without characters gets those of the text; that of a file is given.
func ReadCorpus(r Config, file *text.SubwordTokenizer) (*Corpus, error) {
	name, content, context := r.Text.Name, builtinText, r.Model.Context()
	about := func(err error) error { return fmt.Errorf("--text: %s: %w", name, err) }
	if !r.Text.Builtin() {
		var err error
		if content, err = ReadText(name); err != nil {
			return nil, about(err)
		}
	}
	ids, tokenizer, err := r.encode(content, file)
	if err != nil {
		return nil, about(err)
	}
	// A tenth is for validation and must be longer than a window.
	switch longest := (len(ids) - 1) / 10; {
	case context <= longest:
	case r.Text.Builtin():
		return nil, fmt.Errorf("--context: got %d, want at most %d for the built-in text", context, longest)
	default:
		return nil, about(fmt.Errorf("got %d %s, want more than 10 times --context %d",
			len(ids), tokenizer.Config().Unit(), context))
	}
	sum := sha256.Sum256([]byte(content))
	source := TextSource{Name: name, Bytes: len(content), SHA256: hex.EncodeToString(sum[:])}
	if want := r.Text.SHA256; want != "" && want != source.SHA256 {
		return nil, about(fmt.Errorf("got a text with SHA-256 %s, want %s, that of the text that the run began with",
			source.SHA256, want))
	}
	c, err := text.NewCorpus(ids, tokenizer, context)
	return &Corpus{c, source}, err
}

// StandardInput names the standard input instead of a file.
const StandardInput = "-"

// ReadFile reads a file that a user names by a flag, or the standard input.
func ReadFile(flag, path string) ([]byte, error) {
	if path == StandardInput {
		return folder.ReadAll(os.Stdin, folder.MaxText)
	}
	content, err := folder.ReadFile(path, folder.MaxText)
	if unfit, ok := errors.AsType[*folder.UnfitError](err); ok && unfit.Got == folder.Pipe {
		unfit.Want += fmt.Sprintf(", or %s %s with the pipe as standard input", flag, StandardInput)
	}
	return content, err
}

// ReadLines reads the lines of a flag's file, which is UTF-8, or of the standard input. Errors name the flag.
func ReadLines(flag, path string) (lines []string, err error) {
	content, err := ReadFile(flag, path)
	if err == nil {
		err = text.Check(content)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", flag, path, folder.WithoutPath(err))
	}
	for line := range strings.Lines(string(content)) {
		lines = append(lines, strings.TrimRight(line, "\r\n"))
	}
	return lines, nil
}

// ReadText reads the file of UTF-8 that --text names.
func ReadText(path string) (string, error) {
	raw, err := ReadFile("--text", path)
	if err != nil {
		return "", folder.Want(folder.WithoutPath(err), "a text file")
	}
	return string(raw), text.Check(raw)
}
