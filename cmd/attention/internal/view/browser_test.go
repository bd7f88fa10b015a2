package view_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/view"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// TestMain lets more tests run at once than there are processors: they wait for the browser most of the time.
func TestMain(m *testing.M) {
	flag.Parse()
	atOnce := flag.Lookup("test.parallel")
	if n, _ := strconv.Atoi(atOnce.Value.String()); n < 6 {
		_ = flag.Set(atOnce.Name, "6")
	}
	os.Exit(m.Run())
}

// chromium is started once for all tests; each has a tab of its own.
var chromium = sync.OnceValues(func() (context.Context, error) {
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		return nil, exec.ErrNotFound
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.DisableGPU)
	ctx, _ := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ = chromedp.NewContext(ctx) // ends with the test's process
	return ctx, chromedp.Do(ctx)
})

// page is the page of attention view in a tab of Chromium.
type page struct {
	t    testing.TB
	url  string
	ctx  context.Context
	stop func() error // the command, which is over then

	patience time.Duration // with a condition, by the page's clock

	mu       sync.Mutex
	problems []string // errors of the console, exceptions, and requests to elsewhere
}

// openPage starts attention view and opens its page with a state. At the end of the test the page must have had no
// errors.
func openPage(t testing.TB, state string, args ...string) *page {
	url, stop := serve(t, args...)
	p := tab(t, url, url)
	p.stop = stop
	p.do(chromedp.Navigate(url + "#" + state))
	return p
}

// tab opens a tab of Chromium, from which there may be no request but to the origin.
func tab(t testing.TB, url, origin string) *page {
	browser, err := chromium()
	if err != nil {
		t.Skipf("no Chromium: %v; install_chromium.sh beside this test installs it", err)
	}
	p := &page{t: t, url: url, patience: time.Minute}
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithListener(func(event any) { p.listen(event, origin) }))
	t.Cleanup(cancel)
	require.NoError(t, chromedp.Do(ctx))
	p.ctx, cancel = context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(cancel)
	p.do(enable(network.Enable), enable(log.Enable), enable(runtime.Enable), chromedp.EmulateViewport(1280, 800))
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		require.Empty(t, p.problems, "errors of the page")
	})
	return p
}

func (p *page) listen(event any, origin string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		p.problems = append(p.problems, e.ExceptionDetails.Text+" "+descriptionOf(e.ExceptionDetails.Exception))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			for _, a := range e.Args {
				p.problems = append(p.problems, descriptionOf(a))
			}
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			p.problems = append(p.problems, e.Entry.Text+" "+e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		if u := e.Request.URL; !strings.HasPrefix(u, origin) && !strings.HasPrefix(u, "blob:") &&
			!strings.HasPrefix(u, "data:") && !strings.HasPrefix(u, "about:") {
			p.problems = append(p.problems, "a request to "+u)
		}
	}
}

// expectProblem removes the errors that a test has caused.
func (p *page) expectProblem(part string) {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		for i, text := range p.problems {
			if strings.Contains(text, part) {
				p.problems = append(p.problems[:i], p.problems[i+1:]...)
				return true
			}
		}
		return false
	}, 10*time.Second, 20*time.Millisecond)
}

// do runs actions; an error fails the test.
func (p *page) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	require.NoError(p.t, chromedp.Do(p.ctx, actions...))
}

// enable enables the events of a domain.
func enable[P, R any](command cdp.Command[P, R]) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		var none P
		_, err := cdp.Call(ctx, t, command, none)
		return err
	})
}

// descriptionOf returns what the console shows of an object.
func descriptionOf(o *runtime.RemoteObject) string {
	if o == nil {
		return ""
	}
	return fmt.Sprint(o.Description, " ", o.Value)
}

// click clicks the first element of a selector.
func (p *page) click(selector string) {
	p.t.Helper()
	p.do(chromedp.WaitVisible(chromedp.CSS(selector)), chromedp.Click(chromedp.CSS(selector)))
}

// js returns the value of a JavaScript expression, which may be a promise.
func js[T any](p *page, expression string) T {
	p.t.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(p.t, err, expression)
	return value
}

