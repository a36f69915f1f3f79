package ask

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

func call(t *testing.T, args string) core.ToolResult {
	t.Helper()
	r, err := New().Call(t.Context(), &core.Env{}, core.ToolCall{Name: "ask_human", Args: args})
	if err != nil {
		t.Fatalf("%s: %v", args, err)
	}
	return r
}

func TestAsks(t *testing.T) {
	eight := `["1","2","3","4","5","6","7","8"]`
	for args, want := range map[string]core.Question{
		`{"question":"Which one?"}`:                                                      {Text: "Which one?"},
		`{"question":"  Which\n\none? \n"}`:                                              {Text: "Which\n\none?"},
		`{"question":"Which one?","choices":[]}`:                                         {Text: "Which one?"},
		`{"question":"Which one?","choices":["red","dark  blue\n"]}`:                     {Text: "Which one?", Choices: []string{"red", "dark blue"}},
		`{"question":"Which one?","choices":["r\u200bed","\u202eblue"]}`:                 {Text: "Which one?", Choices: []string{"red", "blue"}},
		`{"question":"How many?","choices":` + eight + `}`:                               {Text: "How many?", Choices: []string{"1", "2", "3", "4", "5", "6", "7", "8"}},
		`{"question":"How many?","choices":["10","0","-1","1.","04"]}`:                   {Text: "How many?", Choices: []string{"10", "0", "-1", "1.", "04"}},
		`{"question":"` + strings.Repeat("ü", maxQuestion) + `"}`:                        {Text: strings.Repeat("ü", maxQuestion)},
		`{"question":"Which one?","choices":["` + strings.Repeat("ü", maxChoice) + `"]}`: {Text: "Which one?", Choices: []string{strings.Repeat("ü", maxChoice)}},
		`{question: 'Which one?', choices: ['red',],}`:                                   {Text: "Which one?", Choices: []string{"red"}}, // as models write
	} {
		got := call(t, args)
		if got.Failed || got.Question == nil || got.Text != "" {
			t.Errorf("%.80s: %+v", args, got)
			continue
		}
		if diff := cmp.Diff(want, *got.Question); diff != "" {
			t.Errorf("%.80s (-want +got):\n%s", args, diff)
		}
	}
}

// What cannot be asked is not: the model is told what is wrong, and what to do.
func TestRefuses(t *testing.T) {
	nine := strings.TrimSuffix(strings.Repeat(`"x",`, 9), ",")
	for args, want := range map[string]string{
		`{}`:                               "question",
		`{"question":""}`:                  "question is empty",
		`{"question":" \n\t"}`:             "question is empty",
		`{"question":7}`:                   "question",
		`{"question":"x","choices":"red"}`: "choices",
		`{"question":"x","choices":[{}]}`:  "choices",
		`{"question":"x","urgent":true}`:   "urgent",
		`{"Question":"x"}`:                 "Question",
		`not JSON`:                         "one JSON object",
		`{"question":"` + strings.Repeat("ü", maxQuestion+1) + `"}`:               fmt.Sprintf("question has %d characters; at most %d fit, so put the details into your text before the call", maxQuestion+1, maxQuestion),
		`{"question":"x","choices":[` + nine + `]}`:                               "there are 9 choices; at most 8",
		`{"question":"x","choices":["red"," \n "]}`:                               "a choice is empty",
		`{"question":"x","choices":["red","\u200b"]}`:                             "a choice is empty",
		`{"question":"x","choices":["` + strings.Repeat("ü", maxChoice+1) + `"]}`: "has more than 60 characters",
		`{"question":"x","choices":["red","Red"]}`:                                `the choice "Red" is there twice`,
		`{"question":"x","choices":["red","r\u200bed"]}`:                          `the choice "red" is there twice`,
		`{"question":"x","choices":["dark blue","dark\tblue"]}`:                   `the choice "dark blue" is there twice`,
		`{"question":"x","choices":["2","1"]}`:                                    `the choice "2" is a number, and people choose by number, too: it must be choice 2`,
		`{"question":"x","choices":["red","1"]}`:                                  `the choice "1" is a number`,
	} {
		got := call(t, args)
		if !got.Failed || got.Question != nil || !strings.Contains(got.Text, want) || !strings.HasPrefix(got.Text, "Invalid arguments for ask_human: ") {
			t.Errorf("%.80s: %+v, want %q", args, got, want)
		}
	}
}

// It asks and does nothing else, so it needs no leave, and can be asked again
// after a crash.
func TestSpec(t *testing.T) {
	spec := New().Spec()
	if spec.Name != "ask_human" || !spec.ReadOnly || !spec.Idempotent || spec.Status == "" {
		t.Errorf("%+v", spec)
	}
	for _, want := range []string{`"question"`, `"choices"`, `"required":["question"]`, `"additionalProperties":false`} {
		if !strings.Contains(string(spec.Parameters), want) {
			t.Errorf("the schema lacks %s: %s", want, spec.Parameters)
		}
	}
}

// Whatever a model writes is asked within the bounds, or refused.
func FuzzArguments(f *testing.F) {
	for _, s := range []string{`{"question":"x","choices":["a","b"]}`, `{"question":`, `{"choices":["1","1"]}`, `[]`, `"x"`, "\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, args string) {
		got := call(t, args)
		if got.Failed {
			if got.Question != nil || got.Text == "" {
				t.Errorf("%+v", got)
			}
			return
		}
		q := got.Question
		if q == nil || strings.TrimSpace(q.Text) == "" || len([]rune(q.Text)) > maxQuestion || len(q.Choices) > maxChoices {
			t.Fatalf("%+v", got)
		}
		a := core.Ask{Choices: q.Choices}
		for i, c := range q.Choices {
			for _, said := range []string{c, strings.ToUpper(c), fmt.Sprint(i + 1)} {
				if got, ok := a.Choice(said); strings.EqualFold(said, c) && (!ok || got != c) || said == fmt.Sprint(i+1) && got != c {
					t.Errorf("of %q, %q chooses %q", q.Choices, said, got)
				}
			}
		}
	})
}
