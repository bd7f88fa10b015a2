// Package testenv sets how much the tests draw and compare. It lets a random test leave no files, since a draw that
// failed once would be repeated by every later run: its failure prints the seed to repeat it with.
package testenv

import (
	"flag"
	"fmt"
	"os"

	_ "pgregory.net/rapid" // which defines the flags
)

// All reports whether the tests draw and compare all that they can, which takes some minutes more: ATTENTION_TESTS
// is "all", as in the checks of every change.
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
