package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

func TestSecretIsNeverPrinted(t *testing.T) {
	const value = "canary-secret"
	holder := struct{ Token Secret }{value}
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	logger.Info("x", "token", holder.Token, "holder", holder)
	jsonText, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	tomlText, err := toml.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	all := fmt.Sprintf("%v %s %q %x %#v %+v %#v", holder.Token, holder.Token, holder.Token, holder.Token, holder.Token, holder, holder) +
		log.String() + string(jsonText) + string(tomlText)
	if strings.Contains(all, "canary") || strings.Contains(all, fmt.Sprintf("%x", value)) {
		t.Errorf("the secret is shown in %s", all)
	}
	if holder.Token.Reveal() != value {
		t.Errorf("Reveal() = %q", holder.Token.Reveal())
	}
}
