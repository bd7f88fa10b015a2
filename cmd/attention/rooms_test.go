package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rooms says which of our packages each package may import. A line of code
// belongs to the lowest room whose nouns it uses; imports go down, never up.
var rooms = map[string][]string{
	"attention/internal/kernel":      {},
	"attention/internal/expr":        {},
	"attention/internal/torchrand":   {},
	"attention/internal/safetensors": {},
	"attention/internal/jsonkeys":    {},
	"attention/internal/config":      {},
	"attention/internal/exports":     {},
	"attention/internal/golden":      {"attention/internal/safetensors"},
	"attention/graph/machine":        {"attention/internal/kernel"},
	"attention/graph":                {"attention/internal/kernel", "attention/internal/expr"},
	"attention/graph/gradcheck":      {"attention/graph", "attention/graph/machine"},
	"attention/graph/gradcases":      {"attention/graph", "attention/graph/gradcheck"},
	"attention/layers":               {"attention/graph", "attention/internal/expr", "attention/internal/torchrand"},
	"attention/layers/generate":      {"attention/layers", "attention/graph", "attention/graph/machine"},
	"attention/train":                {"attention/layers", "attention/graph", "attention/graph/machine", "attention/internal/kernel", "attention/internal/safetensors"},
	"attention/train/text":           {"attention/train", "attention/graph"},
	"attention/train/pretrained":     {"attention/train/text", "attention/layers", "attention/internal/jsonkeys", "attention/internal/safetensors"},

	"attention/cmd/attention/internal/term":        {},
	"attention/cmd/attention/internal/flags":       {},
	"attention/cmd/attention/internal/plot":        {},
	"attention/cmd/attention/internal/tensorprint": {},
	"attention/cmd/attention/internal/commandtest": {},
	"attention/cmd/attention/internal/run": {"attention/train", "attention/train/text", "attention/train/pretrained", "attention/layers", "attention/layers/generate",
		"attention/cmd/attention/internal/flags", "attention/internal/jsonkeys", "attention/internal/safetensors"},
	"attention/cmd/attention/internal/apply": {"attention/layers", "attention/graph", "attention/graph/machine", "attention/internal/safetensors"},
	"attention/cmd/attention/internal/bench": {"attention/train", "attention/train/text", "attention/layers", "attention/graph", "attention/graph/machine", "attention/internal/kernel"},
	"attention/cmd/attention/internal/chapter": {"attention/layers", "attention/graph", "attention/graph/machine",
		"attention/cmd/attention/internal/flags", "attention/cmd/attention/internal/tensorprint", "attention/internal/expr", "attention/internal/torchrand"},
	"attention/cmd/attention/internal/translate": {"attention/train", "attention/train/text", "attention/layers", "attention/graph", "attention/graph/machine",
		"attention/cmd/attention/internal/flags", "attention/cmd/attention/internal/plot", "attention/cmd/attention/internal/run",
		"attention/cmd/attention/internal/tensorprint", "attention/cmd/attention/internal/term"},
	"attention/cmd/attention": {"attention/cmd/attention/internal/apply", "attention/cmd/attention/internal/bench", "attention/cmd/attention/internal/chapter",
		"attention/cmd/attention/internal/translate", "attention/cmd/attention/internal/term", "attention/cmd/attention/internal/flags", "attention/cmd/attention/internal/plot",
		"attention/cmd/attention/internal/tensorprint", "attention/cmd/attention/internal/run",
		"attention/train", "attention/train/text", "attention/train/pretrained", "attention/layers/generate", "attention/layers", "attention/graph", "attention/graph/gradcheck",
		"attention/graph/machine", "attention/internal/expr", "attention/internal/jsonkeys"},
}

func TestRoomsImportOnlyWhatTheyMay(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "attention/...").Output()
	require.NoError(t, err)
	seen := 0
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; seen++ {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err)
		}
		allowed, ok := rooms[p.ImportPath]
		require.True(t, ok, "%s is in no room: add it to the plan", p.ImportPath)
		for _, i := range p.Imports {
			if strings.HasPrefix(i, "attention/") {
				require.True(t, slices.Contains(allowed, i), "%s may not import %s", p.ImportPath, i)
			}
		}
	}
	require.Equal(t, len(rooms), seen, "rooms that are not there any more")
}
