package train

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/run/settings"
	"attention/cmd/attention/internal/session"
	"attention/cmd/attention/internal/term"
	"attention/cmd/attention/internal/view/live"
	"attention/train"
	"attention/train/metrics"
	"attention/train/parallel"
	"attention/train/record"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// viewed is a running attention train --view.
type viewed struct {
	t      *testing.T
	folder string
	stop   context.CancelFunc // as Ctrl-C does
	ended  chan error
	goOn   chan struct{} // closed to let a run of startHeld continue
	atLine func()        // called when the run has printed a line of its table of losses; or nil

	mu      sync.Mutex
	printed bytes.Buffer
}

func (v *viewed) Write(text []byte) (int, error) {
	v.print(text)
	if v.atLine != nil && regexp.MustCompile(tableLine).Match(text) {
		v.atLine()
	}
	return len(text), nil
}

func (v *viewed) print(text []byte) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.printed.Write(text)
}

// tableLine matches a line of the table of losses. A run prints such a line after each evaluation.
const tableLine = `(?m)^ +\d+ +\d+\.\d{4} `

// startViewed starts a tiny run with a page.
func startViewed(t *testing.T, flags ...string) *viewed { return (&viewed{t: t}).start(flags...) }

// startHeld starts a tiny run with a page. The run waits after its first evaluation until goOn is closed, so that a
// test can send requests to a run that certainly trains.
func startHeld(t *testing.T, flags ...string) *viewed {
	v := &viewed{t: t, goOn: make(chan struct{})}
	v.atLine = func() {
		select {
		case <-v.goOn:
		case <-t.Context().Done():
		}
	}
	return v.start(flags...)
}

func (v *viewed) start(flags ...string) *viewed {
	t := v.t
	dir := t.TempDir()
	text := filepath.Join(dir, "text.txt")
	require.NoError(t, os.WriteFile(text, []byte(tinyText), 0o644))
	v.folder, v.ended = filepath.Join(dir, "run"), make(chan error, 1)
	var ctx context.Context
	ctx, v.stop = context.WithCancel(t.Context())
	t.Cleanup(v.stop)
	flags = append(append(tinyFlags(text, v.folder), "--view"), flags...)
	go func() { v.ended <- trainTo(ctx, v, flags...) }()
	return v
}

// says waits until the run prints text that matches a pattern, and returns the match.
func (v *viewed) says(pattern string) (found string) {
	v.t.Helper()
	re := regexp.MustCompile(pattern)
	require.Eventually(v.t, func() bool {
		v.mu.Lock()
		defer v.mu.Unlock()
		found = re.FindString(v.printed.String())
		return found != ""
	}, time.Minute, time.Millisecond, pattern)
	return found
}

// url returns the URL of the page without its state.
func (v *viewed) url() string {
	v.t.Helper()
	return strings.TrimSuffix(v.says(`http://127\.0\.0\.1:\d+/[A-Z2-7]+/#`), "#")
}

// get returns the answer to a request, or false if the server has ended.
func get(url string, body ...string) (answer []byte, ok bool) {
	send := func() (*http.Response, error) { return http.Get(url) }
	if len(body) > 0 {
		send = func() (*http.Response, error) { return http.Post(url, "", strings.NewReader(body[0])) }
	}
	r, err := send()
	if err != nil {
		return nil, false
	}
	defer r.Body.Close()
	answer, err = io.ReadAll(r.Body)
	return answer, err == nil && r.StatusCode == http.StatusOK
}

// follow waits for the first event of the page. Then the server knows that a page follows the run. The returned
// function reads the other events until the server ends, and returns the state in the last one.
func follow(t *testing.T, url string) (last func() lastState) {
	r, err := http.Get(url + "events")
	require.NoError(t, err)
	t.Cleanup(func() { r.Body.Close() })
	events := bufio.NewReader(r.Body)
	first, err := events.ReadString('\n')
	require.NoError(t, err)
	require.Regexp(t, `^data: \d+ running\n$`, first, "a state, perhaps of a run that has gone on")
	return func() (state lastState) {
		text, err := io.ReadAll(events)
		require.NoError(t, err)
		_, last, ok := strings.Cut(string(text), "event: end\ndata: ")
		require.True(t, ok, "%.2000s", text)
		require.NoError(t, json.Unmarshal([]byte(last), &state))
		return state
	}
}

// lastState is what a page is told of the end of a run.
type lastState struct{ State, Error string }

// A run whose page constantly sends requests has the same bits as a run without a page. The answers show the weights as
// they change.
func TestTrainViewChangesNoBit(t *testing.T) {
	flags := append(tinyGPT, "--steps", "1000", "--eval-every", "50", "--head-stats")
	plain, _ := tinyRun(t, flags...)
	looking, looked := context.WithCancel(t.Context())
	defer looked()
	v := (&viewed{t: t, atLine: func() { commandtest.Await(looking, live.Waiting) }}).start(flags...)
	url := v.url()
	last := follow(t, url)
	seen := map[int]string{} // the queries of the first head, by the number of steps
	for range 100 {
		var look struct {
			ID    string
			Steps int
		}
		text, ok := get(url+"forward", `{"model": 0, "text": "the quick"}`)
		require.True(t, ok, "%s", text)
		require.NoError(t, json.Unmarshal(text, &look))
		head, ok := get(fmt.Sprintf("%shead?pass=%s&layer=1&head=1", url, look.ID))
		require.True(t, ok, "%s", head)
		seen[look.Steps] = string(head)
		for _, path := range []string{"thumbnails?layer=0&pass=" + look.ID, "training", "watched", "view", ""} {
			text, ok := get(url + path)
			require.True(t, ok, "%s: %s", path, text)
		}
	}
	looked()
	v.says(`the run is done; serving its page until Ctrl-C`)
	v.stop()
	require.Equal(t, session.Finished, last().State)
	require.NoError(t, <-v.ended, "the run was done before")
	require.Greater(t, len(seen), 2, "looks while it trained")
	heads := map[string]bool{}
	for _, head := range seen {
		heads[head] = true
	}
	require.Len(t, heads, len(seen), "the weights of each step")
	for _, name := range []string{settings.ModelFile, metrics.FileName, record.TensorsFile, record.LinesFile} {
		require.Equal(t, outcome(t, plain)[name], outcome(t, v.folder)[name], name)
	}
}

