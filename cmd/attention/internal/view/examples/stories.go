//go:build ignore

// Stories prints the text from which the model of names learns. In each story four people do something, again and
// again: when a name comes back, what followed it before tells what comes now.
package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
)

func main() {
	names := strings.Fields("Ann Tom Kim Bob Eva Max Lea Sam Mia Ben Zoe Jim Ida Leo Amy Dan")
	acts := strings.Fields("sings reads cooks swims sleeps paints runs writes dances waits plays laughs")
	r := rand.New(rand.NewPCG(1, 1))
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for range 16000 {
		people, does := r.Perm(len(names))[:4], r.Perm(len(acts))[:4]
		var story []string
		for range 12 {
			i := r.IntN(4)
			story = append(story, fmt.Sprintf("%s %s.", names[people[i]], acts[does[i]]))
		}
		fmt.Fprintln(out, strings.Join(story, " "))
	}
}
