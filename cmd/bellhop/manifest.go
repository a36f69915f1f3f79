package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bellhop/adapters/discord"
	"bellhop/core/config"
)

// manifest is the command that prints a Slack app's manifest.
func manifest(cmd *cobra.Command, path, name string) error {
	c, err := adapterOf(path, name, "slack")
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(slackManifest(c), "", "  ")
	if err != nil {
		return err
	}
	fmt.Fprintln(cmd.OutOrStdout(), string(text))
	return nil
}

// slackManifest is what the app must be allowed and must be told, for this
// configuration. The order of the keys is no matter to Slack.
func slackManifest(c config.Adapter) map[string]any {
	type m = map[string]any
	slash := []m{{"command": c.Command, "description": "new, help, status, stop, retry", "usage_hint": "new | help | status | stop | retry", "should_escape": true}}
	if c.ShortCommands {
		slash = append(slash,
			m{"command": "/new", "description": "Start over: a fresh conversation here", "should_escape": true},
			m{"command": "/help", "description": "What I can do", "should_escape": true})
	}
	return m{
		"_metadata": m{"major_version": 2, "minor_version": 1},
		"display_information": m{
			"name": "Bellhop", "description": "A team of agents that works in your threads", "background_color": "#1d1c1d"},
		"features": m{
			"app_home": m{"home_tab_enabled": false, "messages_tab_enabled": true, "messages_tab_read_only_enabled": false},
			"bot_user": m{"display_name": "bellhop", "always_online": true},
			"agent_view": m{
				"agent_description": "Mention me in a channel or write to me here. Each thread is one task.",
				"suggested_prompts": []m{{"title": "What can you do?", "message": "help"}, {"title": "Show what is going on", "message": "status"}}},
			"shortcuts": []m{
				{"name": "Ask bellhop about this", "type": "message", "callback_id": "ask_about_message", "description": "Start from this message; works inside threads too"},
				{"name": "Fork from here", "type": "message", "callback_id": "fork_message", "description": "Begin again from this message, in its thread"},
				{"name": "Stop this task", "type": "message", "callback_id": "stop_thread", "description": "Stop what runs in this thread"}},
			"slash_commands": slash,
		},
		"oauth_config": m{"scopes": m{"bot": []string{
			"app_mentions:read", "assistant:write", "chat:write", "chat:write.customize", "commands",
			"channels:history", "channels:read", "groups:history", "groups:read",
			"im:history", "im:read", "im:write", "mpim:history", "mpim:read",
			"files:read", "files:write", "reactions:read", "reactions:write", "users:read"}}},
		"settings": m{
			"event_subscriptions": m{"bot_events": []string{
				"app_mention", "message.channels", "message.groups", "message.im", "message.mpim",
				"app_home_opened", "app_context_changed", "agent_session_stopped", "agent_session_title_changed",
				"reaction_added", "reaction_removed", "member_joined_channel", "channel_archive", "app_uninstalled", "tokens_revoked"}},
			"interactivity":          m{"is_enabled": true},
			"org_deploy_enabled":     false,
			"socket_mode_enabled":    true,
			"token_rotation_enabled": false,
		},
	}
}

// invite is the command that prints the link that installs a Discord bot.
func invite(cmd *cobra.Command, path, name string) error {
	c, err := adapterOf(path, name, "discord")
	if err != nil {
		return err
	}
	// A bot token begins with the application's id, in base-64.
	first, _, _ := strings.Cut(c.Token.Reveal(), ".")
	id, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(first, "="))
	if err != nil || len(id) == 0 || strings.Trim(string(id), "0123456789") != "" {
		return fmt.Errorf("the token of adapter %s is no Discord bot token: copy it again from the application's page Bot", name)
	}
	fmt.Fprintln(cmd.OutOrStdout(), discord.Invite(string(id)))
	return nil
}

// adapterOf finds the named adapter of a type; the type's name stands for the
// only one of it.
func adapterOf(path, name, kind string) (config.Adapter, error) {
	cfg, _, err := load(path)
	if err != nil {
		return config.Adapter{}, err
	}
	if c, ok := cfg.Adapters[name]; ok && c.Type == kind {
		return c, nil
	}
	var found []string
	for _, n := range slices.Sorted(maps.Keys(cfg.Adapters)) {
		if cfg.Adapters[n].Type == kind {
			found = append(found, n)
		}
	}
	switch {
	case len(found) == 1 && name == kind:
		return cfg.Adapters[found[0]], nil
	case len(found) == 0:
		return config.Adapter{}, &usageError{fmt.Errorf("no adapter of type %s is configured", kind)}
	}
	return config.Adapter{}, &usageError{fmt.Errorf("no adapter %s of type %s: there is %s", name, kind, strings.Join(found, ", "))}
}
