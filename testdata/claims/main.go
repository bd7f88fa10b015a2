// Claims runs the trainings whose figures README and manual give, with five seeds each, and prints tables of means and
// spreads:
//
//	go run ./testdata/claims tinyshakespeare.txt > testdata/claims/claims.md
//
// It takes about half an hour on two cores with AVX-512. Names after the text choose some of the tables: nano-char,
// bf16, speedrun, ingredients, translate and why. The name compare prints the tables of attention compare, which take
// two to three hours; flags after this name, such as --attention full,window, are passed on:
//
//	go run ./testdata/claims tinyshakespeare.txt compare > testdata/claims/compare.md
//
// Twins trains here and in PyTorch, and with nanoGPT's own program, whose folder NANOGPT names, in twenty minutes.
//
// Finetune tunes SmolLM2-135M-Instruct in a quarter of an hour. Its folder is given in place of the text:
//
//	go run ./testdata/claims smollm2 finetune > testdata/claims/finetune.md
//
// CLAIMS_FOLDER names a folder for the reports of compare and finetune: what is there is not trained again.
package main

import (
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const seeds = 5 // from 1 on

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 {
		log.Fatal("claims: got no file, want that of tiny Shakespeare")
	}
	text, err := filepath.Abs(os.Args[1])
	check(err)
	dir, err := os.MkdirTemp("", "claims")
	check(err)
	defer os.RemoveAll(dir)
	if kept := os.Getenv("CLAIMS_FOLDER"); kept != "" {
		dir, err = filepath.Abs(kept)
		check(err)
		check(os.MkdirAll(dir, 0o755))
	}
	c := claims{program: filepath.Join(dir, "attention"), dir: dir}
	build := exec.Command("go", "build", "-o", c.program, "./cmd/attention")
	build.Stderr = os.Stderr
	check(build.Run())
	parts, flags := os.Args[2:], []string(nil)
	if at := slices.IndexFunc(parts, func(part string) bool { return strings.HasPrefix(part, "--") }); at >= 0 {
		parts, flags = parts[:at], parts[at:]
	}
	if len(parts) == 0 {
		parts = []string{"nano-char", "bf16", "speedrun", "ingredients", "translate", "why"}
		fmt.Printf("# Figures of trainings\n\nMeans of seeds 1 to %d ± their standard deviation, and each seed's, by "+
			"`claims` beside this file.\nThe host and its kernels are below each table: other kernels add in another order, "+
			"so that a seed trains to another figure.\n", seeds)
	}
	for _, part := range parts {
		switch part {
		case "nano-char":
			c.nanoChar(text, "float32")
		case "bf16":
			c.nanoChar(text, "`--precision bf16`", "--precision", "bf16")
		case "speedrun":
			c.speedrun(text)
		case "ingredients":
			c.ingredients(text)
		case "twins":
			c.twins(text)
		case "translate":
			c.translate()
		case "why":
			c.why()
		case "finetune":
			c.finetune(text)
		case "compare":
			c.compare(text, flags)
		default:
			log.Fatalf("claims: got %q, want nano-char, bf16, speedrun, ingredients, twins, "+
				"translate, why, finetune or compare", part)
		}
		fmt.Printf("\nOn %s.\n", c.host())
	}
}

func check(err error) {
	if err != nil {
		log.Fatal("claims: ", err)
	}
}
