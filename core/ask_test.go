package core

import "testing"

func TestLine(t *testing.T) {
	for _, c := range []struct {
		kind AskKind
		text string
		want string
	}{
		{QuestionAsk, "Which\n\none?", "“Which one?”"},
		{QuestionAsk, "0123456789", "“0123456789”"},
		{QuestionAsk, "0123456789a", "“012345678…”"},
		{ApprovalAsk, "rm *.a *.b", "`rm *.a *.b`"},
		{ApprovalAsk, "rm  'a  b'", "`rm  'a  b'`"},
		{ApprovalAsk, "rm `x`", "`` rm `x` ``"},
		{ApprovalAsk, "a`b``c", "```a`b``c```"},
		{ApprovalAsk, "0123456789a", "`012345678…`"},
		{ApprovalAsk, "012345678`a", "`012345678…`"},
		{ApprovalAsk, " a ", "`  a  `"},
		{ApprovalAsk, "", ""},
	} {
		a := Ask{Kind: c.kind, Text: c.text}
		if got := a.Line(10); got != c.want {
			t.Errorf("%s %q is told as %q, want %q", c.kind, c.text, got, c.want)
		}
	}
}
