package pretrained_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"attention/graph"
	"attention/layers"
	"attention/train"
	"attention/train/loop"
	"attention/train/pretrained"
	"attention/train/text"

	"gorgonia.org/tensor"
)

// Fine-tuning in a program: a model's folder, adapters, examples, training steps with a context, and two results: a
// folder with only the adapter, and a folder with the merged model. With PyTorch, transformers and PEFT:
//
//	base = AutoModelForCausalLM.from_pretrained(folder)
//	model = get_peft_model(base, LoraConfig(r=4, lora_alpha=8, target_modules="all-linear", modules_to_save=["lm_head"]))
//	optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
//	for step, rows in zip(range(40), batches(examples)): # packing and the labels are the reader's
//		loss = model(**rows).loss
//		optimizer.zero_grad()
//		loss.backward()
//		optimizer.step()
//	model.save_pretrained("adapter")
//	model.merge_and_unload().save_pretrained("merged")
func Example() {
	folder, talks := smallModel()
	defer os.RemoveAll(filepath.Dir(folder))
	base, err := pretrained.ReadGPT(folder)
	check(err)
	check(base.Params.AddLoRA(layers.LoRAConfig{Rank: 4, Alpha: 8, Whole: []string{"lm_head"}}))
	base.Params.Widen() // parameters that are trained whole, converted from bfloat16
	examples, err := text.OpenExamples(talks)
	check(err)
	defer examples.Close()
	template, err := text.OpenTemplate(folder, text.Alpaca, base.Tokenizer)
	check(err)
	lessons, err := text.NewLessons(context.Background(), text.LessonConfig{Tokenizer: base.Tokenizer, Template: template,
		Ends: base.Ends})
	check(err)
	c := text.PackConfig{Batch: 1, Context: 256}
	rows, err := text.NewPacked(context.Background(), examples, lessons, c)
	check(err)

	var losses []float64
	l, err := loop.New(base.Params, text.PackedLoss(base.Model.PackedLoss), loop.Config{Steps: 40, StepConfig: train.StepConfig{Schedule: train.ScheduleConfig{Schedule: train.ConstantRate(0.02)}},
		OnStep: func(r train.StepResult) { losses = append(losses, r.Loss) }})
	check(err)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	check(l.Run(ctx, rows, nil))

	adapter, err := base.WriteAdapter(filepath.Join(folder, "adapter"), folder)
	check(err)
	merged, err := base.Write(filepath.Join(folder, "merged"), pretrained.WriteConfig{Format: pretrained.HuggingFace})
	check(err)
	fmt.Printf("%.1f and then %.1f nats\n%v\n%v\n", losses[0], losses[39], adapter, merged)
	// Output:
	// 5.7 and then 0.0 nats
	// [adapter_config.json adapter_model.safetensors]
	// [config.json model.safetensors tokenizer.json]
}

// smallModel writes the folder of a model, and a file of examples.
func smallModel() (folder, talks string) {
	dir, err := os.MkdirTemp("", "")
	check(err)
	folder, talks = filepath.Join(dir, "model"), filepath.Join(dir, "talks.jsonl")
	tokenizer, err := text.LearnBytePairs(strings.Repeat("Who loves Juliet? Romeo. ", 9), 270)
	check(err)
	p := layers.NewParams(tensor.Float32, 5)
	m, err := layers.NewDecoder(p.Scope(""), layers.DecoderConfig{VocabSize: 270, ContextLength: 256, NumLayers: 2,
		Blocks: []layers.BlockConfig{{
			Attention: layers.AttentionConfig{EmbedDim: 32, NumHeads: 2, RoPE: &graph.RoPEConfig{}},
			MLP:       layers.MLPConfig{DimFeedforward: 64, Activation: layers.SwiGLU},
			Norm:      layers.NormConfig{Kind: layers.RMSNorm},
		}}})
	check(err)
	_, err = (&pretrained.GPT{Model: m, Params: p, EndOfText: 269}).Write(folder,
		pretrained.WriteConfig{Format: pretrained.HuggingFace, Dtype: "bfloat16"})
	check(err)
	check(os.WriteFile(filepath.Join(folder, "tokenizer.json"), tokenizer, 0o644))
	check(os.WriteFile(talks, []byte(`{"prompt": "Who loves Juliet?", "completion": "Romeo."}`+"\n"), 0o644))
	return folder, talks
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
