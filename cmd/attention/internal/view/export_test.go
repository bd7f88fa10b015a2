package view_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/view"
	"attention/layers"

	"github.com/stretchr/testify/require"
)

// An exported page opens from the disk and shows the same numbers, without a request to anywhere.
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
