package train_test

import (
	"context"
	"fmt"

	"attention/graph"
	"attention/graph/mask"
	"attention/layers"
	"attention/train"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A classifier of sentences of different lengths: embedding, attention and pooling that ignore the padding, training,
// and the accuracy on new sentences. The same in PyTorch, which prints the same:
//
//	import torch
//	from torch import nn
//	from torch.nn.functional import cross_entropy
//
//	class Classifier(nn.Module):
//		def __init__(self):
//			super().__init__()
//			self.embedding = nn.Embedding(16, 8, padding_idx=0)
//			self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
//			self.output = nn.Linear(8, 2)
//
//		def forward(self, ids):
//			x = self.embedding(ids)  # (B, T, E)
//			x, _ = self.attention(x, x, x, key_padding_mask=ids == 0)
//			m = (ids != 0).unsqueeze(-1)
//			return self.output((x * m).sum(1) / m.sum(1))  # (B, 2)
//
//	def reviews(first, n):
//		ids, labels = torch.zeros(n, 9, dtype=torch.long), torch.zeros(n, dtype=torch.long)
//		for row in range(n):
//			i = first + row
//			length = 3 + i * 7 % 7
//			for t in range(length):
//				ids[row, t] = 4 + (i * i + t * 5) % 12
//			ids[row, i * 5 % length] = 1 + i % 2  # good or bad
//			if i % 3 == 0:
//				ids[row, (i * 5 + 1) % length] = 3  # not
//			labels[row] = (i + (i % 3 == 0)) % 2
//		return ids, labels
//
//	torch.manual_seed(123)
//	model = Classifier()
//	optimizer = torch.optim.AdamW(model.parameters(), lr=0.005, weight_decay=0)
//	ids, labels = reviews(0, 192)
//	for step in range(61):
//		rows = slice(step % 6 * 32, step % 6 * 32 + 32)
//		loss = cross_entropy(model(ids[rows]), labels[rows])
//		optimizer.zero_grad()
//		loss.backward()
//		optimizer.step()
//		if step % 20 == 0:
//			print(f"step {step}: loss {loss.item():.4f}")
//	model.eval()
//	ids, labels = reviews(192, 64)
//	with torch.no_grad():
//		accuracy = (model(ids).argmax(-1) == labels).float().mean()
//	print(f"accuracy {accuracy:.3f}")
func ExampleAccuracy() {
	p := layers.NewParams(tensor.Float32, 123)
	embedding, err := layers.NewEmbedding(p.Scope("embedding"),
		layers.EmbeddingConfig{NumEmbeddings: 16, EmbeddingDim: 8, PaddingIdx: new(0)})
	check(err)
	attention, err := layers.NewAttention(p.Scope("attention"),
		layers.AttentionConfig{EmbedDim: 8, NumHeads: 2, QKVBias: true, OutBias: true, Layout: layers.Torch})
	check(err)
	output, err := layers.NewLinear(p.Scope("output"), layers.LinearConfig{InFeatures: 8, OutFeatures: 2, Bias: true})
	check(err)
	logits := func(b *layers.Build, in layers.Inputs) []*gorgonia.Node {
		unpadded := mask.KeyLengths{Lengths: in["lengths"]}
		x := b.Of(embedding.Forward(b, in["ids"])) // (B, T, E)
		x = b.Of(attention.Attend(b, layers.AttentionInput{Query: x, Mask: unpadded}))
		return b.Nodes(output.Forward(b, b.Of(graph.MaskedMean(x, unpadded)))) // (B, 2)
	}
	step, err := train.NewStepFunc(p, func(b *layers.Build, in layers.Inputs) []*gorgonia.Node {
		return b.Nodes(graph.CrossEntropy(logits(b, in)[0], in["labels"], graph.CrossEntropyConfig{}))
	}, train.StepConfig{Schedule: train.ConstantRate(0.005)})
	check(err)
	batches, err := train.NewBatches(reviews(0, 192), train.BatchConfig{BatchSize: 32})
	check(err)
	for n := range 61 {
		batch, err := batches.Next()
		check(err)
		l, err := step.Run(batch.Inputs)
		check(err)
		if n%20 == 0 {
			fmt.Printf("step %d: loss %.4f\n", n, l)
		}
	}

	f, err := layers.NewFunc(p, logits, layers.FuncConfig{})
	check(err)
	test := reviews(192, 64)
	scores, err := f.Call(context.Background(), test)
	check(err)
	accuracy, err := train.Accuracy(scores[0], test["labels"])
	check(err)
	fmt.Printf("accuracy %.3f\n", accuracy)
	// Output:
	// step 0: loss 0.6256
	// step 20: loss 0.2646
	// step 40: loss 0.0241
	// step 60: loss 0.0010
	// accuracy 1.000
}

// reviews returns generated reviews: good, bad, or negations of these, among words without meaning.
func reviews(first, n int) train.Values {
	ids, lengths, labels := make([]int, n*9), make([]int, n), make([]int, n)
	for row := range n {
		i, words := first+row, ids[row*9:]
		lengths[row] = 3 + i*7%7
		for t := range lengths[row] {
			words[t] = 4 + (i*i+t*5)%12
		}
		words[i*5%lengths[row]], labels[row] = 1+i%2, i%2 // good or bad
		if i%3 == 0 {
			words[(i*5+1)%lengths[row]], labels[row] = 3, 1-i%2 // not
		}
	}
	return train.Values{"ids": tensor.New(tensor.WithShape(n, 9), tensor.WithBacking(ids)),
		"lengths": tensor.New(tensor.WithBacking(lengths)), "labels": tensor.New(tensor.WithBacking(labels))}
}
