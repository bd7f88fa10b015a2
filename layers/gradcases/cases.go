package gradcases

import "slices"

// Cases returns the cases of all layers.
func Cases() []Case {
	return slices.Concat(linears(), embeddings(), dropouts(), variants(),
		attentions(), additives(), languageModels(), norms(), mlps(), blocks(), decoderBlocks(), gpts(), decoders(),
		seq2seqs(), grus(), rnnSeq2Seqs(), vits(), encoders(), encoderHeads(), similarities(), linearAttentions())
}
