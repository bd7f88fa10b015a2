//go:build mpi && (amd64 || arm64)

package parallel

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// await waits until MPI has started, which happens when all processes have joined. If a process ends before, because it
// prints help or fails, MPI would wait for ever; Open MPI ends the others only if they joined first.
func (l *launcher) await(began <-chan error) error {
	const every, patience = 250 * time.Millisecond, 3 * time.Second // a process may not have started yet
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for gone := time.Duration(0); ; {
		select {
		case err := <-began:
			return err
		case <-ticker.C:
		}
		left := l.left()
		if left == "" {
			gone = 0
		} else if gone += every; gone >= patience {
			return fmt.Errorf("%s: %s has ended without joining the other processes, want all to do the same",
				l.name, left)
		}
	}
}

// left returns the name of a process of this machine that has ended, or "". Running processes are children of the
// launcher and have their ranks in their environments.
func (l *launcher) left() string {
	if l.sharing < 2 {
		return ""
	}
	parent := os.Getppid()
	for l.rankOf(parent) != "" { // a script between the launcher and this process
		var ok bool
		if parent, ok = parentOf(parent); !ok {
			return ""
		}
	}
	stats, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return ""
	}
	var here []string
	for _, path := range stats {
		pid, err := strconv.Atoi(filepath.Base(path))
		if err != nil {
			continue
		}
		if of, ok := parentOf(pid); ok && of == parent {
			if rank := l.rankOf(pid); rank != "" {
				here = append(here, rank)
			}
		}
	}
	if len(here) == 0 || len(here) >= l.sharing {
		return "" // either none can be seen, or all
	}
	if l.sharing < l.size {
		return "a process of this machine"
	}
	for rank := range l.size {
		if !slices.Contains(here, strconv.Itoa(rank)) {
			return fmt.Sprintf("rank %d", rank)
		}
	}
	return ""
}

// rankOf returns the rank in the environment that a process was started with, or "".
func (l *launcher) rankOf(pid int) string {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return ""
	}
	for variable := range bytes.SplitSeq(env, []byte{0}) {
		if rank, ok := strings.CutPrefix(string(variable), l.ranked+"="); ok {
			return rank
		}
	}
	return ""
}

// parentOf returns the parent of a process that has not ended.
func parentOf(pid int) (parent int, ok bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // after the program's name
	if len(fields) < 2 || fields[0] == "Z" || fields[0] == "X" {
		return 0, false
	}
	parent, err = strconv.Atoi(fields[1])
	return parent, err == nil
}
