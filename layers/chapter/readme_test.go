package chapter_test

import (
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"attention/internal/dense"
	"attention/internal/tensorprint"
	"attention/layers"
	"attention/layers/chapter"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// block is a Go block of the tutorial with its output: the comment at the end of a function, or a text block between it
// and the next Go block.
type block struct{ code, printed string }

// tutorial returns the tutorial as one text, with its second page in place of the heading that links to it.
func tutorial(t *testing.T) string {
	t.Helper()
	before, after, ok := strings.Cut(string(must(os.ReadFile("README.md"))), "\n## After the book\n")
	require.True(t, ok)
	return before + "\n" + string(must(os.ReadFile("afterbook.md"))) + after
}

func tutorialBlocks(t *testing.T) (blocks []block) {
	t.Helper()
	comment := regexp.MustCompile(`((?:\t//.*\n)+)}\n$`)
	parts := strings.Split(tutorial(t), "\n```go\n")
	for _, part := range parts[1:] {
		code, rest, ok := strings.Cut(part, "```\n")
		require.True(t, ok)
		_, printed, _ := strings.Cut(rest, "\n```text\n")
		printed, _, _ = strings.Cut(printed, "```\n")
		if match := comment.FindStringSubmatch(code); match != nil {
			require.Empty(t, printed)
			printed = regexp.MustCompile(`(?m)^\t// ?`).ReplaceAllString(match[1], "")
		}
		blocks = append(blocks, block{code, printed})
	}
	return blocks
}

// tutorialOutput compiles and runs a program.
func tutorialOutput(t *testing.T, program string) string {
	t.Helper()
	printed, err := exec.Command("go", "run", tutorialFile(t, program)).CombinedOutput()
	require.NoError(t, err, "%s", printed)
	return string(printed)
}

// tutorialFile writes a formatted program to a file.
func tutorialFile(t *testing.T, program string) string {
	t.Helper()
	require.Equal(t, string(must(format.Source([]byte(program)))), program)
	path := filepath.Join(t.TempDir(), "main.go")
	require.NoError(t, os.WriteFile(path, []byte(program), 0o600))
	return path
}

// laterImports are the imports that the tutorial's functions need besides those of the first program.
const laterImports = `	"math"

	"attention/graph"
	"attention/graph/mask"
	"attention/layers/chapter"
	"attention/train"

`

// TestTutorialPrograms: the tutorial's first program compiles; with all its functions it prints what the tutorial says,
// and so does the last program.
func TestTutorialPrograms(t *testing.T) {
	blocks := tutorialBlocks(t)
	frame, last := blocks[0], blocks[len(blocks)-1]
	const empty = "func main() {}\n"
	require.True(t, strings.HasSuffix(frame.code, empty))
	require.Empty(t, frame.printed)
	const mark = "== "
	program, calls := "", ""
	for _, b := range blocks[1 : len(blocks)-1] {
		name, _, ok := strings.Cut(strings.TrimPrefix(b.code, "func "), "()")
		require.True(t, ok, b.code)
		require.NotEmpty(t, b.printed, name)
		calls += fmt.Sprintf("\tfmt.Println(%q)\n\t%s()\n", mark+name, name)
		program += "\n" + b.code
	}
	frame.code = strings.TrimSuffix(frame.code, empty) + "func main() {\n" + calls + "}\n"
	wrong, err := exec.Command("go", "vet", tutorialFile(t, blocks[0].code)).CombinedOutput() // its main is empty
	require.NoError(t, err, "%s", wrong)
	frame.code = strings.Replace(frame.code, "import (\n", "import (\n"+laterImports, 1)
	for _, path := range strings.Fields(laterImports) {
		require.Contains(t, tutorial(t), "`"+strings.Trim(path, `"`)+"`")
	}
	printed := strings.Split(tutorialOutput(t, frame.code+program), mark)[1:]
	for i, b := range blocks[1 : len(blocks)-1] {
		name, text, _ := strings.Cut(printed[i], "\n")
		require.Equal(t, b.printed, strings.TrimRight(text, "\n")+"\n", name)
	}
	require.Equal(t, last.printed, tutorialOutput(t, last.code))
}

// TestTutorialSections: the tutorial has the walk's sections in their order.
func TestTutorialSections(t *testing.T) {
	var want []string
	for _, s := range chapter.Sections() {
		want = append(want, fmt.Sprintf("## %d. %s", s.Number, s.Title))
	}
	require.Equal(t, want, regexp.MustCompile(`(?m)^## \d+\. .*$`).FindAllString(tutorial(t), -1))
}

// TestTutorialNumbers: every number with decimals in the text is printed by a program or a section.
func TestTutorialNumbers(t *testing.T) {
	var printed strings.Builder
	for _, b := range tutorialBlocks(t) {
		printed.WriteString(b.printed)
	}
	eachStep(t, tensor.Float32, func(_ string, s chapter.Step) {
		if s.Value.Dtype() == tensor.Float32 && s.Value.Shape().TotalSize() < 1000 {
			printed.WriteString(tensorprint.Format(dense.Float64s(s.Value), s.Value.Shape()))
		}
	})
	text := regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(tutorial(t), "")
	const maximum = "2.0794" // log 8, the entropy of eight equal weights
	checked := 0
	for _, number := range regexp.MustCompile(`\d+\.\d{2,}`).FindAllString(text, -1) {
		if number != maximum {
			require.Contains(t, printed.String(), number)
			checked++
		}
	}
	require.Positive(t, checked)
}

// TestTutorialPictures: the pictures exist and are small. The command's tests check that it draws them.
func TestTutorialPictures(t *testing.T) {
	var shown []string
	for _, match := range regexp.MustCompile(`!\[[^\]]+\]\((pictures/[^)]+\.png)\)`).FindAllStringSubmatch(tutorial(t),
		-1) {
		shown = append(shown, match[1])
		require.Less(t, must(os.Stat(match[1])).Size(), int64(150_000), match[1])
	}
	require.ElementsMatch(t, shown, must(filepath.Glob("pictures/*")))
}

// TestTutorialTellsWhatIsLearnt: the table of the tutorial lists every parameter of the layers.
func TestTutorialTellsWhatIsLearnt(t *testing.T) {
	_, table, ok := strings.Cut(tutorial(t), "| | learnt | fixed or set |\n")
	require.True(t, ok)
	table, _, _ = strings.Cut(table, "\n\n")
	for _, name := range chapter.Names() {
		p := layers.NewBlankParams(tensor.Float32)
		must(chapter.New(p.Scope(""), chapter.Config{Layer: name, EmbedDim: 3, OutDim: 2, NumHeads: 2,
			QueryDim: 3, KeyDim: 3, AttnDim: 4}))
		for parameter := range p.Shapes() {
			parameter = regexp.MustCompile(`^heads\.\d\.`).ReplaceAllString(parameter, "")
			if !strings.HasPrefix(parameter, "out_proj") {
				parameter = strings.TrimSuffix(parameter, ".weight")
			}
			require.Contains(t, table, "`"+parameter+"`", name)
		}
	}
}
