package view_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// attention builds the program once, without debug information.
var attention = sync.OnceValues(func() (path string, err error) {
	dir, err := os.MkdirTemp("", "attention")
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "attention")
	out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, "attention/cmd/attention").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return path, err
})

// process is attention train --view in a process of its own.
type process struct {
	*exec.Cmd
	t     *testing.T
	page  *page // a tab for its page, opened before the run begins, because some runs end soon
	ended chan error
	goOn  chan struct{} // closed to let the test read the output after the URL, which may block the run; or nil

	mu      sync.Mutex
	printed bytes.Buffer
}

func (p *process) Write(text []byte) (int, error) {
	p.mu.Lock()
	p.printed.Write(text)
	p.mu.Unlock()
	if p.goOn != nil && pageURL.MatchString(p.text()) {
		select {
		case <-p.goOn:
		case <-p.t.Context().Done():
		}
	}
	return len(text), nil
}

// pageURL finds the URL of the page in the output.
var pageURL = regexp.MustCompile(`page +(http://\S+)#panel=training\n`)

func (p *process) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.printed.String()
}

// startTrain starts attention train --view and waits until its page is served.
func startTrain(t *testing.T, args ...string) *process {
	return (&process{t: t, ended: make(chan error, 1)}).start(args...)
}

func (p *process) start(args ...string) *process {
	t := p.t
	if runtime.GOOS == "windows" {
		t.Skip("a test cannot send a process Ctrl-C there")
	}
	t.Cleanup(func() {
		if p.Cmd != nil && p.Process != nil {
			_ = p.Process.Kill()
		}
	})
	p.page = tab(t, "", "")
	p.page.moves = true
	p.page.hasten()
	path, err := attention()
	require.NoError(t, err)
	p.Cmd = exec.Command(path, append([]string{"train", "--view"}, args...)...)
	p.Stdout, p.Stderr = p, p
	p.Env = append(os.Environ(), "GOMAXPROCS=1") // the browser needs a processor, too
	require.NoError(t, p.Start())
	go func() { p.ended <- p.Wait() }()
	require.Eventually(t, func() bool {
		found := pageURL.FindStringSubmatch(p.text())
		if found != nil {
			p.page.goes(found[1])
		}
		return found != nil
	}, patience, 10*time.Millisecond)
	return p
}

// says waits for a text in the output of the process.
func (p *process) says(part string) {
	require.Eventually(p.t, func() bool { return strings.Contains(p.text(), part) }, patience, 10*time.Millisecond, part)
}

// interrupt sends Ctrl-C and returns the exit code.
func (p *process) interrupt() int {
	require.NoError(p.t, p.Process.Signal(os.Interrupt))
	return p.wait()
}

func (p *process) wait() int {
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.t.Fatal("the program does not end")
	}
	return p.ProcessState.ExitCode()
}

// follow opens the page of a run.
func (p *process) follow() *page {
	p.page.open(p.page.url + "#panel=training")
	p.page.waitFor(`document.querySelector('[aria-label="Loss"] .curve')`)
	return p.page
}

// hasten makes the page's clock run faster, because the page pauses between requests to a run.
func (p *page) hasten() {
	p.haste = 10
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, cdppage.AddScriptToEvaluateOnNewDocument,
			cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: fmt.Sprintf(`(() => {
				const [now, later] = [performance.now.bind(performance), setTimeout];
				performance.now = () => %[1]d * now();
				window.setTimeout = (f, ms, ...args) => later(f, ms / %[1]d, ...args);
			})()`, p.haste)})
		return err
	}))
}

// status waits for a text in the line of the run's state.
func (p *page) status(part string) {
	p.t.Helper()
	p.waitFor(fmt.Sprintf(`document.querySelector(".status")?.textContent.includes(%q)`, part))
}