// waitFor waits until a JavaScript condition holds.
func (p *page) waitFor(condition string) {
	p.t.Helper()
	_, err := chromedp.Run(p.ctx, chromedp.Poll[chromedp.Void](condition, chromedp.WithPollingTimeout(p.patience),
		chromedp.WithPollingInterval(30*time.Millisecond)))
	require.NoError(p.t, err, "%s; the page says: %s", condition, p.text("main"))
}

// text returns the text of the first element of a selector.
func (p *page) text(selector string) string {
	p.t.Helper()
	return js[string](p, fmt.Sprintf("document.querySelector(%q)?.textContent ?? ''", selector))
}

// serve starts attention view and returns its URL, and a function that ends it as Ctrl-C does.
func serve(t testing.TB, args ...string) (url string, stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	out, in := io.Pipe()
	ended := make(chan error, 1)
	var notes bytes.Buffer
	go func() {
		err := commandtest.Run(ctx, in, &notes, view.New(), args...)
		in.CloseWithError(io.ErrUnexpectedEOF)
		ended <- err
	}()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { require.NoError(t, stop()) })
	line := make([]byte, 1000)
	n, err := out.Read(line)
	if err != nil {
		require.NoError(t, stop())
	}
	go io.Copy(io.Discard, out)
	return strings.TrimSpace(string(line[:n])), stop
}

// saved returns the file that a click on the button of a selector saves.
func (p *page) saved(selector string) (name, content string) {
	p.t.Helper()
	js[bool](p, `(() => {
		window.savedFile = null;
		const make = URL.createObjectURL;
		URL.createObjectURL = (blob) => { window.savedBlob = blob; return make.call(URL, blob); };
		HTMLAnchorElement.prototype.click = function () { window.savedFile = this.download; };
		return true;
	})()`)
	p.click(selector)
	p.waitFor(`window.savedFile`)
	content = js[string](p, `savedBlob.arrayBuffer().then((b) =>
		btoa(Array.from(new Uint8Array(b), (x) => String.fromCharCode(x)).join("")))`)
	data, err := base64.StdEncoding.DecodeString(content)
	require.NoError(p.t, err)
	return js[string](p, "window.savedFile"), string(data)
}

// csv returns the table that a button saves.
func (p *page) csv(selector string) (rows [][]string) {
	p.t.Helper()
	name, content := p.saved(selector)
	require.Contains(p.t, name, ".csv")
	rows, err := csv.NewReader(strings.NewReader(content)).ReadAll()
	require.NoError(p.t, err)
	return rows
}

// set sets the state of the page.
func (p *page) set(state string) {
	p.t.Helper()
	js[string](p, fmt.Sprintf("location.hash = %q", state))
}

// choose chooses a value of a select.
func (p *page) choose(selector, value string) {
	p.t.Helper()
	js[bool](p, fmt.Sprintf(`((e, value) => { e.value = value; return e.dispatchEvent(new Event("change")); })(
		document.querySelector(%q), %q)`, selector, value))
}

// float returns the number that a text of the page or a cell of a table is.
func float(t testing.TB, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(text), "−", "-"), 64)
	require.NoError(t, err)
	return v
}

// look writes screenshots of the page to the folder VIEW_PICTURES, if that is set, for somebody to look at: at
// 1280 × 800 and 390 wide, light and dark.
func (p *page) look(t testing.TB, name string) {
	dir := os.Getenv("VIEW_PICTURES")
	if dir == "" {
		return
	}
	for _, size := range [][2]int64{{1280, 800}, {390, 844}} {
		for _, theme := range []string{"light", "dark"} {
			p.do(chromedp.EmulateViewport(size[0], size[1]))
			js[string](p, fmt.Sprintf(`document.documentElement.dataset.theme = %q`, theme))
			js[bool](p, `dispatchEvent(new Event("theme"))`)
			p.do(chromedp.Sleep(700 * time.Millisecond))
			picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(fmt.Sprintf("%s/%s-%d-%s.png", dir, name, size[0], theme), picture, 0o644))
		}
	}
	p.do(chromedp.EmulateViewport(1280, 800))
}
