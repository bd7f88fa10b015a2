package about_test

import (
	"testing"

	"attention/internal/about"

	"github.com/stretchr/testify/require"
)

func TestModelMetadata(t *testing.T) {
	of := map[string]string{"dtype": "float32", "model.type": "gpt"}
	metadata := about.ModelMetadata(of, 7, 3)
	require.Equal(t, map[string]string{"format": "attention model 2", "steps": "7", "best": "3",
		"about.dtype": "float32", "about.model.type": "gpt"}, metadata)
	got, err := about.OfModel(metadata)
	require.NoError(t, err)
	require.Equal(t, of, got)
	got, err = about.OfModel(map[string]string{"format": "pt", "steps": "1"})
	require.NoError(t, err)
	require.Nil(t, got, "of another program")
	delete(metadata, "format")
	_, err = about.OfModel(metadata)
	require.EqualError(t, err,
		`format: got "", want "attention model 2": another program wrote the model, and this one does not read it`)
}

func TestSteps(t *testing.T) {
	n, ok := about.Steps(about.ModelMetadata(nil, 7, 0))
	require.True(t, ok)
	require.Equal(t, 7, n)
	_, ok = about.Steps(map[string]string{"format": "pt"})
	require.False(t, ok)
}

// The error shows the place at which two long values begin to differ.
func TestCheck(t *testing.T) {
	of := map[string]string{"dtype": "float32", "characters": "abcdefghijklmn"}
	require.NoError(t, about.Check("config.json", "step", of, map[string]string{"dtype": "float32",
		"characters": "abcdefghijklmn", "other": "x"}))
	require.EqualError(t, about.Check("config.json", "step", of, map[string]string{"dtype": "float64",
		"characters": "abcdefghijklmx"}),
		`config.json: characters: got …"fghijklmn", want …"fghijklmx", that of step`)
	require.EqualError(t, about.Check("config.json", "step", of, map[string]string{"characters": "abcdefghijklmn"}),
		`config.json: dtype: got "float32", want "", that of step`)
}
