package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/view/forward"

	"github.com/stretchr/testify/require"
)

// Parts that exceed the limit are left out, and the page says so.
func TestExportsAreLimited(t *testing.T) {
	m, err := forward.Open(commandtest.WriteGPT(t, commandtest.SmallGPT(t)))
	require.NoError(t, err)
	c := Config{Models: []*forward.Model{m}, Text: "abc"}
	var all, some bytes.Buffer
	left, err := exportUpTo(context.Background(), c, MaxExport, &all)
	require.NoError(t, err)
	require.Empty(t, left)
	left, err = exportUpTo(context.Background(), c, 4000, &some)
	require.NoError(t, err)
	require.NotEmpty(t, left)
	require.Equal(t, "steps of ", left[len(left)-1][:9], "the journeys come before the heads that tell little")
	require.Contains(t, some.String(), left[0])
	require.Less(t, some.Len(), all.Len())
	require.Equal(t, 3, bytes.Count(all.Bytes(), []byte("</script>")), "answers, import map and entry hold none")
	c.Text = "</script><b>"
	_, err = Export(context.Background(), c, &all)
	require.ErrorContains(t, err, "model: text: got '<'")
}

// Even a small exported page has the Steps of its initial head and the Journey of the last token. The least telling
// heads are left out first, and parts that do not fit are not computed.
func TestExportsKeepWhatThePageOpensWith(t *testing.T) {
	m, err := forward.Open(commandtest.WriteGPT(t, commandtest.SmallGPT(t)))
	require.NoError(t, err)
	const text = "abc défg\nab"
	for _, state := range []string{"", "layer=1&head=1"} {
		c := Config{Models: []*forward.Model{m}, Text: text}
		c.chosen.State = state
		s := newUnserved(c)
		request := passRequest{Request: forward.Request{Text: text}}
		all := &export{server: s, answers: map[string]json.RawMessage{}, most: MaxExport}
		_, err := all.addPass(t.Context(), request)
		require.NoError(t, err)
		e := &export{server: s, answers: map[string]json.RawMessage{}, most: all.size / 2}
		l, err := s.passes.see(t.Context(), request)
		require.NoError(t, err)
		order, err := e.inOrder(l)
		require.NoError(t, err)
		require.Len(t, order, 6)
		if state != "" {
			require.Equal(t, headOf{1, 1}, order[0])
		}
		_, err = e.addPass(t.Context(), request)
		require.NoError(t, err)
		require.NotEmpty(t, e.left)
		for _, path := range []string{headPath("head", l.ID, order[0].layer, order[0].head),
			headPath("values", l.ID, order[0].layer, order[0].head), journeyPath(l.ID, 0, 10), journeyPath(l.ID, 1, 10)} {
			require.NotNil(t, e.answers[path], "%s, of what is left out: %q", path, e.left)
		}
	}
}
