package why

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/train/tasks/reversal"

	"github.com/stretchr/testify/require"
)

// The kept models reach the results of their report: models with attention write strings of every length correctly, the
// one without only short strings.
func TestKeptModels(t *testing.T) {
	models, r, err := readRivals(kept)
	require.NoError(t, err)
	require.Len(t, models, 3)
	for i, m := range models {
		of := r.Models[i]
		require.Equal(t, string(rivals[i].kind), of.Name)
		require.Equal(t, m.Params().Count(), of.Parameters)
		w, err := reversal.NewWriter(m.Model)
		require.NoError(t, err)
		for _, text := range []string{"headache", "badgefacade", "abcdefghijjihgfedcbaacegibdfhjabcdefghij"} {
			got, err := w.Write(t.Context(), text)
			require.NoError(t, err)
			backwards := reversed(text)
			if i > 0 {
				require.Equal(t, backwards, got.Text, of.Name)
			} else if len(text) > 30 {
				require.NotEqual(t, backwards, got.Text, of.Name)
			}
		}
		short, long := of.at(reversal.Shortest)[0], of.at(reversal.Longest)[0]
		require.Greater(t, short, 0.8, of.Name)
		require.Equal(t, i > 0, long > 0.9, of.Name)
	}
}

func reversed(text string) string {
	out := []byte(text)
	for i := range out {
		out[i] = text[len(text)-1-i]
	}
	return string(out)
}

// The page's server describes the kept models and answers with what they write.
func TestWhyView(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := commandtest.Run(ctx, in, io.Discard, New(), "--view")
		in.CloseWithError(err) // otherwise the test would wait for a URL that is never printed
		ended <- err
	}()
	line := make([]byte, 1000)
	n, err := out.Read(line)
	require.NoError(t, err)
	url := strings.TrimSpace(string(line[:n]))
	get := func(path string) []byte {
		answer, err := http.Get(url + path)
		require.NoError(t, err)
		defer answer.Body.Close()
		require.Equal(t, http.StatusOK, answer.StatusCode)
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		return text
	}
	var view struct {
		Reverse struct {
			Letters string
			Rivals  []struct{ Name string }
		}
	}
	require.NoError(t, json.Unmarshal(get("view"), &view))
	require.Equal(t, reversal.Letters, view.Reverse.Letters)
	require.Equal(t, "transformer", view.Reverse.Rivals[2].Name)
	require.Contains(t, string(get("reverse?text=headache")), `"ehcadaeh","ehcadaeh"]`)
	cancel()
	require.NoError(t, <-ended)
}
