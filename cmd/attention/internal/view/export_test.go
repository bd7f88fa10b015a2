package view_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/view"
	"attention/layers"

	"github.com/stretchr/testify/require"
)

// A saved page opens from the disk with the text, the head and the changes that its reader chose.
func TestSavedPageHasWhatWasChosen(t *testing.T) {
	t.Parallel()
	p := openPage(t, "", "--model", gptFolder(t), "--text", "abc")
	const state = "panel=attention&text=bad+c%C3%A9g&layer=1&head=1&q=4&hide=1&factors=0x2x0_1x1x0.5&temperature=0.5"
	p.set(state)
	p.waitFor(arcsDrawn)
	shown := func(p *page) []string {
		return js[[]string](p, `[...document.querySelectorAll(".mostattended .value, .next-side .value, .chip")].map((e) =>
			e.textContent.replace(/ ✕$/, ""))`)
	}
	before := shown(p)
	for _, part := range []string{"was ", "“a” 1 is hidden", "· 2 × 0", "%"} {
		require.Contains(t, strings.Join(before, " "), part)
	}
	name, page := p.saved(".savepage button")
	require.Equal(t, "attention.html", name)
	require.Empty(t, p.text(".savepage .error"))
	require.Less(t, len(page), 1<<20)
	file := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(file, []byte(page), 0o644))
	p = tab(t, "", "file://"+file)
	p.open("file://" + file)
	p.waitFor(arcsDrawn)
	require.Equal(t, "bad cég", js[string](p, `document.querySelector("#text").value`))
	require.Equal(t, before, shown(p))
	require.Zero(t, js[int](p, `document.querySelectorAll(".savepage, button.chip").length`))
	p.set("panel=heads&layer=0&head=1&text=bad+c%C3%A9g")
	p.waitFor(headReady)
}

// An exported page opens from the disk and shows the same numbers, without any request.
func TestExport(t *testing.T) {
	t.Parallel()
	g := commandtest.SmallGPT(t)
	const text = "abc défg\nab"
	weights := layerWeights(t, g.Model, g.Tokenizer, text)
	file := filepath.Join(t.TempDir(), "page.html")
	dir := commandtest.WriteGPT(t, g)
	var notes bytes.Buffer
	require.NoError(t, commandtest.Run(context.Background(), &notes, &notes, view.New(), "--model", dir, "--model", dir,
		"--run", runFolder(t), "--text", text, "--export", file))
	require.Empty(t, notes.String())
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(1<<20))
	p := tab(t, "", "file://"+file)
	p.open("file://" + file + "#panel=heads&layer=1&head=1")
	p.waitFor(headReady)
	p.requireColours(weights[1][121:][:121], 11)
	for state, ready := range map[string]string{
		"panel=pair&q=3&k=1": `document.querySelector(".steps")`,
		"panel=training": `document.querySelector("#moment") &&
			document.querySelector(".status").dataset.state === "finished"`,
		"panel=compare": `document.querySelectorAll(".three canvas").length === 3`,
	} {
		p.set(state)
		p.waitFor(ready)
	}
	require.Contains(t, p.text(".exported"), "another text, changes and writing on work in the program only")
	p.set("panel=attention&q=7")
	p.waitFor(arcsDrawn)
	require.True(t, js[bool](p, `document.querySelector("#text").readOnly && !document.querySelector("[data-keep=off]")`))
	p.requireNext(1, nextOf(t, g, text, func(*layers.Build) {}))
	p.set("panel=attention&q=7&temperature=0.5")
	p.requireNext(1, nextAt(t, g, text, 0.5, func(*layers.Build) {}))
	p.set("panel=heads&text=other")
	p.waitFor(`document.querySelector("[role=alert]").textContent.includes("not part of the exported page")`)
}

// The exported page of a run of nano-char's size, with its recording, has at most 8 MB. No part is left out.
func TestExportHasRoom(t *testing.T) {
	needPage(t)
	t.Parallel()
	program, err := attention()
	require.NoError(t, err)
	dir := t.TempDir()
	out, err := exec.Command(program, "train", "--preset", "nano-char", "--steps", "8", "--eval-every", "1",
		"--eval-batches", "1", "--save-every", "4", "--keep", "2", "--out", filepath.Join(dir, "run")).CombinedOutput()
	require.NoError(t, err, "%s", out)
	const most = 8_000_000 - 2000*150 // the steps of a whole run, which has as many evaluations
	text := strings.Repeat("attention ", 7)[:64]
	file := filepath.Join(dir, "page.html")
	notes, err := commandtest.Output(t.Context(), view.New(), "--run", filepath.Join(dir, "run"), "--text", text, "--export", file)
	require.NoError(t, err)
	require.Empty(t, notes)
	info, err := os.Stat(file)
	require.NoError(t, err)
	t.Logf("exported: %d bytes", info.Size())
	require.Less(t, info.Size(), int64(most))

	url, _ := serve(t, "--run", filepath.Join(dir, "run"), "--text", text)
	changed := fmt.Sprintf(`{"model": 0, "text": %q, "hide": [3], "heads": [{"layer": 1, "head": 1, "factor": 0}]}`, text)
	body := fmt.Sprintf(`{"state": "panel=attention", "passes": [{"model": 0, "text": %q}, %s, {"model": 1, "text": %q}]}`,
		text, changed, text)
	answer, err := http.Post(url+"page", "application/json", strings.NewReader(body))
	require.NoError(t, err)
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.StatusCode, "%.300s", page)
	t.Logf("saved: %d bytes", len(page))
	require.Less(t, len(page), most)
	require.NotContains(t, string(page), `"left":`)
}
