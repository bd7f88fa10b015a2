package view_test

import (
	"bytes"
	"context"
	"errors"
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
	"attention/internal/testenv"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// TestMain allows more parallel tests than processors, because the tests mostly wait for the browser.
func TestMain(m *testing.M) {
	flag.Parse()
	atOnce := flag.Lookup("test.parallel")
	if n, _ := strconv.Atoi(atOnce.Value.String()); n < 6 {
		_ = flag.Set(atOnce.Name, "6")
	}
	os.Exit(m.Run())
}

// smoke is the one test that opens the page with -short.
const smoke = "TestHeadsShowTheLibrarysNumbers"

// needPage skips a test of the page with -short, except a smoke test and a test under the race detector.
func needPage(t testing.TB) {
	t.Helper()
	if testing.Short() && !testenv.Race && t.Name() != smoke {
		t.Skip("-short leaves out this test of the page: " + smoke + " alone opens it")
	}
}

// chromium is started once for all tests, and each test has its own tab.
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
		chromedp.DisableGPU, chromedp.WSURLReadTimeout(patience),
		// Tabs share a few processes, because starting processes would be a fifth of the browser's work.
		chromedp.Flag("renderer-process-limit", "3"), chromedp.Flag("disable-site-isolation-trials", true),
		chromedp.Flag("disable-features", "Translate,BackForwardCache,SpareRendererForSitePerProcess"))
	ctx, _ := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ = chromedp.NewContext(ctx) // ends with the process of the test
	return ctx, chromedp.Do(ctx)
})

// browser returns the context of Chromium, or skips the test if Chromium is not installed.
func browser(t testing.TB) context.Context {
	needPage(t)
	ctx, err := chromium()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("there is no Chromium: install_chromium.sh beside this test installs it")
	}
	require.NoError(t, err)
	return ctx
}

// page is the page of attention view in a tab of Chromium.
type page struct {
	t    testing.TB
	url  string
	ctx  context.Context
	stop func() error // the command, which has ended

	haste int  // the factor by which the page's clock is faster
	moves bool // whether elements of the page move without a reader's action

	mu       sync.Mutex
	origin   string   // requests to it are allowed
	problems []string // errors of the console, exceptions, and requests to other origins
}

// openPage starts attention view, opens its page with a state and waits until the page shows that state. At the end of
// the test the page must have had no errors.
func openPage(t testing.TB, state string, args ...string) *page {
	p := beginPage(t, state, args...)
	p.settle()
	return p
}

// beginPage is openPage that waits for nothing.
func beginPage(t testing.TB, state string, args ...string) *page {
	url, stop := serve(t, args...)
	p := tab(t, url, url)
	p.stop = stop
	p.do(chromedp.Navigate(url + "#" + state))
	return p
}

// open opens a URL and waits until what it asks for is shown.
func (p *page) open(url string) {
	p.t.Helper()
	p.do(chromedp.Navigate(url))
	p.settle()
}

// tab opens a tab of Chromium that may send requests only to the origin.
func tab(t testing.TB, url, origin string) *page {
	p := &page{t: t, url: url, haste: 1, origin: origin}
	ctx, cancel := chromedp.NewContext(browser(t), chromedp.WithListener(p.listen))
	t.Cleanup(cancel)
	require.NoError(t, chromedp.Do(ctx))
	p.ctx = ctx
	p.do(enable(network.Enable), enable(log.Enable), enable(runtime.Enable), chromedp.EmulateViewport(1280, 800))
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		require.Empty(t, p.problems, "errors of the page")
	})
	return p
}

// goes sets the URL that a tab is for.
func (p *page) goes(url string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.url, p.origin = url, url
}

func (p *page) listen(event any) {
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
		if u := e.Request.URL; !strings.HasPrefix(u, p.origin) && !strings.HasPrefix(u, "blob:") &&
			!strings.HasPrefix(u, "data:") && !strings.HasPrefix(u, "about:") {
			p.problems = append(p.problems, "a request to "+u)
		}
	}
}

// expectProblem removes errors that a test caused on purpose.
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
	}, patience, 20*time.Millisecond)
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

// serve starts attention view. It returns the URL, and a function that ends the command as Ctrl-C does.
func serve(t testing.TB, args ...string) (url string, stop func() error) {
	needPage(t)
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
