package train

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/term"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// every is the name for all themes of the help together.
const every = "all"

const summary = `Train a language model on a text: --model layer, the default, which is one
attention layer between embeddings and a projection, or --model gpt, GPT-2's
architecture in any size. Without --text it learns from a text in the program.`

const example = `  attention train
  attention train --preset tiny --out runs/first --view --open
  attention train --text novel.txt --layer causal --width 96 --out runs/novel
  attention train --preset nano-char --text tinyshakespeare.txt
  attention train --preset gpt2 --init gpt2 --text novel.txt --context 256
  attention train --config runs/novel/config.json --dropout 0.1
  attention train --config runs/novel/config.json --freeze tokens --best
  attention train --solver sgd --momentum 0.9
  attention train --resume runs/novel
  attention train --resume runs/novel --steps 4000`

// addHelp makes --help print the list of themes, --help THEME one theme, and --help all every theme.
func addHelp(cmd *cobra.Command) {
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		asked := strings.Join(cmd.Flags().Args(), " ")
		at := slices.IndexFunc(themes, func(t theme) bool { return t.name == asked })
		switch {
		case asked == every:
			cmd.Long = allText()
			cmd.Root().HelpFunc()(cmd, nil)
		case at >= 0:
			themes[at].print(cmd.OutOrStdout(), cmd.Flags())
		default:
			if asked != "" {
				program.Note(cmd.ErrOrStderr(), "train: --help: got %q, want %s", asked, themeNames())
			}
			printThemes(cmd.OutOrStdout())
		}
	})
}

func themeNames() string {
	var names []string
	for _, t := range themes {
		names = append(names, t.name)
	}
	return strings.Join(append(names, every), ", ")
}

// allText returns the texts of all themes.
func allText() string {
	var texts []string
	for _, t := range themes {
		texts = append(texts, strings.ToUpper(t.name)+": "+t.title+".\n\n"+t.text)
	}
	return summary + "\n\n" + strings.Join(texts, "\n\n")
}

// printThemes prints the first page of the help.
func printThemes(w io.Writer) {
	fmt.Fprintf(w, "%s\n\nUsage:\n  attention train [flags]\n\nExamples:\n%s\n\nFlags by theme:\n", summary, example)
	for _, t := range themes {
		fmt.Fprintf(w, "  %-10s  %s\n", t.name, t.title)
		fmt.Fprint(w, term.Fill(strings.Repeat(" ", 14), t.flagPhrases()...))
	}
	fmt.Fprint(w, "\n", term.Fill("", "More of a theme, with its flags' defaults:",
		program.Command("train", "--help", "THEME")+".",
		"All:", program.Command("train", "--help", every)+"."))
}

func (t theme) flagPhrases() (phrases []string) {
	for _, name := range strings.Fields(t.flags) {
		phrases = append(phrases, "--"+name)
	}
	return phrases
}

// print prints the text and the flags of a theme.
func (t theme) print(w io.Writer, from *pflag.FlagSet) {
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	set.SortFlags = false
	for _, name := range strings.Fields(t.flags) {
		set.AddFlag(from.Lookup(name))
	}
	fmt.Fprintf(w, "%s\n\nFlags:\n%s", t.text, set.FlagUsagesWrapped(term.Columns))
}
