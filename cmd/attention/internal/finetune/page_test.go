package finetune

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/view/live"

	"github.com/stretchr/testify/require"
)

// A run whose page is used while it trains, including its adapters, has the bits of a run without a page.
func TestViewChangesNoBit(t *testing.T) {
	_, flags := files(t, "--steps", "300", "--eval-every", "100")
	flags = slices.Clip(flags)
	calm, seen := filepath.Join(t.TempDir(), "calm"), filepath.Join(t.TempDir(), "seen")
	_, err := tune(t, append(flags, "--out", calm)...)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	before, look := context.WithCancel(ctx)
	defer look()
	out, ended := &shared{before: before}, make(chan error, 1)
	go func() { ended <- commandtest.Run(ctx, out, out, New(), append(flags, "--out", seen, "--view")...) }()
	url := strings.TrimSuffix(out.says(t, `http://127\.0\.0\.1:\d+/[A-Z2-7]+/#`), "#")
	looks := map[string]bool{lookAt(t, url): true}
	look()
	out.says(t, "serving its page until Ctrl-C")
	looks[lookAt(t, url)] = true
	require.Len(t, looks, 2, "the adapters have moved")
	stop()
	require.NoError(t, <-ended)
	requireSameRun(t, calm, seen)
}

// shared is what a command prints while a test reads it. At the table of losses the command waits until the first
// request of the page has ended.
type shared struct {
	before  context.Context
	mu      sync.Mutex
	printed bytes.Buffer
}

func (s *shared) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("held-out loss  ")) { // the head of the table
		commandtest.Await(s.before, live.Waiting)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.printed.Write(p)
}

// says waits until a pattern is printed and returns the match.
func (s *shared) says(t *testing.T, pattern string) (found string) {
	re := regexp.MustCompile(pattern)
	require.Eventually(t, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		found = re.FindString(s.printed.String())
		return found != ""
	}, time.Minute, time.Millisecond, pattern)
	return found
}

// lookAt returns the weights of the first head as they are now.
func lookAt(t *testing.T, url string) string {
	client := http.Client{Timeout: time.Minute}
	get := func(r *http.Response, err error) string {
		require.NoError(t, err)
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, r.StatusCode, "%s", text)
		return string(text)
	}
	look := get(client.Post(url+"forward", "", strings.NewReader(`{"model": 0, "text": "the cat sat"}`)))
	id := regexp.MustCompile(`"id":"([^"]+)"`).FindStringSubmatch(look)
	require.Len(t, id, 2, "%.300s", look)
	return get(client.Get(fmt.Sprintf("%shead?pass=%s&layer=1&head=1", url, id[1])))
}