// The page of a training run shows growing curves and the current heads, and a reload continues them. When the run is
// stopped, resumed and finished, the page says so.
func TestTrainView(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	flags := strings.Fields("--model gpt --layers 2 --heads 2 --width 8 --context 16 --batch 4 --steps 1000000 " +
		"--eval-every 200 --eval-batches 2 --save-every 0 --head-stats --sample 20 --out " + dir)
	run := startTrain(t, flags...)
	p := run.follow()
	p.status("trains, step ")
	p.status("tokens/s, ")
	p.status(" left. gpt, 2 layers")
	curve := `document.querySelector('[aria-label="Loss"] .curve[data-series="training"]').getAttribute("d")`
	const step = `Number(document.querySelector(".status").textContent.match(/step (\d+)/)[1])`
	last := func() int { return js[int](p, step) }
	for range 2 {
		before, at := js[string](p, curve), last()
		p.waitFor(fmt.Sprintf(`%s !== %q && %s > %d`, curve, before, step, at))
		for _, name := range []string{"bigram", "unigram", "validation"} {
			p.waitFor(fmt.Sprintf(`document.querySelector('[aria-label="Loss"] .curve[data-series=%q]')`, name))
		}
		p.do(chromedp.Reload())
		p.waitFor(`document.querySelector('[aria-label="Loss"] .curve')`)
	}
	for _, chart := range []string{"Learning rate", "Gradient norm", "Parameters", "Entropy of the heads",
		"Largest score of the heads"} {
		p.waitFor(fmt.Sprintf(`document.querySelector('[aria-label=%q] .curve')`, chart))
	}
	p.waitFor(`document.querySelector("#moment")?.max >= 2`)
	records := `document.querySelector('[aria-label="Largest score of the heads"] .curve').getAttribute("d")`
	p.waitFor(fmt.Sprintf(`%s !== %q`, records, js[string](p, records)))
	p.waitFor(curve + `.length > 10000 || ` + step + ` > 3000`)
	require.Less(t, js[int](p, curve+`.split("L").length`), 1400, "two points a pixel")
	p.screenshots(t, "live")

	// The shown heads follow the run automatically, and a later pass uses later weights.
	p.set("panel=heads&layer=1&head=1")
	p.waitFor(headReady)
	steps := func() int { return js[int](p, `Number(document.querySelector("[data-steps]").dataset.steps)`) }
	before := steps()
	require.Positive(t, before)
	const pictures = `[...document.querySelectorAll(".thumbnail, .heatmap canvas")]`
	js[bool](p, pictures+`.every((e) => e.here = true)`)
	p.waitFor(`document.querySelector("[data-steps]").textContent.includes("There are newer ones.")`)
	later := `document.querySelector("[data-steps]")?.dataset.steps > %d && ` + headReady
	p.waitFor(fmt.Sprintf(later, before))
	require.True(t, js[bool](p, pictures+`.every((e) => e.here)`), "new numbers in the same place")
	p.press("#follow")
	require.Contains(t, js[string](p, "location.hash"), "follow=no")
	for _, line := range []string{"main [data-steps]", "header [data-steps]"} {
		if strings.HasPrefix(line, "header") {
			p.set("panel=pair&layer=1&head=1")
		}
		p.waitFor(fmt.Sprintf(`document.querySelector(%q).textContent.includes("There are newer ones.")`, line))
		before = steps()
		p.press(line + " button")
		p.waitFor(fmt.Sprintf(`document.querySelector("[data-steps]")?.dataset.steps > %d`, before))
	}

	p.set("panel=training")
	p.status("trains")
	code := run.interrupt()
	require.Equal(t, 130, code)
	p.status("stopped, with a checkpoint to resume from")
	p.status("The program has ended")
	require.Regexp(t, `resume with: \S+ train --resume `, run.text())
	require.FileExists(t, filepath.Join(dir, "model.safetensors"))
	taken := last()

	run = startTrain(t, "--resume", dir, "--steps", fmt.Sprint(taken+1000))
	p = run.follow()
	p.status("finished, step ")
	require.GreaterOrEqual(t, last(), taken)
	p.waitFor(`document.querySelectorAll(".samples pre").length === 1`)
	p.set("panel=heads")
	p.waitFor(headReady)
	run.says("the run is done; serving its page until Ctrl-C")
	p.do(chromedp.Navigate("about:blank")) // the page is still requesting thumbnails
	require.Equal(t, 0, run.interrupt())
}

// A run whose loss is not finite ends at once, and the open page says why. Before that the run prints more than a pipe
// holds, and so waits until the page is open.
func TestTrainViewNotFinite(t *testing.T) {
	t.Parallel()
	run := (&process{t: t, ended: make(chan error, 1), goOn: make(chan struct{})}).start(strings.Fields(
		"--width 8 --context 16 --batch 2 --solver sgd --clip 0 --lr 10 --warmup 100000 --steps 200000 --eval-every 5 " +
			"--eval-batches 1 --save-every 0 --out " + filepath.Join(t.TempDir(), "run"))...)
	p := run.follow()
	close(run.goOn)
	p.status("not finite: train: ")
	require.Equal(t, "failed", js[string](p, `document.querySelector(".status").dataset.state`))
	require.Equal(t, 1, run.wait())
	p.status("The program has ended")
}

// If a server disappears without a notice, the page says so after the browser detects it.
func TestTrainViewKilled(t *testing.T) {
	t.Parallel()
	run := startTrain(t, strings.Fields("--model gpt --layers 1 --width 8 --context 16 --batch 2 --steps 1000000 --out "+
		filepath.Join(t.TempDir(), "run"))...)
	p := run.follow()
	require.NoError(t, run.Process.Kill())
	p.status("the server does not answer: it was killed")
	p.expectProblem("ERR_")
	p.do(chromedp.Navigate("about:blank"))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.problems = nil // of trying again
}

// After a run has finished, no panel says that it is training, and the weights are those after its last step.
func TestFinishedRunsTrainNoMore(t *testing.T) {
	t.Parallel()
	needPage(t)
	r := startTrain(t, "--steps", "40", "--width", "8", "--heads", "2", "--context", "8", "--batch", "2", "--eval-every", "20",
		"--sample", "0", "--out", filepath.Join(t.TempDir(), "run"))
	r.says("the run is done")
	for panel, line := range map[string]string{"attention": "header", "pair": "header", "heads": "main"} {
		r.page.open(r.page.url + "#panel=" + panel)
		r.page.waitFor(fmt.Sprintf(`document.querySelector("%s [data-steps]")?.textContent.includes(
			"The weights after step 40 of a run that is finished.")`, line))
	}
	require.Zero(t, r.interrupt())
}
