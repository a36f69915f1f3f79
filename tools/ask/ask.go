// Package ask is the tool with which a bot asks a person and waits for the
// answer. It imports core and tools.
package ask

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"bellhop/core"
	"bellhop/tools"
)

// What fits a chat: a question that a person reads at a glance, and labels that
// all platforms' buttons take (Slack: 75 characters, Discord: 80).
const (
	maxQuestion = 1500
	maxChoice   = 60
	maxChoices  = 8
)

type arguments struct {
	Question string   `json:"question" doc:"what you need to know, in one message that can be understood by itself"`
	Choices  []string `json:"choices,omitempty" doc:"short answers to choose from, at most 8, where there are some; people may answer in other words"`
}

// New is the tool ask_human. Its result is an answer that is still to come.
func New() core.Tool {
	spec := core.ToolSpec{
		Name:        "ask_human",
		Description: "Asks the person you work for and waits, for hours if need be; your work stops until the answer comes, which is the result. Ask only what you cannot find out or decide yourself, and all at once.",
		Status:      "asking a question",
		ReadOnly:    true,
		Idempotent:  true,
	}
	return tools.Func(spec, func(_ context.Context, _ *core.Env, in arguments) (core.ToolResult, error) {
		q, problem := question(in)
		if problem != "" {
			return core.ToolResult{Text: "Invalid arguments for ask_human: " + problem, Failed: true}, nil
		}
		return core.ToolResult{Question: &q}, nil
	})
}

func question(in arguments) (q core.Question, problem string) {
	q.Text = strings.TrimSpace(in.Question)
	switch n := utf8.RuneCountInString(q.Text); {
	case n == 0:
		return q, "question is empty"
	case n > maxQuestion:
		return q, fmt.Sprintf("question has %d characters; at most %d fit, so put the details into your text before the call", n, maxQuestion)
	case len(in.Choices) > maxChoices:
		return q, fmt.Sprintf("there are %d choices; at most %d", len(in.Choices), maxChoices)
	}
	for i, c := range in.Choices {
		c = strings.Join(strings.Fields(strings.Map(seen, c)), " ")
		n, err := strconv.Atoi(c)
		switch {
		case c == "":
			return q, "a choice is empty"
		case utf8.RuneCountInString(c) > maxChoice:
			return q, fmt.Sprintf("the choice %q has more than %d characters", c, maxChoice)
		case slices.ContainsFunc(q.Choices, func(have string) bool { return strings.EqualFold(have, c) }):
			return q, fmt.Sprintf("the choice %q is there twice", c)
		case err == nil && c == strconv.Itoa(n) && n != i+1 && 0 < n && n <= len(in.Choices):
			return q, fmt.Sprintf("the choice %q is a number, and people choose by number, too: it must be choice %d", c, n)
		}
		q.Choices = append(q.Choices, c)
	}
	return q, ""
}

// seen leaves out what cannot be seen: two choices must not look alike.
func seen(r rune) rune {
	if unicode.IsSpace(r) || unicode.IsGraphic(r) {
		return r
	}
	return -1
}
