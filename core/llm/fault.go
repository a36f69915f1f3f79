package llm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"bellhop/core"
)

// maxMsg is how many characters of an endpoint's words go into an error.
const maxMsg = 300

// failure is why one try failed. Its Msg may still be long and hold secrets;
// OpenAI.final sees to both.
type failure struct {
	core.ModelError
	passing bool // another try may succeed
	noUsage bool // the endpoint refuses stream_options
}

// refused is a failure that the endpoint answered with instead of a reply.
func refused(status int, header http.Header, body []byte) *failure {
	msg, codes := words(body)
	f := classify(status, msg, codes)
	if status/100 == 3 {
		f.Msg = "the address has moved to " + header.Get("Location")
	}
	f.After = retryAfter(header)
	if f.After == 0 && f.passing {
		f.After = tryAgain(body)
	}
	f.noUsage = (status == http.StatusBadRequest || status == http.StatusUnprocessableEntity) &&
		strings.Contains(string(body), "stream_options")
	return f
}

// reported is a failure that came within a stream.
func reported(text []byte) *failure {
	msg, codes := words(text)
	f := classify(errorStatus(codes), msg, codes)
	if f.passing {
		f.After = tryAgain(text)
	}
	return f
}

// stray is an answer that should have been a stream: an error, or the page of
// some proxy.
func stray(text []byte) *failure {
	if msg, codes := words(text); codes != "" {
		return classify(errorStatus(codes), msg, codes)
	}
	return unreadable("the reply is not an event stream: " + plain(text))
}

func unreadable(msg string) *failure {
	return &failure{ModelError: core.ModelError{Fault: core.FaultReply, Msg: msg}}
}

var (
	statusCode = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b[45]\d\d\b`) })

	// noCredit is not for Gemini's "exceeded your current quota", which also
	// stands for a limit per minute.
	noCredit = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`insufficient_quota|exceeded_current_quota|billing_hard_limit|` +
			`insufficient[ _](credit|balance|funds)|credit balance is too low`)
	})
	badKey = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`authentication_error|permission_error|unauthorized|` +
			`(invalid|incorrect)[ _]api[ _]key|api[ _]key[ _](not valid|invalid)`)
	})
	rateLimit = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`rate[ _-]?limit|too many requests|resource_exhausted|throttl|per[ _]min`)
	})
	// tooLarge is what even a rate limit says of a request that can never fit it.
	tooLarge = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`request too large|tokens must be reduced`) })
	// overflow knows the phrases of, in order: OpenAI's code and z.ai's, OpenAI
	// and OpenRouter and DeepSeek, vLLM, llama.cpp, Ollama, LM Studio and
	// Together, Anthropic, Bedrock, Gemini, Groq and Cerebras, xAI, Mistral,
	// Kimi, MiniMax, Copilot, Qwen, text-generation-inference.
	overflow = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`context[ _](length|window|size)[ _]exceeded|context_window_exceeded|` +
			`maximum context|context window|input tokens exceed|` +
			`maximum (model|input) length|` +
			`available context size|exceed_context_size|context size has been exceeded|` +
			`exceed(s|ed)? (the |max |maximum )*context|` +
			`(greater|longer) than the (model'?s )?context|` +
			`prompt is too long|prompt too long|exceed context limit|request_too_large|` +
			`input is too long|too many (input )?tokens|` +
			`input token count.*exceeds|` +
			`reduce the length of the (messages|prompt)|` +
			`maximum prompt length|` +
			`too large for model with|` +
			`exceeded model token limit|token limit exceeded|` +
			`token count.*exceeds the limit|` +
			`range of input length|` +
			`inputs.*max_new_tokens.*must be`)
	})
)

// classify sorts a failure by what it says first, then by its HTTP status,
// which is 0 when there is none.
func classify(status int, msg, codes string) *failure {
	said := strings.ToLower(codes + " " + msg)
	f := &failure{ModelError: core.ModelError{Status: status, Msg: msg}}
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status < 429 && badKey().MatchString(said):
		f.Fault = core.FaultAuth
	case status == http.StatusPaymentRequired, noCredit().MatchString(said):
		f.Fault, f.Msg = core.FaultRate, "the account has no credit left: "+msg
	case status == http.StatusRequestEntityTooLarge, tooLarge().MatchString(said),
		status != http.StatusTooManyRequests && overflow().MatchString(said) && !rateLimit().MatchString(said):
		f.Fault = core.FaultOverflow
	case status == http.StatusTooManyRequests, status == 0 && rateLimit().MatchString(said):
		f.Fault, f.passing = core.FaultRate, true
	case status == 0 && strings.Contains(said, "invalid_request"):
		f.Fault = core.FaultRequest
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly,
		status >= 500, status == 0:
		f.Fault, f.passing = core.FaultOverload, true
	default:
		f.Fault = core.FaultRequest
	}
	return f
}

