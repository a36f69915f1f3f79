package coretest

import "bellhop/core/setting"

// settings are what people can choose from in a talk: the provider is that of
// the scripts.
func (sc *scene) settings() setting.Options {
	o := setting.Options{Bots: sc.bots, Agent: sc.agent, Bindings: sc.bindings, Providers: []string{"script"},
		Config: func() string { return "default_agent = \"" + sc.agent + "\"" }}
	for _, b := range sc.bots {
		o.Models = append(o.Models, b.Model)
	}
	return o
}
