package pretrained

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"attention/internal/golden"

	"github.com/stretchr/testify/require"
)

// unusedKeys are keys that the source of transformers reads for a family but that do not change any result.
var unusedKeys = map[string][]string{
	"gemma3_text": {"attn_logit_softcapping"}, // stored as an attribute that no code reads
	"gpt_neox":    {"rope_theta"},             // rotary_emb_base is used instead
}

// Each key of config.json that transformers reads for a family, according to testdata/families/keys.py, is used,
// refused or known to be harmless, and so is each key of rope_parameters.
func TestKeysOfTransformers(t *testing.T) {
	path, err := golden.Path("families", "keys.json")
	require.NoError(t, err)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var read map[string][]string
	require.NoError(t, json.Unmarshal(text, &read))
	require.Len(t, read, len(families)+1)
	require.Subset(t, strings.Fields(ropeKeys), read["rope"])
	for _, f := range families {
		require.Greater(t, len(read[f.name]), 20, f.name)
		own := strings.Fields(f.keys + " " + f.refuses + " " + alwaysRefused)
		for _, key := range read[f.name] {
			harmless := slices.Contains(strings.Fields(harmlessKeys), key) || slices.Contains(unusedKeys[f.name], key)
			require.True(t, slices.Contains(own, key) || harmless, "%s: %s", f.name, key)
		}
		for _, key := range strings.Fields(f.refuses + " " + alwaysRefused) {
			require.Contains(t, refusals, key)
		}
		if f == &gpt2 {
			continue
		}
		for _, key := range strings.Fields(f.keys) {
			require.Contains(t, new(settings).fields(), key, f.name)
		}
	}
}
