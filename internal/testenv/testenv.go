// Package testenv sets how much the tests draw and compare. It prevents random tests from leaving files, because every
// later run would repeat a draw that failed once: a failure prints the seed for repeating it.
package testenv

import (
	"flag"
	"fmt"
	"os"

	_ "pgregory.net/rapid" // which defines the flags
)

// All reports whether the tests draw and compare as much as they can, which takes some minutes more: ATTENTION_TESTS is
// "all", as in the checks of every change.
var All = os.Getenv("ATTENTION_TESTS") == "all"

func init() {
	set("rapid.nofailfile", "true")
	if !All {
		set("rapid.checks", "40") // of 100; a fifth with -short
	}
}

func set(name, value string) {
	if err := flag.Set(name, value); err != nil {
		panic(fmt.Sprint("testenv: ", err))
	}
}
