package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"attention/internal/folder"
	"attention/internal/gguf"
)

// ollamaPrefix begins the name of a model in Ollama's store when it is given in place of a path.
const ollamaPrefix = "ollama:"

// Locate returns the path of a model: that of its file for ollama:NAME[:TAG], which must be in Ollama's store, and other
// paths as they are.
func Locate(path string) (string, error) {
	name, ok := OllamaName(path)
	if !ok {
		return path, nil
	}
	file, err := ollamaFile(name)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

// OllamaName returns Ollama's name of a model that is given as ollama:NAME, and whether it is.
func OllamaName(path string) (name string, ok bool) { return strings.CutPrefix(path, ollamaPrefix) }

// IsModel reports whether a path, or a name in Ollama's store, leads to a model's folder or file.
func IsModel(path string) bool {
	file, err := Locate(path)
	return err == nil && (IsFolder(file) || gguf.Is(file))
}

// ollamaPart matches a part of a model's name. The part is the name of a folder or file in the store.
var ollamaPart = regexp.MustCompile(`^\w[\w.-]*$`)

// ollamaDigest is the name of a content.
var ollamaDigest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// ollamaStores returns the folders that may be Ollama's store: the one that OLLAMA_MODELS names, or else the user's and
// those of the service.
func ollamaStores() []string {
	if dir := os.Getenv("OLLAMA_MODELS"); dir != "" {
		return []string{dir}
	}
	all := []string{"/usr/share/ollama/.ollama/models", "/var/lib/ollama/.ollama/models", "/var/lib/ollama/models"}
	if home, err := os.UserHomeDir(); err == nil {
		all = append([]string{filepath.Join(home, ".ollama", "models")}, all...)
	}
	return all
}

// ollamaFile returns the file of a model in Ollama's store by [[HOST/]OWNER/]NAME[:TAG]. The manifest with this name
// lists the contents: files that are named by their checksums.
func ollamaFile(name string) (string, error) {
	name, tag, ok := strings.Cut(name, ":")
	if !ok {
		tag = "latest"
	}
	parts := strings.Split(name, "/")
	if missing := 3 - len(parts); missing > 0 {
		parts = append([]string{"registry.ollama.ai", "library"}[:missing], parts...)
	}
	parts = append(parts, tag)
	for _, part := range parts {
		if !ollamaPart.MatchString(part) || len(parts) > 4 {
			return "", errors.New("want ollama:NAME, ollama:NAME:TAG or ollama:OWNER/NAME:TAG")
		}
	}
	stores := ollamaStores()
	for _, store := range stores {
		path := filepath.Join(append([]string{store, "manifests"}, parts...)...)
		manifest, err := folder.ReadFile(path, folder.MaxConfig)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var file string
		if err == nil {
			file, err = ollamaModel(manifest)
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", path, folder.WithoutPath(err))
		}
		return filepath.Join(store, "blobs", file), nil
	}
	return "", fmt.Errorf("%w: got no model of this name in Ollama's store (%s), want one that ollama list shows",
		fs.ErrNotExist, strings.Join(stores, ", "))
}

// ollamaModel returns the name of the file with a manifest's model.
func ollamaModel(manifest []byte) (file string, err error) {
	var of struct {
		Layers []struct{ MediaType, Digest string }
	}
	if err := json.Unmarshal(manifest, &of); err != nil {
		return "", err
	}
	for _, l := range of.Layers {
		switch kind := strings.TrimPrefix(l.MediaType, "application/vnd.ollama.image."); {
		case kind == "adapter":
			return "", errors.New("got a model with an adapter, want one without: its file is only the base")
		case kind != "model":
		case file != "":
			return "", errors.New("got a model of several files, want one file")
		case !ollamaDigest.MatchString(l.Digest):
			return "", fmt.Errorf("digest: got %.80q, want sha256 and 64 digits", l.Digest)
		default:
			file = strings.Replace(l.Digest, ":", "-", 1)
		}
	}
	if file == "" {
		return "", errors.New("got a manifest without a model, want one with")
	}
	return file, nil
}
