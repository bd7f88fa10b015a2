package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/view/follow"
	"attention/cmd/attention/internal/view/forward"

	"github.com/stretchr/testify/require"
)

// served starts a server with a small GPT, and ends it with the test.
func served(t *testing.T) *Server {
	m, err := forward.Open(commandtest.WriteGPT(t, commandtest.SmallGPT(t)))
	require.NoError(t, err)
	s, err := New(Config{Addr: "127.0.0.1:0", Models: []*forward.Model{m}, Text: "abc"})
	require.NoError(t, err)
	start(t, s)
	return s
}

// start serves until the end of the test.
func start(t *testing.T, s *Server) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-ended:
			require.NoError(t, err)
		case <-time.After(time.Minute):
			t.Error("the server does not end")
		}
	})
}

// ask sends a request and returns the code, the body and the header of the answer.
func ask(t *testing.T, method, url, body string, change func(r *http.Request)) (int, string, http.Header) {
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	require.NoError(t, err)
	if change != nil {
		change(r)
	}
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(text), answer.Header
}

// The server answers only requests from its own page, under its own host name and with its token. Answers never repeat
// parts of the request.
func TestOnlyThePageIsAnswered(t *testing.T) {
	s := served(t)
	root := s.URL[:strings.LastIndex(strings.TrimSuffix(s.URL, "/"), "/")+1]
	port := strings.Split(root, ":")[2]
	other := "A" // longer than the first letter of the token
	if s.URL[len(root)] == 'A' {
		other = "B"
	}
	for _, c := range []struct {
		reason, url string
		change      func(r *http.Request)
		want        int
	}{
		{reason: "the page", url: s.URL, want: 200},
		{reason: "an asset", url: s.URL + "main.js", want: 200},
		{reason: "another name of loopback", url: s.URL, want: 200,
			change: func(r *http.Request) { r.Host = "localhost:" + strings.TrimSuffix(port, "/") }},
		{reason: "no token", url: root, want: 404},
		{reason: "an asset without the token", url: root + "main.js", want: 404},
		{reason: "another token", url: root + other + s.URL[len(root)+1:], want: 404},
		{reason: "a name rebound to loopback", url: s.URL, want: 403,
			change: func(r *http.Request) { r.Host = "evil.example:" + strings.TrimSuffix(port, "/") }},
		{reason: "no port", url: s.URL, want: 403, change: func(r *http.Request) { r.Host = "127.0.0.1" }},
		{reason: "another page", url: s.URL + "view", want: 403,
			change: func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }},
		{reason: "another page's picture", url: s.URL + "icon.svg", want: 403,
			change: func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }},
		{reason: "the page itself", url: s.URL + "view", want: 200,
			change: func(r *http.Request) { r.Header.Set("Origin", strings.TrimSuffix(root, "/")) }},
		{reason: "a file", url: s.URL + "web.go", want: 404},
		{reason: "a path out of the assets", url: s.URL + "..%2f..%2fetc%2fpasswd", want: 404},
		{reason: "a path out of the assets", url: s.URL + "%2e%2e/dist/index.html", want: 404},
		{reason: "markup", url: s.URL + "<script>alert(1)</script>", want: 404},
	} {
		code, body, header := ask(t, "GET", c.url, "", c.change)
		require.Equal(t, c.want, code, "%s: %s", c.reason, c.url)
		require.True(t, strings.HasPrefix(header.Get("Content-Security-Policy"), "default-src 'self';"))
		if code != 200 {
			require.Empty(t, body, c.reason)
		}
	}
	second := served(t)
	require.NotEqual(t, s.URL[len(root):], second.URL[len(root):], "each server has its token")
}

