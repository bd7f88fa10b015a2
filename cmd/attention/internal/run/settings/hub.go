package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"attention/internal/folder"
	"attention/internal/gguf"
)

var (
	hubURL     = regexp.MustCompile(`^(?:https?://)?(?:www\.)?(?:huggingface\.co|hf\.co)/([\w.-]+/[\w.-]+)`)
	hubName    = regexp.MustCompile(`^([\w.-]+)/[\w.-]+$`)
	ollamaName = regexp.MustCompile(`^[\w./-]{2,}:[\w.-]+$`)
)

// CheckFolder returns an error for a path that is not the folder of a model or a GGUF file. For a model's name on the
// Hub or in Ollama, and for a folder of the Hub's cache, the error says what to do.
func CheckFolder(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w, want the folder of a model%s", err, NameHint(path))
	case err != nil:
		return fmt.Errorf("%w, want the folder of a model", err)
	case gguf.Is(path):
		return nil
	case !info.IsDir():
		return fmt.Errorf("%s: got a file, want the folder of a model, with %s and %s, or a GGUF file", path, ConfigFile, ModelFile)
	}
	return checkCache(path)
}

// NameHint returns the end of an error about a missing path. If the path is a model's name on the Hub or in Ollama, it
// says how to get the folder; for other paths it is "".
func NameHint(given string) string {
	const hint = "; to get the folder of a model from the Hub: hf download %s --local-dir %s"
	if m := hubURL.FindStringSubmatch(given); m != nil {
		return fmt.Sprintf(hint, m[1], path.Base(m[1]))
	}
	if m := hubName.FindStringSubmatch(given); m != nil && !strings.HasPrefix(m[1], ".") {
		if _, err := os.Stat(m[1]); err != nil {
			return fmt.Sprintf(hint, given, path.Base(given))
		}
	}
	if ollamaName.MatchString(given) {
		return "; to take a model from Ollama's store: " + ollamaPrefix + given
	}
	return ""
}

// checkCache returns an error for a folder of the Hub's cache, models--OWNER--NAME or its snapshots, that names the
// snapshot to give.
func checkCache(dir string) error {
	root := strings.TrimSuffix(filepath.Clean(dir), string(filepath.Separator)+"snapshots")
	if !strings.HasPrefix(filepath.Base(root), "models--") {
		return nil
	}
	all := filepath.Join(root, "snapshots")
	names, _ := folder.Names(all)
	if main, err := folder.ReadFile(filepath.Join(root, "refs", "main"), 100); err == nil {
		names = []string{strings.TrimSpace(string(main))}
	}
	if len(names) == 0 {
		return fmt.Errorf("%s: got a folder of the Hub's cache without snapshots, want the folder of a model", dir)
	}
	return fmt.Errorf("%s: got a folder of the Hub's cache, want the model's folder in it: %s", dir,
		filepath.Join(all, names[0]))
}
