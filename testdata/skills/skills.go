//go:build ignore

// Skills writes what a small model is pretrained and tuned on: five skills and four classes.
//
//	go run testdata/skills/skills.go DIR
//
// text.txt shows them in sentences. talks has conversations that ask for the skills in other words, and classes has
// sentences whose class is the animal that is chased, which only the order of the words tells. The arguments of valid
// and test stand nowhere else, in no order of their words. The files are the same each time.
package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"log"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// sentences is how many text.txt has.
const sentences = 150_000

// parts are the files of talks and classes, with their rows of each skill and of classes.
var parts = []struct {
	name string
	rows int
}{{"train", 2000}, {"valid", 100}, {"test", 200}}

// template is how a model reads a conversation.
const template = `{% for m in messages %}{% if m.role == 'assistant' %}A: {{ m.content }}{{ eos_token }}
{% else %}Q: {{ m.content }}
{% endif %}{% endfor %}{% if add_generation_prompt %}A:{% endif %}`

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("skills: got other arguments than a folder, want one")
	}
	if err := write(os.Args[1]); err != nil {
		log.Fatal("skills: ", err)
	}
}

// example is an argument with its answer.
type example struct{ x, z, y string }

// fill puts an example into a form of words.
func (e example) fill(form string) string {
	return strings.NewReplacer("{x}", e.x, "{y}", e.y, "{z}", e.z).Replace(form)
}

// skill is something to learn. share is how often text.txt has it; asks is how one asks for it, and tells is how
// text.txt shows it.
type skill struct {
	name        string
	share       int
	draw        func(r *rand.Rand) example
	asks, tells []string
}

// skills are all of them; the classes come from the last one.
var skills = []skill{
	{name: "copy", share: 1, draw: copied, asks: []string{"Copy {x}", "Repeat {x}"},
		tells: []string{"the echo of {x} is {y}", "{x} and once more {y}", "whoever hears {x} says {y}"}},
	{name: "reverse", share: 2, draw: reversed, asks: []string{"Reverse {x}", "Turn {x} around"},
		tells: []string{"the mirror of {x} is {y}", "{x} from the end is {y}", "whoever reads {x} backwards says {y}"}},
	{name: "count", share: 3, draw: counted, asks: []string{"Count {z} in {x}", "How often is {z} in {x}?"},
		tells: []string{"the number of {z} among {x} is {y}", "{x} shows {z} as many times as {y}",
			"whoever looks for {z} among {x} finds {y}"}},
	{name: "sort", share: 2, draw: sorted, asks: []string{"Sort {x}", "Put {x} in order"},
		tells: []string{"the row of {x} is {y}", "{x} from low to high is {y}", "whoever lines up {x} gets {y}"}},
	{name: "sum", share: 4, draw: added, asks: []string{"Add {x}", "What is the sum of {x}?"},
		tells: []string{"the total of {x} is {y}", "{x} together are {y}", "whoever gets {x} owns {y}"}},
	{name: "chased", share: 3, draw: chased,
		tells: []string{"{x}, so the {y} ran away", "{x} and the {y} was afraid", "{x} until the {y} hid"}},
}

// letters draws from n letters, all different.
func letters(r *rand.Rand, n int) (all []string) {
	for _, i := range r.Perm(26)[:n] {
		all = append(all, string(rune('a'+i)))
	}
	return all
}

func copied(r *rand.Rand) example {
	x := strings.Join(letters(r, 3+r.IntN(4)), " ")
	return example{x: x, y: x}
}

func reversed(r *rand.Rand) example {
	all := letters(r, 3+r.IntN(4))
	x := strings.Join(all, " ")
	slices.Reverse(all)
	return example{x: x, y: strings.Join(all, " ")}
}

func counted(r *rand.Rand) example {
	n := 3 + r.IntN(3)
	times := 1 + r.IntN(3)
	all := letters(r, n-times+1)
	z := all[0]
	for len(all) < n {
		all = append(all, z)
	}
	r.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
	return example{x: strings.Join(all, " "), z: z, y: strconv.Itoa(times)}
}

