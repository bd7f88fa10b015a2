package serve

import (
	"bytes"
	"context"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/view/look"

	"github.com/stretchr/testify/require"
)

// What has no room is left out, and said.
func TestExportsAreLimited(t *testing.T) {
	m, err := look.Open(commandtest.WriteGPT(t, commandtest.SmallGPT(t)))
	require.NoError(t, err)
	c := Config{Models: []*look.Model{m}, Text: "abc"}
	var all, some bytes.Buffer
	left, err := exportUpTo(context.Background(), c, MaxExport, &all)
	require.NoError(t, err)
	require.Empty(t, left)
	left, err = exportUpTo(context.Background(), c, 4000, &some)
	require.NoError(t, err)
	require.NotEmpty(t, left)
	require.Equal(t, []string{"steps of layer 1, head 2 of model", "journeys of model"}, left[len(left)-2:])
	require.Contains(t, some.String(), left[0])
	require.Less(t, some.Len(), all.Len())
	require.Equal(t, 3, bytes.Count(all.Bytes(), []byte("</script>")), "answers, import map and entry hold none")
	c.Text = "</script><b>"
	_, err = Export(context.Background(), c, &all)
	require.ErrorContains(t, err, "model: text: got '<'")
}
