package text_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"attention/train/text"

	"github.com/stretchr/testify/require"
)

// A template gets the messages of a row, its tools and its variables in the form in which transformers passes them
// (testdata/rows/render.py).
func TestRowsRender(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "rows", "renderings.json"))
	require.NoError(t, err)
	var stored struct {
		Template string
		Rows     []struct {
			Row  json.RawMessage
			Text string
		}
	}
	require.NoError(t, json.Unmarshal(data, &stored))
	require.Len(t, stored.Rows, 17)
	template, err := text.ParseTemplate(stored.Template)
	require.NoError(t, err)
	for _, row := range stored.Rows {
		var e text.Example
		require.NoError(t, json.Unmarshal(row.Row, &e), "%s", row.Row)
		got, err := template.Render(t.Context(), e.Messages, e.Rendering(text.TemplateConfig{}))
		require.NoError(t, err)
		require.Equal(t, row.Text, got, "%s", row.Row)
	}
}

// TestMessageJSON: a message is written as it is read.
func TestMessageJSON(t *testing.T) {
	for _, row := range []struct{ name, json, again, failure string }{
		{name: "a text", json: `{"role": "user", "content": "<é>\n"}`},
		{name: "a weight", json: `{"role":"assistant","content":"a","weight":0}`},
		{name: "other keys", json: `{"role":"tool","content":"3","tool_call_id":"x","name":"f"}`},
		{name: "calls", json: `{"role":"assistant","tool_calls":[{"id":"x","function":{"name":"f",` +
			`"arguments":{"b":1,"a":2.5}}}]}`},
		{name: "parts", json: `{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`},
		{name: "no content", json: `{"role":"assistant"}`},
		{name: "nulls", json: `{"role":"assistant","content":null,"tool_calls":null,"weight":null}`, again: `{"role":"assistant"}`},
		{name: "an empty content", json: `{"role":"assistant","content":""}`},
		{name: "no role", json: `{"content": "a"}`, failure: "message: role: got no text, want one such as user"},
		{name: "a number", json: `{"role": "user", "content": 1}`,
			failure: "message: content: got 1, want a text or a list of parts"},
		{name: "an image", json: `{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image"}]}`,
			failure: `message: content: part 2: got the type "image", want text`},
		{name: "a text as a part", json: `{"role": "user", "content": ["a"]}`,
			failure: "message: content: part 1: got no object, want one with type and text"},
		{name: "a weight below 0", json: `{"role": "assistant", "content": "a", "weight": -1}`,
			failure: "message: weight: got -1, want 0 or 1"},
		{name: "a list", json: `[1]`, failure: "message: got no object, want one with role and content"},
	} {
		var m text.Message
		err := json.Unmarshal([]byte(row.json), &m)
		if row.failure != "" {
			require.EqualError(t, err, row.failure, row.name)
			continue
		}
		require.NoError(t, err, row.name)
		again, err := m.MarshalJSON()
		require.NoError(t, err, row.name)
		want := row.json
		if row.again != "" {
			want = row.again
		}
		require.JSONEq(t, want, string(again), row.name)
		require.False(t, strings.Contains(string(again), "\n"))
	}
}