// The server answers wrong requests with an error in JSON, and refuses long ones.
func TestWrongRequests(t *testing.T) {
	s := served(t)
	for _, c := range []struct {
		method, path, body, want string
		code                     int
	}{
		{"POST", "page", `{"passes": [{}, {}, {}, {}, {}]}`, "passes: got 5, want at most 4", 400},
		{"POST", "page", `{"passes": [{"model": 1, "text": "a"}]}`, "model: got 1, want one of 1", 400},
		{"POST", "forward", "{", "unexpected end of JSON input", 400},
		{"POST", "forward", `{"model": 1, "text": "a"}`, "model: got 1, want one of 1", 400},
		{"POST", "forward", `{"text": ""}`, "text: got none, want some to look at", 400},
		{"POST", "forward", `{"text": "x"}`, "text: got 'x' at position 0, want one of the vocabulary's 11 characters", 400},
		{"POST", "forward", `{"text": "ab", "hide": [2]}`, "hide: got position 2, want 0 to 1", 400},
		{"POST", "forward", `{"text": "ab", "heads": [{"layer": 2}]}`,
			"heads: got head 0 of layer 2, want those of the model", 400},
		{"POST", "forward", `{"text": "ab", "heads": [{"layer": 0, "head": 1, "factor": 1e308}]}`,
			"got numbers that are not finite from the model, want finite ones: take a smaller factor or value, " +
				"unless the weights themselves are not finite", 400},
		{"POST", "forward", `{"text": "` + strings.Repeat("a", forward.MaxText+1) + `"}`,
			"text: got 1048577 bytes, want at most 1048576", 400},
		{"POST", "forward", strings.Repeat(" ", maxBody+1), "got more than 8388608 bytes, want fewer", 400},
		{"GET", "training", "", "run: got none, want attention view --run DIR", 400},
	} {
		code, body, _ := ask(t, c.method, s.URL+c.path, c.body, nil)
		require.Equal(t, c.code, code, c.path)
		var got struct{ Error string }
		require.NoError(t, json.Unmarshal([]byte(body), &got))
		require.Equal(t, c.want, got.Error)
	}
	code, body, _ := ask(t, "POST", s.URL+"forward", `{"text": "ab"}`, nil)
	require.Equal(t, 200, code)
	var got struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(body), &got))
	for path, want := range map[string]string{
		"layer=2&head=0":    `layer: got "2", want a number from 0 to 1`,
		"layer=0&head=3":    `head: got "3", want a number from 0 to 2`,
		"layer=../x&head=0": `layer: got "../x", want a number from 0 to 1`,
		"layer=0":           `head: got "", want a number from 0 to 2`,
	} {
		code, body, _ := ask(t, "GET", s.URL+"head?pass="+got.ID+"&"+path, "", nil)
		require.Equal(t, 400, code)
		var answer struct{ Error string }
		require.NoError(t, json.Unmarshal([]byte(body), &answer))
		require.Equal(t, want, answer.Error)
	}
	code, body, _ = ask(t, "DELETE", s.URL+"forward", "", nil)
	require.Equal(t, 405, code)
	require.NotContains(t, body, "pass")
}

// A request beyond the limit is refused, not queued.
func TestBusyServersRefuse(t *testing.T) {
	const busy = 5
	wait, began := make(chan struct{}), make(chan struct{}, busy)
	h := handler(func(*http.Request) (any, error) {
		began <- struct{}{}
		<-wait
		return nil, nil
	}).within(make(chan struct{}, busy))
	for range busy {
		go h.ServeHTTP(&recorder{}, httptest.NewRequest("GET", "/", nil))
	}
	for range busy {
		<-began
	}
	var w recorder
	h.ServeHTTP(&w, httptest.NewRequest("GET", "/", nil))
	require.Equal(t, 503, w.code)
	require.Contains(t, w.String(), "too much at once")
	close(wait)
}

// Event streams take no places of requests, and each event has the version.
func TestManyViewersOfOneRun(t *testing.T) {
	r, err := follow.Open(filepath.Join("..", "testdata", "run"))
	require.NoError(t, err)
	s, err := New(Config{Addr: "127.0.0.1:0", Run: r})
	require.NoError(t, err)
	start(t, s)
	for range newLimits(descriptors()).busy + 3 {
		answer, err := http.Get(s.URL + "events")
		require.NoError(t, err)
		defer answer.Body.Close()
		require.Equal(t, 200, answer.StatusCode)
		line, err := bufio.NewReader(answer.Body).ReadString('\n')
		require.NoError(t, err)
		require.Regexp(t, `^data: \d+ finished\n$`, line)
	}
	code, body, _ := ask(t, "GET", s.URL+"training", "", nil)
	require.Equal(t, 200, code)
	require.Contains(t, body, `"state":"finished"`)
}

// A page that follows a run is notified of the run's end, even if the page's request ended before the server could
// answer.
func TestEndIsTold(t *testing.T) {
	r, err := follow.Open(filepath.Join("..", "testdata", "run"))
	require.NoError(t, err)
	s := newUnserved(Config{Run: r})
	over, cancel := context.WithCancel(t.Context())
	cancel()
	s.base = over
	for range 20 {
		w := httptest.NewRecorder()
		s.events(w, httptest.NewRequestWithContext(over, "GET", "/events", nil))
		require.Contains(t, w.Body.String(), "event: end\n")
	}
}

type recorder struct {
	bytes.Buffer
	code int
}

func (r *recorder) Header() http.Header  { return http.Header{} }
func (r *recorder) WriteHeader(code int) { r.code = code }

func TestWrongAddresses(t *testing.T) {
	for addr, want := range map[string]string{
		"":               `--addr: got "", want a host and a port, as in 127.0.0.1:0`,
		":80":            `--addr: got ":80", want a host too, as in 127.0.0.1:0`,
		"127.0.0.1:high": "--addr: ",
	} {
		_, err := New(Config{Addr: addr})
		require.ErrorContains(t, err, want)
	}
}
