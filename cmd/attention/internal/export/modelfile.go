package export

import (
	"fmt"
	"path/filepath"
	"strings"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/run/models"
	"attention/cmd/attention/internal/run/settings"
	"attention/train/pretrained"
	"attention/train/text"
)

// modelfile returns the lines of a Modelfile and the commands with which Ollama uses an adapter's file with the base
// model. If the base is a folder, it must first be written as a file.
func modelfile(m *pretrained.GPT, in *models.Inspection, out string) (string, error) {
	name := strings.TrimSuffix(filepath.Base(out), filepath.Ext(out))
	from, ok := settings.OllamaName(in.Base())
	to := program.Shell("ollama", "create", name, "-f", "Modelfile") + " && " + program.Shell("ollama", "run", name)
	if !ok {
		var err error
		if from, err = filepath.Abs(in.Base()); err != nil {
			return "", err
		}
		if settings.IsFolder(from) {
			to = program.Command("export", "--model", in.Base(), "--format", gguf, "--out", from+".gguf") + "\n  " + to
			from += ".gguf"
		}
	}
	lines := fmt.Sprintf("  FROM %s\n  ADAPTER ./%s\n", from, filepath.Base(out))
	if t, ok := m.Tokenizer.(*text.SubwordTokenizer); ok {
		if end := t.Token(m.EndOfText); end != "" {
			lines += fmt.Sprintf("  PARAMETER stop %q\n", end)
		}
	}
	return "For Ollama, write these lines into a file Modelfile beside it:\n" + lines + "Then run there:\n  " + to + "\n", nil
}
