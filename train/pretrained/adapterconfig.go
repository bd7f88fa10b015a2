package pretrained

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"attention/internal/config"
	"attention/internal/folder"
)

// The files of an adapter in PEFT's form.
const (
	adapterConfigName  = "adapter_config.json"
	adapterWeightsName = "adapter_model.safetensors"
)

// adapterPrefix stands before the names of an adapter's tensors, and the others end names.
const (
	adapterPrefix = "base_model.model."
	loraA         = ".lora_A.weight"
	loraB         = ".lora_B.weight"
)

// adapterConfig is an adapter_config.json. PEFT's null, {}, [] and false are the zeros here.
type adapterConfig struct {
	Type       string   `json:"peft_type"`
	Task       string   `json:"task_type"`
	Base       string   `json:"base_model_name_or_path"`
	Rank       int      `json:"r"`
	Alpha      float64  `json:"lora_alpha"`
	Dropout    float64  `json:"lora_dropout"`
	Stabilized bool     `json:"use_rslora"`
	Targets    any      `json:"target_modules"` // a list, or a pattern: the file of weights has the modules' names
	Whole      []string `json:"modules_to_save"`
	Bias       string   `json:"bias"`
	Transposed bool     `json:"fan_in_fan_out"`
	Inference  bool     `json:"inference_mode"`
	Init       any      `json:"init_lora_weights"`
}

// harmlessAdapterKeys are keys of an adapter_config.json that change no number of a trained adapter.
const harmlessAdapterKeys = `peft_type task_type base_model_name_or_path r lora_alpha lora_dropout use_rslora target_modules
	modules_to_save bias fan_in_fan_out inference_mode auto_mapping revision init_lora_weights peft_version
	megatron_core qalora_group_size runtime_config loftq_config eva_config corda_config ensure_weight_tying`

// parseAdapter reads an adapter_config.json, and refuses what would change what an adapter computes.
func parseAdapter(contents []byte) (c adapterConfig, err error) {
	c = adapterConfig{Rank: 8, Alpha: 8, Bias: "none"}
	if err := config.Foreign.Decode(contents, &c); err != nil {
		return c, err
	}
	known := strings.Fields(harmlessAdapterKeys)
	for key, value := range config.Members(contents) {
		if !slices.Contains(known, key) && !isNothing(value) {
			return c, fmt.Errorf("%.100s: got %s, want null or false: it is not supported", key, short(value))
		}
	}
	switch {
	case c.Type != "LORA":
		return c, fmt.Errorf("peft_type: got %.40q, want LORA", c.Type)
	case c.Bias != "none":
		return c, fmt.Errorf("bias: got %.40q, want none: biases are trained whole, as modules_to_save", c.Bias)
	case changesBase(c.Init):
		return c, fmt.Errorf("init_lora_weights: got %.40q, want true, false or gaussian: it changes the model too", c.Init)
	case c.Rank < 1:
		return c, fmt.Errorf("r: got %d, want at least 1", c.Rank)
	}
	return c, nil
}

// changesBase reports whether adapters that begin so have taken a part out of the model's weights.
func changesBase(init any) bool {
	name, _ := init.(string)
	name, _, _ = strings.Cut(strings.ToLower(name), "_") // pissa_niter_16
	return slices.Contains([]string{"pissa", "olora", "corda", "loftq"}, name)
}

// readAdapterConfig reads the adapter_config.json of a folder.
func readAdapterConfig(dir string) (c adapterConfig, err error) {
	contents, err := folder.ReadFile(filepath.Join(dir, adapterConfigName), folder.MaxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w, want the folder of an adapter, with %s and %s", err, adapterConfigName, adapterWeightsName)
	}
	if err != nil {
		return c, about(dir, err)
	}
	if c, err = parseAdapter(contents); err != nil {
		return c, about(dir, fmt.Errorf("%s: %w", adapterConfigName, err))
	}
	return c, nil
}

// IsAdapter reports whether a folder is that of an adapter in PEFT's form, and of no model.
func IsAdapter(dir string) bool {
	_, is := os.Stat(filepath.Join(dir, adapterConfigName))
	_, whole := os.Stat(filepath.Join(dir, configName))
	return is == nil && whole != nil
}

// AdapterBase returns the path or name of the model that the adapter in a folder is of.
func AdapterBase(dir string) (string, error) {
	c, err := readAdapterConfig(dir)
	return c.Base, err
}
