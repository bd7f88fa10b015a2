package view_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/view"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// runsFolder returns a folder of finished runs.
func runsFolder(t testing.TB, names ...string) string {
	dir := t.TempDir()
	for _, name := range names {
		require.NoError(t, os.CopyFS(filepath.Join(dir, name), os.DirFS("testdata/run")))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "no run"), 0o755))
	return dir
}

// follow follows a link.
func (p *page) follow(selector string) {
	p.t.Helper()
	p.do(chromedp.Navigate(js[string](p, fmt.Sprintf("document.querySelector(%q).href", selector))))
}

// The page lists the runs of a folder and draws the losses of chosen runs in one chart. The reader can open each run
// and return.
func TestRunsOfAFolder(t *testing.T) {
	t.Parallel()
	p := openPage(t, "", "--run", runsFolder(t, "first", "<b>second", "third"))
	p.waitFor(`document.querySelectorAll(".runs tbody tr").length === 3`)
	rows := p.csv("h2 .csv")
	require.Equal(t, []string{"run", "state", "steps", "validation"}, rows[0][:4])
	require.ElementsMatch(t, []string{"first", "<b>second", "third"}, []string{rows[1][0], rows[2][0], rows[3][0]})
	require.Equal(t, "finished", rows[1][1])
	require.Equal(t, "40", rows[1][2])
	losses := p.csv(`[aria-label="Losses"] .csv`)
	require.Len(t, losses[0], 4)
	require.Equal(t, losses[1][1], losses[1][2], "of the same run")
	p.press(`[data-run="third"] input`)
	p.settle()
	require.NotContains(t, p.csv(`[aria-label="Losses"] .csv`)[0], "third")
	require.Contains(t, js[string](p, "decodeURIComponent(location.hash)"), "<b>second")
	p.choose(".curves .tools select", "both")
	losses = p.csv(`[aria-label="Losses"] .csv`)
	require.Contains(t, losses[0], "first training")
	require.Len(t, losses, 41)

	for _, name := range []string{"first", "<b>second"} {
		p.follow(`[data-run="` + name + `"] a`)
		p.waitFor(`document.querySelector("nav [data-panel=training]")`)
		p.set("panel=training")
		p.waitFor(`document.querySelector(".status")?.dataset.state === "finished"`)
		require.Contains(t, p.text(".status"), name+": finished, step 40 of 40")
		p.follow("a.home")
		p.waitFor(`document.querySelectorAll(".runs tbody tr").length === 3`)
		p.settle()
	}
}

// An exported page has the list and the losses, but no links to the runs.
func TestExportHasRuns(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "page.html")
	var notes bytes.Buffer
	require.NoError(t, commandtest.Run(t.Context(), &notes, &notes, view.New(), "--run", runsFolder(t, "first", "a & b"),
		"--export", file))
	require.Empty(t, notes.String())
	p := tab(t, "", "file://"+file)
	p.open("file://" + file + "#losses=training")
	p.waitFor(`document.querySelectorAll(".runs tbody tr").length === 2`)
	require.Len(t, p.csv(`[aria-label="Losses"] .csv`), 41)
	require.Zero(t, js[int](p, `document.querySelectorAll("main a").length`))
}

// Without flags the page shows the newest run, and a list of all runs beside it.
func TestNewestRunAndTheList(t *testing.T) {
	needPage(t)
	dir := runsFolder(t)
	require.NoError(t, os.Rename(runsFolder(t, "first", "second"), filepath.Join(dir, "runs")))
	t.Chdir(dir)
	url, _ := serve(t)
	answer, err := http.Get(url + "view")
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Contains(t, string(text), `"runs":true`)
	require.Contains(t, string(text), `"training":true`)
}

// The list, and the menu of its chart, violate no rule of axe-core. The keyboard opens and closes the menu. On a phone
// the page does not scroll sideways.
func TestRunsAreAccessible(t *testing.T) {
	t.Parallel()
	script := axe(t)
	p := openPage(t, "", "--run", runsFolder(t, "first", "second"))
	checkPanels(t, p, script, []panelState{{"panel=runs", `document.querySelectorAll(".runs tbody tr").length === 2`}})
	p.do(chromedp.Focus(chromedp.CSS(".save summary")), chromedp.KeyEvent(kb.Enter))
	p.waitFor(`document.querySelector(".save").open`)
	p.requireAccessible("an open menu", script)
	p.do(chromedp.KeyEvent(kb.Tab))
	require.Equal(t, "PNG", js[string](p, "document.activeElement.textContent"))
	p.do(chromedp.KeyEvent(kb.Escape))
	p.waitFor(`!document.querySelector(".save").open && document.activeElement.tagName === "SUMMARY"`)
}