func sorted(r *rand.Rand) example {
	var all []string
	for _, i := range r.Perm(10)[:3+r.IntN(3)] {
		all = append(all, strconv.Itoa(i))
	}
	return example{x: strings.Join(all, " "), y: strings.Join(slices.Sorted(slices.Values(all)), " ")}
}

// added draws two numbers of two digits whose sum has two digits.
func added(r *rand.Rand) example {
	for {
		if a, b := 10+r.IntN(80), 10+r.IntN(80); a+b < 100 {
			return example{x: fmt.Sprintf("%d and %d", a, b), y: strconv.Itoa(a + b)}
		}
	}
}

// chased draws a sentence of four animals, one of which is chased.
func chased(r *rand.Rand) example {
	animals := []string{"dog", "cat", "fox", "hen"}
	r.Shuffle(4, func(i, j int) { animals[i], animals[j] = animals[j], animals[i] })
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	like := func(animal string) string {
		return "the " + pick("", "", "old ", "small ", "grey ", "young ", "quick ", "tired ") + animal
	}
	clause := func(verb, who, whom string) string {
		return pick(who+" "+verb+" "+whom, whom+" was "+verb+" by "+who)
	}
	clauses := []string{clause("chased", like(animals[0]), like(animals[1])),
		clause("watched", like(animals[2]), like(animals[3]))}
	r.Shuffle(2, func(i, j int) { clauses[i], clauses[j] = clauses[j], clauses[i] })
	return example{x: strings.Join(clauses, " while "), y: animals[1]}
}

// part returns the part that an argument belongs to, whatever the order of its words is.
func part(argument string) string {
	sum := fnv.New32a()
	fmt.Fprint(sum, slices.Sorted(slices.Values(strings.Fields(argument))))
	switch sum.Sum32() % 10 {
	case 0:
		return "test"
	case 1:
		return "valid"
	}
	return "train"
}

// in draws an example of a part.
func (s skill) in(name string, r *rand.Rand) example {
	for {
		if e := s.draw(r); part(e.x) == name {
			return e
		}
	}
}

// row is a conversation.
type row struct {
	Task     string    `json:"task"`
	Messages []message `json:"messages"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// write writes all files.
func write(dir string) error {
	r := rand.New(rand.NewPCG(1, 2))
	files := map[string]string{"talks.jinja": template, "text.txt": text(r)}
	for _, p := range parts {
		talks, classes := &strings.Builder{}, &strings.Builder{}
		lines, seen := json.NewEncoder(talks), map[string]bool{}
		for i := range len(skills) * p.rows {
			s := skills[i%len(skills)]
			e := s.in(p.name, r)
			for seen[s.name+e.x] {
				e = s.in(p.name, r)
			}
			seen[s.name+e.x] = true
			if s.asks == nil {
				fmt.Fprintf(classes, "%s\t%s\n", e.y, e.x)
				continue
			}
			asked := message{"user", e.fill(s.asks[r.IntN(len(s.asks))])}
			if err := lines.Encode(row{s.name, []message{asked, {"assistant", e.y}}}); err != nil {
				return err
			}
		}
		files["talks/"+p.name+".jsonl"], files["classes/"+p.name+".tsv"] = talks.String(), classes.String()
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(files[name]), 0o644); err != nil {
			return err
		}
		fmt.Printf("%s: %d lines\n", path, strings.Count(files[name], "\n"))
	}
	return nil
}

// text returns sentences that show the skills, each a text of its own.
func text(r *rand.Rand) string {
	var mix []skill
	for _, s := range skills {
		mix = append(mix, slices.Repeat([]skill{s}, s.share)...)
	}
	var all strings.Builder
	for range sentences {
		s := mix[r.IntN(len(mix))]
		all.WriteString(s.in("train", r).fill(s.tells[r.IntN(len(s.tells))]) + "<|endoftext|>\n")
	}
	return all.String()
}
