package program

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// Only the part of mapped files that is in memory counts, without the files that are left out.
func TestResident(t *testing.T) {
	const smaps = `00400000-0141b000 r-xp 00000000 fe:00 10864880                           /usr/bin/attention
Size:              16492 kB
Rss:                9068 kB
Pss:                9068 kB
7f0000000000-7f0010000000 rw-p 00000000 fe:00 10864881                   /models/llama/model.safetensors
Rss:              262144 kB
12a938800000-12a939000000 rw-p 00000000 00:00 0 
Rss:                1912 kB
7fff00000000-7fff00010000 rw-p 00000000 00:00 0                          [stack]
Rss:                  12 kB
7fa5cbd34000-7fa5cbe8a000 r-xp 00026000 fe:00 326269                     /usr/lib/libc.so.6
Rss:                 816 kB
VmFlags: rd ex mr mw me sd
`
	require.Equal(t, (9068+816)<<10, resident([]byte(smaps), ".safetensors"))
	require.Zero(t, resident(nil, ""))
}

// Memory in use counts; memory that was freed does not.
func TestMemory(t *testing.T) {
	const size = 64 << 20
	before, _ := Memory("")
	block := make([]byte, size)
	with, _ := Memory("")
	require.InDelta(t, before+size, with, size/8)
	runtime.KeepAlive(block)
	after, _ := Memory("")
	require.InDelta(t, before, after, size/8)
}
