package simd

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestChoose(t *testing.T) {
	amd64, arm64, plain := []Set{AVX512, AVX2}, []Set{NEON}, []Set(nil)
	without512 := func(p Set) string {
		if p == AVX512 {
			return "BMI2 and AVX512F"
		}
		return ""
	}
	old := func(Set) string { return "AVX2" }
	all := func(Set) string { return "" }
	const unknown = `ATTENTION_KERNELS: got "sse", want `
	for _, c := range []struct {
		reason      string
		name        string
		built       []Set
		lacked      func(Set) string
		set         Set
		passed, err string
	}{
		{"the best", "", amd64, all, AVX512, "[]", "<nil>"},
		{"what a processor lacks is told", "", amd64, without512, AVX2,
			"[avx512 passed over: the processor lacks BMI2 and AVX512F]", "<nil>"},
		{"no assembly fits", "", amd64, old, Go,
			"[avx512 passed over: the processor lacks AVX2 avx2 passed over: the processor lacks AVX2]", "<nil>"},
		{"the other processor", "", arm64, all, NEON, "[]", "<nil>"},
		{"a build without assembly", "", plain, all, Go, "[]", "<nil>"},
		{"the best by name", "avx512", amd64, all, AVX512, "[]", "<nil>"},
		{"another", "avx2", amd64, all, AVX2, "[avx512 passed over: ATTENTION_KERNELS=avx2]", "<nil>"},
		{"two reasons", "go", amd64, without512, Go, "[avx512 passed over: the processor lacks BMI2 and AVX512F " +
			"avx2 passed over: ATTENTION_KERNELS=go]", "<nil>"},
		{"unknown", "sse", amd64, all, AVX512, "[]", unknown + "go, avx2 or avx512"},
		{"unknown, and but one to choose", "sse", plain, all, Go, "[]", unknown + "go"},
		{"an empty word is no name", " ", arm64, all, NEON, "[]", `ATTENTION_KERNELS: got " ", want go or neon`},
		{"the case counts", "AVX2", amd64, all, AVX512, "[]",
			`ATTENTION_KERNELS: got "AVX2", want go, avx2 or avx512`},
		{"of another processor", "neon", amd64, all, AVX512, "[]",
			`ATTENTION_KERNELS: got "neon", which this build does not have, want go, avx2 or avx512`},
		{"not had by this processor", "avx512", amd64, without512, AVX2,
			"[avx512 passed over: the processor lacks BMI2 and AVX512F]",
			`ATTENTION_KERNELS: got "avx512", but the processor lacks BMI2 and AVX512F, want go or avx2`},
	} {
		got := choose(c.name, c.built, c.lacked)
		if got.set != c.set || fmt.Sprint(got.passed) != c.passed || fmt.Sprint(got.err) != c.err {
			t.Errorf("%s: got %v, %v, %v; want %v, %v, %v",
				c.reason, got.set, got.passed, got.err, c.set, c.passed, c.err)
		}
	}
}

// TestVariable runs this test in processes with other values of the variable.
func TestVariable(t *testing.T) {
	const child = "ATTENTION_TEST_CHILD"
	if os.Getenv(child) != "" {
		fmt.Printf("kernels: %s %v\n", InstructionSet(), Err())
		return
	}
	rows := map[string]string{"": Sets()[len(Sets())-1].String() + " <nil>"}
	for _, p := range Sets() {
		rows[p.String()] = p.String() + " <nil>"
	}
	rows["sve"] = Sets()[len(Sets())-1].String() + ` ATTENTION_KERNELS: got "sve", want `
	for value, want := range rows {
		c := exec.Command(os.Args[0], "-test.run=^TestVariable$")
		c.Env = append(os.Environ(), child+"=1", Variable+"="+value)
		printed, err := c.CombinedOutput()
		if err != nil || !strings.Contains(string(printed), "kernels: "+want) {
			t.Errorf("%s=%s: got %s, %v, want %s", Variable, value, printed, err, want)
		}
	}
}
