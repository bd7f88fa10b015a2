package train

// clip scales the gradients, whose norm as one vector is norm, by ClipNorm/(norm + 1e-6) if that is less than 1, as
// torch.nn.utils.clip_grad_norm_ does.
func (s *Step) clip(norm float64) {
	c := s.config.ClipNorm / (norm + 1e-6)
	if s.config.ClipNorm == 0 || c >= 1 {
		return
	}
	for i, p := range s.program.params {
		scalePart(p.Grad, p.Grad, s.own[i], c)
	}
}