// errorStatus is the HTTP status among an error's codes; 0: none.
func errorStatus(codes string) int {
	n, _ := strconv.Atoi(statusCode().FindString(codes))
	return n
}

// words digs an endpoint's message and codes out of its answer, which has one
// of many shapes, or is the page of some proxy.
func words(body []byte) (msg, codes string) {
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return plain(body), ""
	}
	return dig(v)
}

func dig(v any) (msg, codes string) {
	switch v := v.(type) {
	case string:
		return v, ""
	case []any:
		if len(v) > 0 {
			return dig(v[0])
		}
	case map[string]any:
		for _, key := range []string{"error", "message", "detail", "msg"} {
			if msg, codes = dig(v[key]); msg+codes != "" {
				break
			}
		}
		if where, ok := v["loc"].([]any); ok { // FastAPI: which field
			msg = strings.TrimSpace(fmt.Sprintln(where...)) + ": " + msg
		}
		if meta, ok := v["metadata"].(map[string]any); ok { // OpenRouter: what its provider said
			if raw, ok := meta["raw"].(string); ok {
				inner, more := words([]byte(raw))
				msg, codes = msg+": "+inner, codes+" "+more
			}
		}
		for _, key := range []string{"code", "type", "status"} {
			if v[key] != nil {
				codes += " " + fmt.Sprint(v[key])
			}
		}
	}
	return msg, codes
}

var (
	title = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`) })
	tags  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)<[^>]*>`) })
)

// plain takes the tags off a page; its title is enough.
func plain(text []byte) string {
	s := strings.ToValidUTF8(string(text), "\uFFFD")
	if m := title().FindStringSubmatch(s); m != nil {
		s = m[1]
	}
	return strings.TrimSpace(tags().ReplaceAllString(s, " "))
}

// brief makes one short line of a text.
func brief(s string) string {
	words := strings.FieldsFunc(strings.ToValidUTF8(s, "\uFFFD"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	})
	s = strings.Join(words, " ")
	if r := []rune(s); len(r) > maxMsg {
		s = string(r[:maxMsg]) + "…"
	}
	return s
}

// retryAfter reads how long an endpoint asks to wait: OpenAI's header in
// milliseconds, else the standard one in seconds or as a date.
func retryAfter(h http.Header) time.Duration {
	if d := seconds(h.Get("Retry-After-Ms"), time.Millisecond); d > 0 {
		return d
	}
	if d := seconds(h.Get("Retry-After"), time.Second); d > 0 {
		return d
	}
	if t, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		return max(0, time.Until(t))
	}
	return 0
}

// seconds reads a number of units; anything else is 0, and a day is enough.
func seconds(s string, unit time.Duration) time.Duration {
	const day = 24 * time.Hour
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || !(n > 0) {
		return 0
	}
	return time.Duration(min(n*float64(unit), float64(day)))
}

// again matches "try again in 1m2.5s", "retry in 20 seconds", and Gemini's
// "retryDelay": "34s".
var again = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:try again|retry)[^\d{}]{0,20}?` +
		`((?:\d+(?:\.\d+)?(?:ms|h|m|s))+|\d+(?:\.\d+)? ?(?:milli|sec|min|hour))`)
})

var unitNames = strings.NewReplacer(" ", "", "milli", "ms", "sec", "s", "min", "m", "hour", "h")

// tryAgain reads how long an error's text asks to wait; 0: it does not say.
func tryAgain(text []byte) time.Duration {
	m := again().FindSubmatch(text)
	if m == nil {
		return 0
	}
	d, err := time.ParseDuration(unitNames.Replace(strings.ToLower(string(m[1]))))
	if err != nil {
		return 0
	}
	return d
}
