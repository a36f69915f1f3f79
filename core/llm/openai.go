package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"bellhop/core"
)

const (
	defaultFirstByte = 60 * time.Second
	defaultIdle      = 90 * time.Second
	defaultRetries   = 3

	backoffBase = 500 * time.Millisecond
	backoffCap  = 30 * time.Second
	// A longer Retry-After than this is not waited for: a person is waiting too,
	// and a fallback model may be at hand.
	maxAfter = 60 * time.Second
)

// OpenAIOptions says where an OpenAI-compatible endpoint is and how to treat
// it. The zero value of a field is its default.
type OpenAIOptions struct {
	Name    string // the provider's name; errors speak of "Name/model"
	BaseURL string // default: OpenAI's
	APIKey  string // empty: no Authorization header
	Headers map[string]string
	// Params are defaults of every request's parameters; a call's own win. A
	// parameter that is unknown here goes into the request as it is.
	Params map[string]any
	// HTTP makes the requests. It must have no overall time-out, which would cut
	// long replies. Default: an own client that keeps 64 connections and follows
	// no redirect, since it would carry Headers elsewhere.
	HTTP *http.Client
	// FirstByte is the longest wait from the request to the reply's first byte
	// (default 60 s), Idle the longest silence after it (default 90 s). A
	// keep-alive comment ends a silence.
	FirstByte time.Duration
	Idle      time.Duration
	// Tries is how often a call is tried again after its first try when the
	// fault may pass. Default 3; negative: never.
	Tries int
	Log   *slog.Logger
}

// OpenAI is a provider that speaks OpenAI's chat completions, as OpenRouter,
// Groq, Gemini, Ollama, llama.cpp, vLLM and many others do. It is safe for
// concurrent use.
type OpenAI struct {
	opts    OpenAIOptions
	config  openai.ClientConfig
	secrets *strings.Replacer
	// noUsage is set once the endpoint has refused stream_options.
	noUsage atomic.Bool
}

var _ core.Provider = (*OpenAI)(nil)

// NewOpenAI makes a provider. It does not connect.
func NewOpenAI(o OpenAIOptions) *OpenAI {
	o.FirstByte = cmp.Or(o.FirstByte, defaultFirstByte)
	o.Idle = cmp.Or(o.Idle, defaultIdle)
	o.Tries = cmp.Or(o.Tries, defaultRetries)
	o.HTTP = cmp.Or(o.HTTP, newClient())
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	config := openai.DefaultConfig(o.APIKey)
	config.BaseURL = cmp.Or(o.BaseURL, config.BaseURL)
	return &OpenAI{opts: o, config: config, secrets: secrets(o)}
}

func newClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	// Without pings a connection that died quietly would be used for every retry.
	transport.HTTP2 = &http.HTTP2Config{SendPingTimeout: 20 * time.Second, PingTimeout: 10 * time.Second}
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// secrets replaces what must not be in an error: the key, and the words of the
// headers, which may be keys too. Anything shorter than six characters is no
// secret but a placeholder, and would garble the text.
func secrets(o OpenAIOptions) *strings.Replacer {
	words := strings.Fields(o.APIKey)
	for _, value := range o.Headers {
		words = append(words, strings.Fields(value)...)
	}
	// The longest first, lest the rest of one stays that begins with another.
	slices.SortFunc(words, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, word := range words {
		if len(word) >= 6 {
			pairs = append(pairs, word, "[secret]")
		}
	}
	return strings.NewReplacer(pairs...)
}

// Stream makes one call. Before it tries again it yields a Chunk with Reset,
// also when nothing had been yielded, and then waits: with jitter, doubling,
// and at least as long as the endpoint asked for.
func (p *OpenAI) Stream(ctx context.Context, call core.Call) iter.Seq2[core.Chunk, error] {
	return func(yield func(core.Chunk, error) bool) {
		stopped := false
		send := func(c core.Chunk) bool {
			stopped = !yield(c, nil)
			return !stopped
		}
		usage := !p.noUsage.Load()
		tries := 0
		for {
			f := p.try(ctx, call, usage, send)
			if stopped || f == nil {
				return
			}
			if ctx.Err() != nil {
				yield(core.Chunk{}, context.Cause(ctx))
				return
			}
			if usage && f.noUsage {
				usage = false
				p.noUsage.Store(true)
				continue
			}
			tries++
			if !f.passing || f.After > maxAfter || tries > p.opts.Tries {
				yield(core.Chunk{}, p.final(f, call, tries))
				return
			}
			pause := backoff(tries) + f.After
			p.opts.Log.WarnContext(ctx, "model call failed, trying again",
				"retry", tries, "wait", pause, "error", p.final(f, call, tries))
			if !send(core.Chunk{Reset: true, Retry: tries}) {
				return
			}
			if !sleep(ctx, pause) {
				yield(core.Chunk{}, context.Cause(ctx))
				return
			}
		}
	}
}

func (p *OpenAI) name(call core.Call) string { return p.opts.Name + "/" + call.Model }

// final completes a failure to the error that the caller gets. Secrets go
// before the text is cut, lest half of one stays.
func (p *OpenAI) final(f *failure, call core.Call, tries int) *core.ModelError {
	e := f.ModelError
	e.Model, e.Tries = p.name(call), tries
	e.Msg = cmp.Or(brief(p.secrets.Replace(e.Msg)), http.StatusText(e.Status), "no explanation")
	if f.passing && e.After > maxAfter {
		e.Msg = fmt.Sprintf("asks to wait %s: %s", e.After, e.Msg)
	}
	return &e
}

// try makes one request and passes its reply on. It returns nil when the reply
// is whole, and also when send did not want more of it.
func (p *OpenAI) try(ctx context.Context, call core.Call, usage bool, send func(core.Chunk) bool) *failure {
	params, err := mergeParams(call, p.opts.Params)
	if err != nil {
		return refusal(err)
	}
	body, err := encode(call, params, usage)
	if err != nil {
		return refusal(err)
	}
	x, ctx := newExchange(ctx, p.opts, body)
	defer x.end()
	config := p.config
	config.HTTPClient = x
	_, err = openai.NewClientWithConfig(config).CreateChatCompletionStream(ctx, outline(call, params))
	if err != nil {
		if f, ok := errors.AsType[*failure](err); ok {
			return f
		}
		return refusal(err)
	}
	return x.read(send)
}

// refusal is a call that cannot be made as it is.
func refusal(err error) *failure {
	return &failure{ModelError: core.ModelError{Fault: core.FaultRequest, Msg: err.Error()}}
}

// Overflow reports whether a call failed because it is larger than the model's
// window, so that a smaller one may work.
func Overflow(err error) bool {
	e, ok := errors.AsType[*core.ModelError](err)
	return ok && e.Fault == core.FaultOverflow
}

// backoff is the pause before the n-th retry, from 1: full jitter, so that
// calls which failed together do not come back together.
func backoff(n int) time.Duration {
	return rand.N(min(backoffCap, backoffBase<<min(n-1, 10)))
}

// sleep reports whether it slept through.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
