//go:build unix

package train

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"attention/cmd/attention/internal/run/settings"
	"attention/internal/testenv"
	"attention/train/metrics"

	"github.com/stretchr/testify/require"
)

// TestTrainSurvivesKills: a run that is killed many times, while it starts, between and in its steps and while it
// saves, ends with the bits of one that is left alone.
func TestTrainSurvivesKills(t *testing.T) {
	kills, steps := 15, 1200
	if testenv.All {
		kills, steps = 50, 4000
	}
	dir := t.TempDir()
	text := filepath.Join(dir, "text.txt")
	require.NoError(t, os.WriteFile(text, []byte(tinyText), 0o644))
	flags := func(folder string) []string {
		return append(tinyFlags(text, filepath.Join(dir, folder)), strings.Fields(fmt.Sprintf(
			"--steps %d --save-every 37 --eval-every 150 --dropout 0.2 --accumulate 2 --weight-decay 0.1 --sample 0", steps))...)
	}
	began := time.Now()
	calm := startTrain(t, flags("calm/run")...)
	require.True(t, calm.until(func() bool { return fileSize(filepath.Join(dir, "calm/run", metrics.FileName)) > 0 }))
	startup := time.Since(began)
	<-calm.done
	require.NoError(t, calm.err, calm.printed)

	folder, whole := filepath.Join(dir, "killed/run"), fileSize(filepath.Join(dir, "calm/run", metrics.FileName))
	taken := func() int { return int(fileSize(filepath.Join(folder, metrics.FileName)) * int64(steps) / whole) } // about
	random := rand.New(rand.NewPCG(uint64(began.UnixNano()), 0))
	spread := map[int]bool{}
	for kill := range kills {
		c := startTrain(t, begin(folder, flags("killed/run"))...)
		// On a busy machine a start takes longer at one time than at another, and saving is not seen: none gets so far
		// that nothing is left for the kills to come.
		most := (kill + 1) * steps / (kills + 5)
		if kill%3 == 0 {
			end := time.Now().Add(time.Duration(random.Int64N(int64(startup))))
			c.until(func() bool { return time.Now().After(end) || taken() >= most })
		} else {
			target := taken() + random.IntN(2*steps/kills)
			c.until(func() bool {
				return taken() >= target && (kill%3 == 1 || isSaving(folder)) || taken() >= most
			})
			time.Sleep(time.Duration(random.IntN(1000)) * time.Microsecond)
		}
		c.kill()
		var exit *exec.ExitError
		require.True(t, c.err == nil || errors.As(c.err, &exit) && !exit.Exited(), "%v: %s", c.err, c.printed)
		spread[taken()] = true
	}
	last := startTrain(t, begin(folder, nil)...)
	<-last.done
	require.NoError(t, last.err, last.printed)
	require.Contains(t, last.printed.String(), "\n          continues after ")
	require.Greater(t, len(spread), kills/5, "kills at %v", spread)
	requireSameOutcome(t, filepath.Join(dir, "calm/run"), folder)
}

// begin returns the flags to resume a run, or to begin it if it was killed before it began.
func begin(folder string, flags []string) []string {
	if fileSize(filepath.Join(folder, settings.ConfigFile)) == 0 {
		return flags
	}
	return []string{"--resume", folder, "--sample", "0"}
}

// isSaving reports whether a checkpoint is being written.
func isSaving(folder string) bool {
	entries, _ := os.ReadDir(filepath.Join(folder, settings.CheckpointsFolder))
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), ".tmp-") })
}
