package finetune

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"attention/cmd/attention/internal/commandtest"
	"attention/cmd/attention/internal/term"
	"attention/internal/testenv"
	"attention/layers"

	"github.com/stretchr/testify/require"
)

// childVariable is set for a child process, which runs the command and prints its peak memory.
const childVariable = "ATTENTION_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) == "" {
		os.Exit(m.Run())
	}
	code := term.Main(commandtest.Root(New()))
	status, _ := os.ReadFile("/proc/self/status")
	fmt.Printf("%s\n", status)
	os.Exit(code)
}

// The memory that is printed before a run differs by at most a tenth from the peak that the run then has, including
// mapped pages.
func TestMemoryIsAsPrinted(t *testing.T) {
	if testenv.Race {
		t.Skip("the detector of races has memory of its own")
	}
	base := shaped(t, 4096, 256, 4, layers.AttentionConfig{EmbedDim: 128, NumHeads: 4, NumKVHeads: 2}, 384)
	requireMemory(t, base, "--context", "256", "--batch", "2", "--steps", "12", "--eval-every", "4", "--sample", "16")
}

func TestMemoryOfSmolLM2IsAsPrinted(t *testing.T) {
	if testenv.Race || os.Getenv("ATTENTION_TESTS_LARGE") == "" {
		t.Skip("half a minute: only with ATTENTION_TESTS_LARGE=1")
	}
	base := shaped(t, 49152, 512, 30, layers.AttentionConfig{EmbedDim: 576, NumHeads: 9, NumKVHeads: 3}, 1536)
	requireMemory(t, base, "--context", "512", "--batch", "1", "--steps", "2", "--eval-every", "0", "--sample", "8")
	requireMemory(t, base, "--context", "512", "--batch", "1", "--steps", "2", "--eval-every", "0", "--sample", "0",
		"--checkpoint-activations")
}

func requireMemory(t *testing.T, base string, more ...string) {
	data := filepath.Join(t.TempDir(), "x.jsonl")
	line := `{"prompt": "the cat", "completion": "` + strings.Repeat("sat on the mat ", 40) + `"}` + "\n"
	require.NoError(t, os.WriteFile(data, []byte(strings.Repeat(line, 8)), 0o644))
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, append([]string{"finetune", "--model", base, "--data", data, "--valid", data, "--out",
		filepath.Join(t.TempDir(), "run")}, more...)...)
	cmd.Env = append(os.Environ(), childVariable+"=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	number := func(pattern string) float64 {
		found := regexp.MustCompile(pattern).FindSubmatch(out)
		require.NotNil(t, found, "%s", out)
		n, err := strconv.ParseFloat(string(found[1]), 64)
		require.NoError(t, err)
		return n
	}
	printed, most := number(`([\d.]+) MB together`), number(`VmHWM:\s+(\d+) kB`)*1024/1e6
	t.Logf("%.1f MB printed, %.1f MB at most", printed, most)
	require.InEpsilon(t, most, printed, 0.1, "%s", out)
}
