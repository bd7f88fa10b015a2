package program

import (
	"bytes"
	"fmt"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strings"
)

// Memory returns the bytes that Go holds in this process, after it has returned unused memory to the system. files is
// the number of bytes of mapped files that are in memory, from /proc where it exists, without the files whose names end
// in except.
func Memory(except string) (held, files int) {
	debug.FreeOSMemory()
	sizes := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(sizes)
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		maps = nil
	}
	return int(sizes[0].Value.Uint64() - sizes[1].Value.Uint64()), resident(maps, except)
}

// resident returns the bytes of mapped files that are in memory, without the files whose names end in except.
func resident(smaps []byte, except string) (n int) {
	counted := false
	for line := range bytes.Lines(smaps) {
		var kib int
		if found, _ := fmt.Sscanf(string(line), "Rss: %d kB", &kib); found == 1 && counted {
			n += kib << 10
		}
		if fields := strings.Fields(string(line)); len(fields) > 0 && strings.Contains(fields[0], "-") { // a mapping
			last := fields[len(fields)-1]
			counted = strings.HasPrefix(last, "/") && !strings.HasSuffix(last, except)
		}
	}
	return n
}
