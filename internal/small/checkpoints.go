package small

import (
	"encoding/json"
	"io"
	"testing"

	"attention/internal/folder"
	"attention/internal/safetensors"
	"attention/train"
	"attention/train/checkpoint"
	"attention/train/loop"

	"github.com/stretchr/testify/require"
)

// OpenFolder opens a folder of checkpoints until the test ends.
func OpenFolder(t *testing.T, path string, c checkpoint.Config) *checkpoint.Folder {
	f, err := checkpoint.Open(path, c)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// StepsIn returns the steps after which a folder has checkpoints.
func StepsIn(t *testing.T, f *checkpoint.Folder) []int {
	steps, err := f.Steps()
	require.NoError(t, err)
	return steps
}

// Restore restores a checkpoint and returns the error alone.
func Restore(l *loop.Loop, path string, source train.Resumable) error {
	_, err := checkpoint.Restore(l, path, source)
	return err
}

// WriteSealed writes a file with its checksum, as a checkpoint is.
func WriteSealed(t testing.TB, path string, f *safetensors.File) {
	require.NoError(t, folder.WriteFile(path, func(w io.Writer) error { return safetensors.WriteSealed(w, f) }))
}

// State returns a value of the state in a checkpoint's metadata as JSON; "" for none.
func State(f *safetensors.File, key string) string { return string(state(f)[key]) }

// SetState sets a value of the state in a checkpoint's metadata to a value in JSON; "" removes it.
func SetState(f *safetensors.File, key, value string) {
	s := state(f)
	if s[key] = json.RawMessage(value); value == "" {
		delete(s, key)
	}
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	f.Metadata["state"] = string(text)
}

func state(f *safetensors.File) (s map[string]json.RawMessage) {
	if err := json.Unmarshal([]byte(f.Metadata["state"]), &s); err != nil {
		panic(err)
	}
	return s
}
