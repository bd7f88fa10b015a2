package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// question is a row of a file of talks.
type question struct {
	Task     string
	Messages []struct{ Role, Content string }
}

// The files of testdata/skills are always the same, and their answers are right. No question of the files valid and
// test occurs in another file. A model that counts words cannot tell the classes.
func TestSkills(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program and writes 20 MB")
	}
	files, again := skills(t), skills(t)
	require.Equal(t, files, again)
	taught := map[string]bool{}
	for line := range strings.Lines(files["text.txt"] + files["talks/train.jsonl"]) {
		for _, x := range arguments(line) {
			taught[x] = true
		}
	}
	require.Greater(t, len(taught), 10_000)
	for _, part := range []string{"train", "valid", "test"} {
		asked := map[string]bool{}
		for line := range strings.Lines(files["talks/"+part+".jsonl"]) {
			var q question
			require.NoError(t, json.Unmarshal([]byte(line), &q))
			said := q.Messages[0].Content
			x := arguments(said)[0]
			require.Equal(t, part == "train", taught[x], "%s: %s", part, line)
			require.False(t, asked[q.Task+x], "%s: twice: %s", part, line)
			asked[q.Task+x] = true
			require.Equal(t, rightAnswer(t, q.Task, x, said), q.Messages[1].Content, line)
		}
	}
	train, test := labelled(t, files["classes/train.tsv"]), labelled(t, files["classes/test.tsv"])
	for _, row := range test {
		require.NotContains(t, files["text.txt"], row[1])
		require.NotContains(t, files["classes/train.tsv"], row[1])
	}
	share := countingWords(train, test)
	t.Logf("counting words finds %.1f %%", 100*share)
	require.Less(t, share, 0.6)
	require.Greater(t, countingWords(train, train), 0.2, "it guesses at least")
}

// arguments returns the letters, digits or addends in a question.
func arguments(line string) (all []string) {
	words := strings.FieldsFunc(line, func(r rune) bool { return !('a' <= r && r <= 'z' || '0' <= r && r <= '9') })
	for from := 0; from < len(words); from++ {
		to := from
		for to < len(words) && len(words[to]) == 1 {
			to++
		}
		if w := words[from:]; len(w) > 2 && len(w[0]) == 2 && w[0] < "a" && w[1] == "and" && w[2] < "a" {
			to = from + 3
		}
		if to > from+1 {
			all = append(all, strings.Join(words[from:to], " "))
			from = to - 1
		}
	}
	return all
}

// skills returns the contents of the files that skills.go writes.
func skills(t *testing.T) map[string]string {
	dir := t.TempDir()
	require.NotEmpty(t, readFile(t, repository+"/testdata/skills/skills.go")) // so that go test notices changes of it
	write := exec.CommandContext(t.Context(), "go", "run", "testdata/skills/skills.go", dir)
	write.Dir = repository
	printed, err := write.CombinedOutput()
	require.NoError(t, err, "%s", printed)
	files := map[string]string{}
	for _, pattern := range []string{"*.*", "*/*.*"} {
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		require.NoError(t, err)
		for _, path := range paths {
			name, err := filepath.Rel(dir, path)
			require.NoError(t, err)
			content := readFile(t, path)
			files[filepath.ToSlash(name)] = content
			require.Contains(t, string(printed), fmt.Sprintf("%s: %d lines\n", path, strings.Count(content, "\n")))
		}
	}
	require.Len(t, files, 8)
	return files
}

// rightAnswer returns the answer to what is said about an argument.
func rightAnswer(t *testing.T, task, x, said string) string {
	words := strings.Fields(x)
	switch task {
	case "copy":
	case "reverse":
		slices.Reverse(words)
	case "sort":
		slices.Sort(words)
	case "count":
		z := regexp.MustCompile(`\b[a-z]\b`).FindString(said)
		return fmt.Sprint(strings.Count(x, z))
	case "sum":
		var a, b int
		_, err := fmt.Sscanf(x, "%d and %d", &a, &b)
		require.NoError(t, err)
		return fmt.Sprint(a + b)
	default:
		t.Fatal(task)
	}
	return strings.Join(words, " ")
}

// labelled returns the rows of a table of labels and texts.
func labelled(t *testing.T, table string) (rows [][2]string) {
	for _, line := range strings.Split(strings.TrimSpace(table), "\n") {
		label, text, ok := strings.Cut(line, "\t")
		require.True(t, ok, line)
		rows = append(rows, [2]string{label, text})
	}
	return rows
}

// countingWords returns the share of the rows of test for which logistic regression on word counts finds the right
// class.
func countingWords(train, test [][2]string) float64 {
	weights := map[string]map[string]float64{} // by class and word
	for _, row := range train {
		weights[row[0]] = map[string]float64{}
	}
	chances := func(text string) map[string]float64 {
		of, sum := map[string]float64{}, 0.0
		for class, w := range weights {
			score := 0.0
			for _, word := range strings.Fields(text) {
				score += w[word]
			}
			of[class] = math.Exp(score)
			sum += of[class]
		}
		for class := range of {
			of[class] /= sum
		}
		return of
	}
	for range 10 {
		for _, row := range train {
			for class, p := range chances(row[1]) {
				if class == row[0] {
					p--
				}
				for _, word := range strings.Fields(row[1]) {
					weights[class][word] -= 0.01 * p
				}
			}
		}
	}
	right := 0
	for _, row := range test {
		of := chances(row[1])
		compare := func(a, b string) int { return cmp.Compare(of[a], of[b]) }
		if row[0] == slices.MaxFunc(slices.Sorted(maps.Keys(of)), compare) {
			right++
		}
	}
	return float64(right) / float64(len(test))
}
