//go:build unix

package main

import (
	"bufio"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Connections to the page of a run do not take descriptors that the run needs, and cause no output.
func TestTrainViewKeepsDescriptors(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	folder := filepath.Join(t.TempDir(), "run")
	program := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -n 128; exec "$0" "$@"`, self, "train", "--view",
		"--width", "8", "--context", "8", "--batch", "2", "--steps", "2000", "--eval-every", "100", "--save-every", "5",
		"--sample", "0", "--out", folder)
	program.Env = append(os.Environ(), programVariable+"=1")
	stderr, err := program.StderrPipe()
	require.NoError(t, err)
	notes := bufio.NewScanner(stderr)
	out, err := program.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, program.Start())
	url := ""
	lines := bufio.NewScanner(out)
	for url == "" && lines.Scan() {
		if _, rest, ok := strings.Cut(lines.Text(), "http://"); ok {
			url = "http://" + strings.TrimSuffix(rest, "#panel=training")
		}
	}
	require.NotEmpty(t, url)
	host := strings.Split(url, "/")[2]
	for i := range 300 {
		c, err := net.Dial("tcp", host)
		require.NoError(t, err)
		defer c.Close()
		if i%2 == 0 {
			_, _ = c.Write([]byte("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n")) // it may have ended already
		}
	}
	answer, err := http.Get(url + "training")
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, 200, answer.StatusCode)
	require.True(t, notes.Scan(), "the run ends")
	require.Equal(t, "attention: the run is done; serving its page until Ctrl-C", notes.Text())
	require.NoError(t, program.Process.Signal(syscall.SIGINT))
	require.False(t, notes.Scan(), notes.Text())
	ended := false
	for lines.Scan() {
		ended = ended || strings.HasPrefix(lines.Text(), "In "+folder)
	}
	require.True(t, ended, "the run has its files")
	require.NoError(t, program.Wait())
}
