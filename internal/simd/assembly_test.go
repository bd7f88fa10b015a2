package simd

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/arch/arm64/arm64asm"
)

// assemblyNames returns the functions in assembly files that match a pattern, without the suffixes of instruction sets.
func assemblyNames(t *testing.T, pattern string) []string {
	t.Helper()
	var names []string
	for _, text := range assemblyFiles(t, pattern) {
		for _, f := range regexp.MustCompile(`(?m)^TEXT ·(\w+?)(?:AVX2|AVX512|NEON)\(SB\)`).FindAllStringSubmatch(text, -1) {
			names = append(names, f[1])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func assemblyFiles(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatal("no files", pattern, err)
	}
	var texts []string
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	return texts
}

// TestKernelsHaveNEON requires that only the kernels for blocks of GGUF files exist on amd64 but not on arm64.
func TestKernelsHaveNEON(t *testing.T) {
	has := append(assemblyNames(t, "*_neon_arm64.s"), "sunpackBlocks", "sdotBlocks", "sunpackGroup")
	missing := slices.DeleteFunc(assemblyNames(t, "*_amd64.s"), func(name string) bool {
		return slices.Contains(has, name)
	})
	if len(missing) > 0 {
		t.Error("kernels with AVX and without NEON:", strings.Join(missing, ", "))
	}
	if len(has) < 93 {
		t.Error("got", len(has)-3, "kernels of both types of element, want 90 or more")
	}
}

// TestWordsAreTheirInstructions decodes every instruction that the assembly has as a word, and compares it with the
// instruction in the comment.
func TestWordsAreTheirInstructions(t *testing.T) {
	seen := 0
	for _, text := range assemblyFiles(t, "*_neon_arm64.s") {
		for line := range strings.Lines(text) {
			if !strings.Contains(line, "WORD") {
				continue
			}
			seen++
			hex, want, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "WORD $"), " // ")
			code, err := strconv.ParseUint(hex, 0, 32)
			if err != nil {
				t.Fatal(line, err)
			}
			inst, err := arm64asm.Decode(binary.LittleEndian.AppendUint32(nil, uint32(code)))
			if err != nil {
				t.Errorf("%s: %v", strings.TrimSpace(line), err)
			} else if got := inst.String(); got != want {
				t.Errorf("%s: got %s, want %s", hex, got, want)
			}
		}
	}
	if seen < 1000 {
		t.Error("got", seen, "words, want 1000 or more")
	}
}