// When a run is stopped or fails, its server ends, and the page is notified.
func TestTrainViewTellsHowARunEnds(t *testing.T) {
	v := startHeld(t, "--steps", "1000000", "--eval-every", "1")
	url := v.url()
	last := follow(t, url)
	v.says(tableLine)
	v.stop()
	close(v.goOn)
	require.Equal(t, session.Stopped, last().State)
	require.True(t, term.IsInterrupted(<-v.ended))
	require.FileExists(t, filepath.Join(v.folder, settings.ModelFile), "the run is saved as ever")
	_, ok := get(url)
	require.False(t, ok, "the page has ended")

	v = startHeld(t, strings.Fields("--steps 100000 --eval-every 1 --lr 3e4 --warmup 300 --solver sgd --clip 0")...)
	last = follow(t, v.url())
	close(v.goOn)
	state := last()
	require.Equal(t, session.Failed, state.State)
	require.Contains(t, state.Error, "finite")
	require.ErrorIs(t, <-v.ended, train.ErrNotFinite)
}

func TestTrainViewWrongFlags(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	requireRefused(t, []refused{
		{args: "--addr 127.0.0.1:0", want: "--addr: got it without --view, want both"},
		{args: "--open", want: "--open: got it without --view, want both"},
		{args: "--view=false --open", want: "--open: got it without --view, want both"},
		{args: "--view --addr 8080", want: `--addr: got "8080", want a host and a port, as in 127.0.0.1:0`},
		{args: "--view --addr " + taken.Addr().String(),
			want: "--addr: listen tcp " + taken.Addr().String() + ": bind: address already in use"},
	})
}

// --open passes the URL to the system's opener. Without an opener, a line says so and the run continues.
func TestTrainViewOpens(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the opener is not xdg-open")
	}
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	v := startViewed(t, "--open")
	v.says(`attention: --open: exec: "xdg-open,.*": executable file not found in \$PATH, want a browser; ` +
		`the page is at the URL all the same\n`)
	v.says("the run is done")
	v.stop()
	require.NoError(t, <-v.ended)

	asked := filepath.Join(bin, "asked")
	script := "#!/bin/sh\necho \"$@\" > " + asked + ".new; exec /bin/mv " + asked + ".new " + asked + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "xdg-open"), []byte(script), 0o755))
	v = startViewed(t, "--open")
	url := v.says(`http://\S+`)
	require.True(t, strings.HasSuffix(url, "/#panel=training"))
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(asked)
		return err == nil && string(text) == url+"\n"
	}, time.Minute, time.Millisecond)
	v.says("the run is done")
	v.stop()
	require.NoError(t, <-v.ended)

	// Here the opener fails after the run is done.
	script = "#!/bin/sh\nwhile [ -d " + bin + " ] && [ ! -e " + bin + "/done ]; do /bin/sleep 0.01; done; exit 3\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "xdg-open"), []byte(script), 0o755))
	v = startViewed(t, "--open")
	v.says("the run is done")
	require.NoError(t, os.WriteFile(filepath.Join(bin, "done"), nil, 0o644))
	v.says("attention: --open: exit status 3, want a browser; ")
	v.stop()
	require.NoError(t, <-v.ended)
}

// With several processes, only rank 0 serves a page.
func TestTrainViewTogether(t *testing.T) {
	group, err := parallel.NewLocal(2)
	require.NoError(t, err)
	dir := t.TempDir()
	text := filepath.Join(dir, "text.txt")
	require.NoError(t, os.WriteFile(text, []byte(tinyText), 0o644))
	var pages [2]live.Page
	var running sync.WaitGroup
	for rank, g := range group {
		set := pflag.NewFlagSet("train", pflag.ContinueOnError)
		settings.AddFlags(set, settings.Train)
		pages[rank].AddFlags(set)
		require.NoError(t, set.Parse(append(tinyFlags(text, filepath.Join(dir, "run")), "--accumulate", "2", "--view")))
		running.Go(func() {
			c := live.Command{Processes: session.Processes{Group: g}, Out: io.Discard, Notes: io.Discard, Flags: set,
				Page: &pages[rank]}
			require.NoError(t, c.Do(t.Context(), execute))
		})
	}
	running.Wait()
	require.Nil(t, pages[1].Of(live.Shown{}))
	url, _, _ := strings.Cut(pages[0].URL(), "#")
	got, ok := get(url + "training")
	require.True(t, ok)
	require.Contains(t, string(got), `"state":"finished"`)
	require.NoError(t, pages[0].Close())
}

// A run that ends before its page is shown leaves no listener.
func TestTrainViewOfNoRun(t *testing.T) {
	dir := t.TempDir()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := listener.Addr().String()
	require.NoError(t, listener.Close())
	_, err = commandtest.Output(t.Context(), New(), "--view", "--addr", addr, "--text", filepath.Join(dir, "none"))
	require.ErrorContains(t, err, "none")
	listener, err = net.Listen("tcp", addr)
	require.NoError(t, err, "the address is free again")
	require.NoError(t, listener.Close())
}
