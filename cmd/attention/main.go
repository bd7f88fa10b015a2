// Command attention trains small transformers, fine-tunes and runs published models, and shows the attention of each
// head. The models are Gorgonia expression graphs. See attention --help.
package main

import (
	"os"
	"strings"

	"attention/cmd/attention/internal/apply"
	"attention/cmd/attention/internal/bench"
	"attention/cmd/attention/internal/chapter"
	"attention/cmd/attention/internal/chat"
	"attention/cmd/attention/internal/classify"
	"attention/cmd/attention/internal/compare"
	"attention/cmd/attention/internal/embed"
	"attention/cmd/attention/internal/export"
	"attention/cmd/attention/internal/finetune"
	"attention/cmd/attention/internal/flags"
	"attention/cmd/attention/internal/generate"
	"attention/cmd/attention/internal/gradcheck"
	"attention/cmd/attention/internal/program"
	"attention/cmd/attention/internal/rank"
	"attention/cmd/attention/internal/runs"
	"attention/cmd/attention/internal/tag"
	"attention/cmd/attention/internal/term"
	"attention/cmd/attention/internal/tokenize"
	"attention/cmd/attention/internal/train"
	"attention/cmd/attention/internal/translate"
	"attention/cmd/attention/internal/view"
	"attention/cmd/attention/internal/why"

	"github.com/spf13/cobra"
)

func main() {
	program.Name = program.NameOf(os.Args[0])
	os.Exit(term.Main(newRoot()))
}

// newRoot returns the command tree. Commands print to their own OutOrStdout and return
// their errors; only main exits.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "attention",
		Short: "Trainable attention on Gorgonia",
		Long: "Train small transformers, fine-tune and run published models, and see where each\n" +
			"head attends.",
		Example: `  attention train --preset tiny --out runs/first
  attention generate --model runs/first --prompt "Attention "
  attention view --model runs/first --open`,
		Version:           program.Version(),
		PersistentPreRunE: check,
		SilenceErrors:     true,
		SilenceUsage:      true,
	}
	root.SetFlagErrorFunc(flags.CommandError)
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", ".FlagUsagesWrapped 80"))
	addGroup(root, "Train and use:", train.New(), generate.New(), chat.New(), finetune.New(), classify.New(),
		tag.New(), embed.New(), rank.New(), tokenize.New(), export.New(), runs.New())
	addGroup(root, "Look inside, learn:", view.New(), chapter.New(), why.New(), compare.New(), translate.New())
	addGroup(root, "Check:", gradcheck.New(), apply.New(), bench.New())
	cobra.EnableCommandSorting = false
	return root
}

// addGroup adds commands that help lists below a title.
func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, c := range commands {
		c.GroupID = title
	}
	root.AddCommand(commands...)
}

// check returns an error before a command runs if the chosen kernels do not exist, or if attention help, a command of
// Cobra, is asked about an unknown command.
func check(cmd *cobra.Command, args []string) error {
	if cmd.Name() == "help" {
		asked, rest, err := cmd.Root().Find(args)
		if err != nil {
			return err
		}
		if err := cobra.NoArgs(asked, rest); err != nil {
			return err
		}
	}
	return program.CheckKernels()
}
