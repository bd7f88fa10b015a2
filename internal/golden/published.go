package golden

import (
	"os"
	"path/filepath"
	"testing"
)

// Published returns the folder of a published model, smollm2 or minilm, which testdata/published/get writes: in the
// folder that ATTENTION_MODELS names, or else in testdata/published/models. Without it the test is skipped.
func Published(t testing.TB, name string) string {
	t.Helper()
	all := os.Getenv("ATTENTION_MODELS")
	if all == "" {
		var err error
		if all, err = Path("published", "models"); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(all, name)
	if _, err := os.Stat(filepath.Join(dir, "config.json")); err != nil {
		t.Skipf("no published model %s in %s: testdata/published/get writes it, and ATTENTION_MODELS names another folder",
			name, all)
	}
	return dir
}
