package pretrained

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"attention/internal/config"
	"attention/internal/folder"
)

// The files of an adapter in PEFT's form.
const (
	adapterConfigName  = "adapter_config.json"
	adapterWeightsName = "adapter_model.safetensors"
)

// adapterPrefix begins the names of an adapter's tensors; loraA and loraB end them.
const (
	adapterPrefix = "base_model.model."
	loraA         = ".lora_A.weight"
	loraB         = ".lora_B.weight"
)

// headModule is PEFT's name for the output head of any family.
const headModule = adapterPrefix + "lm_head"

// adapterConfig is an adapter_config.json. null, {}, [] and false in PEFT's file become zeros here.
type adapterConfig struct {
	Type       string   `json:"peft_type"`
	Task       string   `json:"task_type"`
	Base       string   `json:"base_model_name_or_path"`
	Rank       int      `json:"r"`
	Alpha      float64  `json:"lora_alpha"`
	Dropout    float64  `json:"lora_dropout"`
	Stabilized bool     `json:"use_rslora"`
	Targets    any      `json:"target_modules"` // a list, or a pattern: the names of modules are in the file of weights
	Whole      []string `json:"modules_to_save"`
	Bias       string   `json:"bias"`
	Transposed bool     `json:"fan_in_fan_out"`
	Inference  bool     `json:"inference_mode"`
	Init       any      `json:"init_lora_weights"`
	Tied       bool     `json:"ensure_weight_tying"` // train head and token embeddings as one

	ranks, alphas []sizePattern // rank_pattern and alpha_pattern
}

// sizePattern is the rank or alpha of modules whose names a pattern matches.
type sizePattern struct {
	module *regexp.Regexp
	size   float64
}

// harmlessAdapterKeys are keys of an adapter_config.json that do not change the result of a trained adapter.
const harmlessAdapterKeys = `peft_type task_type base_model_name_or_path r lora_alpha lora_dropout use_rslora
	target_modules modules_to_save bias fan_in_fan_out inference_mode auto_mapping revision init_lora_weights peft_version
	megatron_core qalora_group_size runtime_config loftq_config eva_config corda_config ensure_weight_tying
	rank_pattern alpha_pattern lora_bias exclude_modules layers_to_transform layers_pattern`

// parseAdapter reads an adapter_config.json. Keys that would change the adapter's result and are not supported are
// errors.
func parseAdapter(contents []byte) (c adapterConfig, err error) {
	c = adapterConfig{Rank: 8, Alpha: 8, Bias: "none"}
	if err := config.Foreign.Decode(contents, &c); err != nil {
		return c, err
	}
	known := strings.Fields(harmlessAdapterKeys)
	patterns := map[string]*[]sizePattern{"rank_pattern": &c.ranks, "alpha_pattern": &c.alphas}
	for key, value := range config.Members(contents) {
		if of := patterns[key]; of != nil {
			if *of, err = parseSizes(value, key == "rank_pattern"); err != nil {
				return c, fmt.Errorf("%s: %w", key, err)
			}
		}
		if !slices.Contains(known, key) && !isNothing(value) {
			return c, fmt.Errorf("%.100s: got %s, want null or false: it is not supported", key, short(value))
		}
	}
	switch {
	case c.Type != "LORA":
		return c, fmt.Errorf("peft_type: got %.40q, want LORA", c.Type)
	case c.Task != "" && c.Task != "CAUSAL_LM":
		return c, fmt.Errorf("task_type: got %.40q, want CAUSAL_LM: only adapters of models that continue texts are read",
			c.Task)
	case changesBase(c.Init):
		return c, fmt.Errorf("init_lora_weights: got %.40q, want true, false or gaussian: it changes the model too", c.Init)
	case c.Rank < 1:
		return c, fmt.Errorf("r: got %d, want at least 1", c.Rank)
	case !(c.Alpha > 0):
		return c, fmt.Errorf("lora_alpha: got %v, want a number above 0", c.Alpha)
	}
	return c, nil
}

// parseSizes returns the patterns of a JSON object with their sizes, in order. Sizes must be integers if whole is true.
func parseSizes(object []byte, whole bool) (all []sizePattern, err error) {
	for key, value := range config.Members(object) {
		p := sizePattern{}
		if p.module, err = regexp.Compile(`^(.*\.)?(` + key + `)$`); err != nil {
			return nil, fmt.Errorf("got %.60q, want a regular expression of Go's package regexp", key)
		}
		if p.size, err = strconv.ParseFloat(string(value), 64); err != nil || !(p.size > 0 && p.size < math.MaxInt32) {
			return nil, fmt.Errorf("got %s of %.60q, want a number above 0", short(value), key)
		}
		if whole && p.size != math.Trunc(p.size) {
			return nil, fmt.Errorf("got %s of %.60q, want a whole number", short(value), key)
		}
		all = append(all, p)
	}
	return all, nil
}

// sizeOf returns the size of a module: that of the first pattern that matches its name, or else the default.
func sizeOf(patterns []sizePattern, module string, usual float64) float64 {
	for _, p := range patterns {
		if p.module.MatchString(module) {
			return p.size
		}
	}
	return usual
}

// size returns the rank, the alpha and the scale of the adapter of a module.
func (c *adapterConfig) size(module string) (rank int, alpha, scale float64) {
	module = strings.TrimPrefix(module, adapterPrefix)
	r, alpha := sizeOf(c.ranks, module, float64(c.Rank)), sizeOf(c.alphas, module, c.Alpha)
	if c.Stabilized {
		return int(r), alpha, alpha / math.Sqrt(r)
	}
	return int(r), alpha, alpha / r
}

// changesBase reports whether initialising adapters in this way changes the model's own weights.
func changesBase(init any) bool {
	name, _ := init.(string)
	name, _, _ = strings.Cut(strings.ToLower(name), "_") // pissa_niter_16, lora_ga
	return slices.Contains([]string{"pissa", "olora", "corda", "loftq", "lora"}, name)
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

// IsAdapter reports whether a folder holds an adapter in PEFT's form, and not a model.
func IsAdapter(dir string) bool {
	return isFile(filepath.Join(dir, adapterConfigName)) && !isFile(filepath.Join(dir, configName))
}

func isFile(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// AdapterBase returns the path or name of the base of the adapter in a folder.
func AdapterBase(dir string) (string, error) {
	c, err := readAdapterConfig(dir)
	return c.Base, err
}
