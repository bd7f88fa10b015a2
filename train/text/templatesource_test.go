package text_test

import (
	"testing"

	"attention/train/text"

	"github.com/stretchr/testify/require"
)

func TestTemplateSource(t *testing.T) {
	for config, want := range map[string]string{
		`{"chat_template": "{{ x"}`: "{{ x", // whether or not it can be rendered here
		`{"chat_template": [{"name": "rag", "template": "a"}, {"name": "default", "template": "b"}]}`: "b",
	} {
		source, err := text.TemplateSource([]byte(config))
		require.NoError(t, err)
		require.Equal(t, want, source)
	}
	_, err := text.TemplateSource([]byte(`{"chat_template": null}`))
	require.ErrorIs(t, err, text.ErrNoTemplate)
	_, err = text.TemplateSource([]byte(`[]`))
	require.ErrorContains(t, err, "text: tokenizer_config.json: json: cannot unmarshal array")
}
