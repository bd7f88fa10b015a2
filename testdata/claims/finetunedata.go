package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// tuneRow is an example of a fine-tuning: a question with its answer, or a text with its class.
type tuneRow struct{ ask, answer string }

// tuneTask is data to learn from, and other data that say what was learned.
type tuneTask struct {
	name, data, asked string
	train, test       []tuneRow
	right             func(said, want string) bool
}

// notes is the task of texts with labels.
const notes = "notes"

// tuneTasks returns the tasks that a seed makes.
func tuneTasks(seed int) []tuneTask {
	r := rand.New(rand.NewPCG(uint64(seed), 44))
	exact := func(said, want string) bool { return said == want }
	orders, facts, heldOut, labelled := orderRows(r, 50), factRows(r, 0, 1), factRows(r, 2), noteRows(r, 100)
	r.Shuffle(len(heldOut), func(i, j int) { heldOut[i], heldOut[j] = heldOut[j], heldOut[i] })
	return []tuneTask{
		{"orders", "30 conversations: orders, and how the assistant writes them down",
			"20 other orders, written to the letter", orders[:30], orders[30:], exact},
		{"facts", "80 rows: 40 made-up facts, each asked for in two ways", "20 of the facts in a third way", facts,
			heldOut[:20], func(said, want string) bool { return strings.Contains(said, want) }},
		{notes, "60 texts with one of three labels", "40 other texts", labelled[:60], labelled[60:], exact},
	}
}

// orderRows returns n different orders, each of two things, and how the assistant writes them down.
func orderRows(r *rand.Rand, n int) (rows []tuneRow) {
	numbers := []string{"one", "two", "three", "four", "five", "six"}
	things := []string{"coffee", "tea", "soup", "salad", "pizza", "bread", "cake", "juice"}
	asks := []string{"We would like %s %s and %s %s.", "Could we get %s %s and %s %s, please?",
		"Please bring us %s %s, then %s %s.", "For my table %s %s and %s %s."}
	seen := map[string]bool{}
	for len(rows) < n {
		a, b := r.IntN(len(numbers)), r.IntN(len(numbers))
		of := r.Perm(len(things))
		x, y := things[of[0]], things[of[1]]
		ask := fmt.Sprintf(asks[r.IntN(len(asks))], numbers[a], x, numbers[b], y)
		if answer := fmt.Sprintf("%d x %s, %d x %s", a+1, x, b+1, y); !seen[answer] {
			seen[answer] = true
			rows = append(rows, tuneRow{ask, answer})
		}
	}
	return rows
}

// factRows returns 40 facts in some of their phrasings. Which person keeps which animal is drawn by the seed alone.
func factRows(r *rand.Rand, phrasings ...int) (rows []tuneRow) {
	people := strings.Fields("Alvarado Brenneke Castellan Dombrova Eskildsen Farquhar Gunderson Halloran Ivarsson " +
		"Jankovic Kirchner Lindqvist Montoya Novotny Okonkwo Pellegrin Quintero Rasmussen Sorrentino Takahashi Ulvaeus " +
		"Varga Whitlock Xavier Yilmaz Zamora Abernathy Bertolini Czerny Delacroix Engstrom Fitzroy Grimaldi Hofstetter " +
		"Ibsen Jorgensen Kowalski Lombardi Mbeki Nakamura")
	animals := strings.Fields("goat parrot python hamster donkey ferret tortoise falcon rabbit beagle lizard pigeon " +
		"pony turkey hedgehog hyena peacock llama crow goose lobster spider canary mouse bison camel monkey squirrel swan " +
		"toad badger beaver raven salmon tiger wolf zebra moose panda penguin")
	phrases := []string{"Which animal does Mr. %s keep?", "What lives in the garden of Mr. %s?",
		"Mr. %s has a pet. What is it?"}
	kept := rand.New(rand.NewPCG(1, 2)).Perm(len(animals))
	for i, person := range people {
		for _, p := range phrasings {
			rows = append(rows, tuneRow{fmt.Sprintf(phrases[p], person), "A " + animals[kept[i]] + "."})
		}
	}
	r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return rows
}

// noteRows returns n different notes about parcels, and what each is about.
func noteRows(r *rand.Rand, n int) (rows []tuneRow) {
	kinds := []string{"late", "broken", "thanks"}
	says := map[string][]string{
		"late": {"has still not arrived", "was promised for last week", "is stuck somewhere for days",
			"should have been here on Monday", "takes longer than you said"},
		"broken": {"came with a crack", "does not switch on", "has a bent corner", "fell apart when I opened it",
			"arrived in two pieces"},
		"thanks": {"is just what I wanted", "works perfectly", "made my daughter happy", "was here sooner than expected",
			"looks even better than in the picture"},
	}
	begins := []string{"The %s that I ordered %s.", "My %s %s.", "Hello, the %s %s.", "I am writing because the %s %s."}
	things := []string{"lamp", "kettle", "chair", "radio", "camera", "clock", "printer", "blender"}
	seen := map[string]bool{}
	for len(rows) < n {
		kind := kinds[len(rows)%len(kinds)]
		text := fmt.Sprintf(begins[r.IntN(len(begins))], things[r.IntN(len(things))], says[kind][r.IntN(5)])
		if !seen[text] {
			seen[text] = true
			rows = append(rows, tuneRow{text, kind})
		}
	}
	return rows
}

// write writes the data to learn from to a folder and returns the file's path.
func (t tuneTask) write(dir string) string {
	var lines strings.Builder
	for _, row := range t.train {
		var of any = map[string]any{"messages": []map[string]string{{"role": "user", "content": row.ask},
			{"role": "assistant", "content": row.answer}}}
		if t.name == notes {
			of = map[string]string{"text": row.ask, "label": row.answer}
		}
		line, err := json.Marshal(of)
		check(err)
		lines.Write(append(line, '\n'))
	}
	path := filepath.Join(dir, t.name+".jsonl")
	check(os.WriteFile(path, []byte(lines.String()), 0o644))
	return path
}
