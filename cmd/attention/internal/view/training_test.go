package view_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"attention/train/record"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/stretchr/testify/require"
)

// runFolder returns a copy of testdata/run, a finished run of 40 steps:
//
//	attention train --model gpt --layers 1 --heads 2 --width 8 --context 16 --batch 4 --steps 40 --eval-every 8 \
//	    --eval-batches 2 --sample 30 --out run
func runFolder(t testing.TB) string {
	dir := filepath.Join(t.TempDir(), "run")
	require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/run")))
	return dir
}

// The page replays a finished run from its recording.
func TestTrainingOfAFinishedRun(t *testing.T) {
	t.Parallel()
	dir := runFolder(t)
	p := openPage(t, "panel=training", "--run", dir)
	p.waitFor(`document.querySelector(".status")?.dataset.state === "finished"`)
	require.Contains(t, p.text(".status"), "run: finished, step 40 of 40")
	rows := p.csv(`[aria-label="Loss"] h3 .csv`)
	require.Equal(t, []string{"step", "training", "validation", "bigram", "unigram"}, rows[0])
	require.Len(t, rows, 41)
	w, err := record.Read(t.Context(), dir, nil)
	require.NoError(t, err)
	p.waitFor(`document.querySelector("#moment")`)
	require.Equal(t, len(w.Steps)-1, js[int](p, `Number(document.querySelector("#moment").max)`))
	params := p.csv(`[aria-label="Parameters"] h3 .csv`)
	require.Len(t, params, len(w.Records)+1)
	for i, r := range w.Records {
		for j, x := range r.Params {
			require.InDelta(t, float64(x.ChangeFromStart), float(t, params[i+1][j+1]), 1e-6, x.Name)
		}
	}
	// The slider goes back to the untrained weights.
	p.set("panel=training&moment=0&phead=1")
	p.waitFor(`document.querySelector("output").textContent === "0 (untrained)" &&
		document.querySelector('[aria-label="attention of the probe"] canvas')?.dataset.ready === "yes"`)
	p.do(chromedp.Focus(chromedp.CSS(`[aria-label="attention of the probe"] canvas`)), chromedp.KeyEvent(kb.ArrowDown))
	probe := w.Probe["transformer.h.0.attn"]
	T := probe.Shape()[2]
	require.Contains(t, p.text(`[aria-label="attention of the probe"] .readout`),
		fmt.Sprintf("weight %.4f", probe.Float32s()[T*T+T]), "head 1, query 1, key 0")
	p.click(`#moment ~ button`)
	p.waitFor(fmt.Sprintf(`location.hash.includes("moment=%d") &&
		document.querySelector("#moment ~ button").textContent === "Play"`, len(w.Steps)-1))
	require.Contains(t, p.text(".samples"), "after step 40")
	require.Contains(t, p.text(`[aria-label="Largest score of the heads"]`), "train with --head-stats")
	p.screenshots(t, "training")
}

// The page of a run of attention translate has its own texts: the run has no --head-stats, and its output is a
// translation.
func TestTrainingOfATranslation(t *testing.T) {
	t.Parallel()
	dir := datesRun(t, 1)
	report := `{"sessions": [{"state": "finished", "to": 1, "sample": {"prompt": "3 sep '75", "text": "1975-09-03"}}]}`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "report.json"), []byte(report), 0o644))
	p := openPage(t, "panel=training", "--run", dir)
	p.waitFor(`document.querySelector(".samples pre")`)
	require.Equal(t, "3 sep '75 → 1975-09-03", p.text(".samples pre"))
	require.Contains(t, p.text(`[aria-label="Largest score of the heads"]`), "attention translate records none")
}

// The curves of a run grow while it trains. A reload shows the same curves, and an error shows its reason.
func TestTrainingLive(t *testing.T) {
	t.Parallel()
	dir := runFolder(t)
	metrics, report := filepath.Join(dir, "metrics.jsonl"), filepath.Join(dir, "report.json")
	all, err := os.ReadFile(metrics)
	require.NoError(t, err)
	lines := bytes.SplitAfter(all, []byte("\n"))
	text, err := os.ReadFile(report)
	require.NoError(t, err)
	state := func(s string) {
		changed := bytes.Replace(text, []byte(`"state": "finished"`), []byte(s), 1)
		require.NoError(t, os.WriteFile(report+".new", changed, 0o644))
		require.NoError(t, os.Rename(report+".new", report)) // in the way a run does
	}
	write := func(n int) { // complete at every moment
		require.NoError(t, os.WriteFile(metrics+".new", bytes.Join(lines[:n], nil), 0o644))
		require.NoError(t, os.Rename(metrics+".new", metrics))
	}
	state(`"state": "unfinished"`)
	write(5)
	p := openPage(t, "panel=training", "--run", dir)
	p.moves = true
	points := func() int { return len(p.csv(`[aria-label="Learning rate"] h3 .csv`)) - 1 }
	p.waitFor(`document.querySelector('[aria-label="Learning rate"] .curve')`)
	before, status := points(), p.text(".status")
	write(20)
	p.waitFor(fmt.Sprintf(`document.querySelector(".status").textContent !== %q`, status))
	require.Greater(t, points(), before)
	p.do(chromedp.Reload())
	p.waitFor(`document.querySelector(".status")?.dataset.state === "unfinished"`)
	state(`"state": "failed", "error": "train: step 20: loss: got NaN, want a finite number"`)
	p.waitFor(`document.querySelector(".status").textContent.includes("not finite: train: step 20")`)
	state(`"state": "stopped"`)
	write(len(lines))
	p.waitFor(`document.querySelector(".status").textContent.includes("stopped, with a checkpoint")`)
	require.NoError(t, p.stop())
}
