package dates

import (
	"os"
	"testing"

	"attention/cmd/attention/internal/run"
	"attention/train"

	"github.com/stretchr/testify/require"
)

// TestSettingsAreRead: config.json holds all settings.
func TestSettingsAreRead(t *testing.T) {
	dir := t.TempDir()
	s := settingsOf(7, 6, 2, 3, 5)
	f, err := run.NewFolder(dir, train.CheckpointsConfig{Keep: 1})
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, s.Write(f))
	got, err := ReadSettings(dir)
	require.NoError(t, err)
	require.Equal(t, s, got)
	text, err := os.ReadFile(dir + "/config.json")
	require.NoError(t, err)
	_, err = run.ParseConfig(text)
	require.ErrorContains(t, err, `got "dates", that of attention translate, want one of layer, gpt`,
		"attention train refuses it by its type")
}
