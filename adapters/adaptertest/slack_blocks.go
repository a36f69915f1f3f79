package adaptertest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// slackBlock is one block of a message: the fields that are looked at.
type slackBlock struct {
	Type      string          `json:"type"`
	ID        string          `json:"block_id,omitempty"`
	Text      json.RawMessage `json:"text,omitempty"` // a string in a markdown block, else a text object
	Fields    []slackText     `json:"fields,omitempty"`
	Accessory *slackElement   `json:"accessory,omitempty"`
	Elements  []slackElement  `json:"elements,omitempty"`
	Rows      [][]slackCell   `json:"rows,omitempty"`
	AltText   string          `json:"alt_text,omitempty"`

	raw json.RawMessage
}

// slackText is a text object.
type slackText struct {
	Type string `json:"type"` // plain_text, mrkdwn
	Text string `json:"text"`
}

// slackElement is an element of a block: of actions, context and rich text.
type slackElement struct {
	Type     string          `json:"type"`
	ActionID string          `json:"action_id,omitempty"`
	Text     json.RawMessage `json:"text,omitempty"` // a text object, or a string
	Value    string          `json:"value,omitempty"`
	URL      string          `json:"url,omitempty"`
	UserID   string          `json:"user_id,omitempty"`
	Range    string          `json:"range,omitempty"` // of a broadcast
	Name     string          `json:"name,omitempty"`  // of an emoji
	Elements []slackElement  `json:"elements,omitempty"`
}

// slackCell is a cell of a table; null is an empty one.
type slackCell struct {
	Type     string         `json:"type"`
	Text     string         `json:"text,omitempty"`
	Elements []slackElement `json:"elements,omitempty"`
}

// object reads a text object.
func object(raw json.RawMessage) (t slackText) {
	if json.Unmarshal(raw, &t) != nil {
		return slackText{}
	}
	return t
}

// str reads a string.
func str(raw json.RawMessage) (s string) {
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// The limits of blocks, in characters where they are of texts. Markdown is
// limited for all of a message, and a little more than documented is taken.
const (
	maxBlocks         = 50
	maxBlockMarkdown  = 13_200
	maxBlockSection   = 3_000
	maxBlockHeader    = 150
	maxBlockTable     = 10_000
	maxBlockID        = 255
	maxButtonText     = 75
	maxButtonValue    = 2_000
	maxActionElements = 25
	maxContext        = 10
	maxFields         = 10
	maxTableRows      = 100
	maxTableColumns   = 20
)

// readBlocks parses and checks the blocks of a message.
func readBlocks(source string) ([]slackBlock, *slackError) {
	var raws []json.RawMessage
	if json.Unmarshal([]byte(source), &raws) != nil {
		return nil, no("invalid_blocks_format")
	}
	if len(raws) > maxBlocks {
		return nil, invalid("invalid_blocks", "[ERROR] no more than 50 items allowed [json-pointer:/blocks]")
	}
	var blocks []slackBlock
	ids := map[string]bool{}
	markdown, cells := 0, 0
	for i, raw := range raws {
		var b slackBlock
		if json.Unmarshal(raw, &b) != nil {
			return nil, no("invalid_blocks_format")
		}
		b.raw = raw
		problem := b.problem()
		if b.ID != "" && (ids[b.ID] || len(b.ID) > maxBlockID) {
			problem = "block_id must be unique and at most 255 characters"
		}
		if problem != "" {
			return nil, invalid("invalid_blocks", fmt.Sprintf("[ERROR] %s [json-pointer:/blocks/%d]", problem, i))
		}
		ids[b.ID] = true
		if b.Type == "markdown" {
			markdown += utf8.RuneCountInString(str(b.Text))
		}
		cells += b.cells()
		blocks = append(blocks, b)
	}
	switch {
	case markdown > maxBlockMarkdown:
		return nil, no("msg_blocks_too_long")
	case cells > maxBlockTable:
		return nil, invalid("invalid_blocks", "[ERROR] table cells must be at most 10000 characters per message")
	}
	return blocks, nil
}

// problem is what the service would say against a block; empty: nothing.
func (b *slackBlock) problem() string {
	switch b.Type {
	case "markdown":
		if strings.TrimSpace(str(b.Text)) == "" {
			return "must be more than 0 characters"
		}
	case "section":
		return b.sectionProblem()
	case "header":
		if t := object(b.Text); t.Type != "plain_text" || !fits(t.Text, maxBlockHeader) {
			return "must be a plain_text of 1 to 150 characters"
		}
	case "context":
		if len(b.Elements) == 0 || len(b.Elements) > maxContext {
			return "must have 1 to 10 elements"
		}
	case "actions":
		return b.actionsProblem()
	case "table":
		if len(b.Rows) == 0 || len(b.Rows) > maxTableRows {
			return "must have 1 to 100 rows"
		}
		for _, row := range b.Rows {
			if len(row) > maxTableColumns {
				return "must have at most 20 columns"
			}
			for _, c := range row {
				if c.Type != "" && !slices.Contains([]string{"raw_text", "rich_text"}, c.Type) {
					return "unsupported cell type: " + c.Type
				}
			}
		}
	case "rich_text", "divider":
	case "image":
		if b.AltText == "" {
			return "missing required field: alt_text"
		}
	default:
		return "unsupported type: " + b.Type
	}
	return ""
}

func (b *slackBlock) sectionProblem() string {
	t := object(b.Text)
	if b.Text == nil && len(b.Fields) == 0 {
		return "missing required field: text"
	}
	if b.Text != nil && (t.Type != "mrkdwn" && t.Type != "plain_text" || !fits(t.Text, maxBlockSection)) {
		return "must be a text object of 1 to 3000 characters"
	}
	if len(b.Fields) > maxFields || slices.ContainsFunc(b.Fields, func(t slackText) bool { return !fits(t.Text, 2000) }) {
		return "must have at most 10 fields of 1 to 2000 characters"
	}
	return ""
}

func (b *slackBlock) actionsProblem() string {
	if len(b.Elements) == 0 || len(b.Elements) > maxActionElements {
		return "must have 1 to 25 elements"
	}
	ids := map[string]bool{}
	for _, el := range b.Elements {
		if el.Type != "button" {
			continue
		}
		if t := object(el.Text); t.Type != "plain_text" || !fits(t.Text, maxButtonText) {
			return "a button's text must be a plain_text of 1 to 75 characters"
		}
		if utf8.RuneCountInString(el.Value) > maxButtonValue {
			return "a button's value must be at most 2000 characters"
		}
		if el.ActionID != "" && ids[el.ActionID] || len(el.ActionID) > maxBlockID {
			return "action_id must be unique in its block and at most 255 characters"
		}
		ids[el.ActionID] = true
	}
	return ""
}

// cells is how many characters a table has.
func (b *slackBlock) cells() (n int) {
	for _, row := range b.Rows {
		for _, c := range row {
			n += utf8.RuneCountInString(c.Text)
		}
	}
	return n
}

// fits reports whether a text has 1 to limit characters.
func fits(text string, limit int) bool {
	return text != "" && utf8.RuneCountInString(text) <= limit
}

// button finds a button below a message.
func (m *slackMessage) button(which func(slackElement) bool) (block slackBlock, el slackElement, ok bool) {
	for _, b := range m.blocks {
		elements := b.Elements
		if b.Accessory != nil {
			elements = append(elements, *b.Accessory)
		}
		for _, el := range elements {
			if el.Type == "button" && which(el) {
				return b, el, true
			}
		}
	}
	return block, el, false
}
