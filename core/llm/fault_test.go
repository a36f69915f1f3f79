package llm

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"bellhop/core"
)

func TestOverflowPhrases(t *testing.T) {
	for _, c := range []struct {
		from   string
		status int
		body   string
	}{
		{"OpenAI", 400, `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`},
		{"OpenAI, new", 400, `{"error":{"message":"Your input exceeds the context window of this model.","code":"invalid_request"}}`},
		{"OpenAI, gpt-5", 400, `{"error":{"message":"Input tokens exceed the configured limit of 272000 tokens.","code":null}}`},
		{"OpenAI, over the rate limit alone", 429, `{"error":{"message":"Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000. The input or output tokens must be reduced in order to run successfully.","type":"tokens","code":"rate_limit_exceeded"}}`},
		{"OpenRouter", 400, `{"error":{"message":"This endpoint's maximum context length is 131072 tokens. However, you requested about 150000 tokens.","code":400}}`},
		{"OpenRouter, passed on", 400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long: 213462 tokens > 200000 maximum\"}}","provider_name":"Anthropic"}}}`},
		{"Anthropic", 400, `{"error":{"code":"invalid_request_error","message":"input length and ` + "`max_tokens`" + ` exceed context limit: 190000 + 20000 > 200000"}}`},
		{"Anthropic, bytes", 413, `{"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`},
		{"Bedrock", 400, `{"message":"Input is too long for requested model."}`},
		{"llama.cpp", 400, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}`},
		{"llama.cpp, old", 500, `{"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}`},
		{"Ollama", 400, `{"error":"prompt too long; exceeded max context length by 5000 tokens"}`},
		{"Ollama, embedding", 500, `{"error":"the input length exceeds the context length"}`},
		{"LM Studio", 400, `{"error":"Trying to keep the first 5000 tokens when the prompt is greater than the context length"}`},
		{"Groq", 400, `{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`},
		{"Groq, over the rate limit alone", 413, `{"error":{"message":"Request too large for model on tokens per minute (TPM): Limit 6000, Requested 7000","code":"rate_limit_exceeded"}}`},
		{"vLLM", 400, `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens","type":"BadRequestError","param":null,"code":400}`},
		{"vLLM, new", 400, `{"error":{"message":"The decoder prompt (length 9000) is longer than the maximum model length of 8192.","type":"BadRequestError","code":400}}`},
		{"Gemini", 400, `[{"error":{"code":400,"message":"The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).","status":"INVALID_ARGUMENT"}}]`},
		{"xAI", 400, `{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}`},
		{"Mistral", 400, `{"object":"error","message":"Prompt contains 150000 tokens and 0 draft tokens, too large for model with 128000 maximum context length","type":"invalid_request_prompt"}`},
		{"Kimi", 400, `{"error":{"message":"Your request exceeded model token limit: 262144 (requested: 300000)","type":"invalid_request_error"}}`},
		{"MiniMax", 400, `{"error":{"message":"invalid params, context window exceeds limit (2013)"}}`},
		{"Copilot", 400, `{"error":{"message":"prompt token count of 130000 exceeds the limit of 128000","code":"model_max_prompt_tokens_exceeded"}}`},
		{"Together", 422, `{"error":{"message":"The input (140000 tokens) is longer than the model's context length (131072 tokens)."}}`},
		{"text-generation-inference", 422, `{"error":"Input validation error: ` + "`inputs` tokens + `max_new_tokens`" + ` must be <= 4096. Given: 4000","error_type":"validation"}`},
		{"Qwen", 400, `{"error":{"message":"Range of input length should be [1, 129024]","code":"invalid_parameter_error"}}`},
		{"z.ai", 400, `{"error":{"code":"model_context_window_exceeded","message":"x"}}`},
		{"nginx", 413, `<html><head><title>413 Request Entity Too Large</title></head></html>`},
	} {
		f := refused(c.status, http.Header{}, []byte(c.body))
		if f.Fault != core.FaultOverflow || f.passing {
			t.Errorf("%s: %s, passing %v: %s", c.from, f.Fault, f.passing, f.Msg)
		}
		if !Overflow(fmt.Errorf("run: %w", &f.ModelError)) {
			t.Errorf("%s: Overflow does not see it", c.from)
		}
	}
	if Overflow(nil) || Overflow(&core.ModelError{Fault: core.FaultRequest}) {
		t.Error("Overflow sees what is none")
	}
}

func TestClassify(t *testing.T) {
	p := NewOpenAI(OpenAIOptions{})
	for _, c := range []struct {
		status  int
		body    string
		fault   core.ModelFault
		passing bool
		msg     string
	}{
		{401, `{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}`, core.FaultAuth, false, "Incorrect API key provided"},
		{403, `<html><head><title>403 Forbidden</title></head><body>…</body></html>`, core.FaultAuth, false, "403 Forbidden"},
		{400, `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]`, core.FaultAuth, false, "API key not valid. Please pass a valid API key."},
		{429, `{"error":{"message":"You exceeded your current quota, please check your plan.","type":"insufficient_quota","code":"insufficient_quota"}}`, core.FaultRate, false, "the account has no credit left: You exceeded your current quota, please check your plan."},
		{402, `{"error":{"message":"Insufficient credits","code":402}}`, core.FaultRate, false, "the account has no credit left: Insufficient credits"},
		{400, `{"error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}}`, core.FaultRate, false, "the account has no credit left: Your credit balance is too low to access the API."},
		{429, `[{"error":{"code":429,"message":"You exceeded your current quota. Please retry in 12.3s.","status":"RESOURCE_EXHAUSTED"}}]`, core.FaultRate, true, "You exceeded your current quota. Please retry in 12.3s."},
		{429, `{"error":{"message":"Rate limit reached on tokens per min: Limit 30000, Used 29000, Requested 2000."}}`, core.FaultRate, true, "Rate limit reached on tokens per min: Limit 30000, Used 29000, Requested 2000."},
		{429, `{"message":"Too many tokens, please wait before trying again."}`, core.FaultRate, true, "Too many tokens, please wait before trying again."},
		{429, ``, core.FaultRate, true, "Too Many Requests"},
		{529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, core.FaultOverload, true, "Overloaded"},
		{500, "<!DOCTYPE html>\n<html><body><h1>It   broke</h1>\n<p>badly</p></body></html>", core.FaultOverload, true, "It broke badly"},
		{408, `{}`, core.FaultOverload, true, "Request Timeout"},
		{404, `{"error":{"message":"The model x does not exist","code":"model_not_found"}}`, core.FaultRequest, false, "The model x does not exist"},
		{400, `{"error":{"message":"max_tokens is too large: 100000. This model supports at most 16384 completion tokens","code":"invalid_value"}}`, core.FaultRequest, false, "max_tokens is too large: 100000. This model supports at most 16384 completion tokens"},
		{422, `{"detail":[{"loc":["body","temperature"],"msg":"must be at most 2","type":"value_error"}]}`, core.FaultRequest, false, "body temperature: must be at most 2"},
		{400, `{"error":["one","two"]}`, core.FaultRequest, false, "one"},
		{400, strings.Repeat("long ", 1000), core.FaultRequest, false, strings.Repeat("long ", 60) + "…"},
		{418, "\xff\x00\n\n\tx", core.FaultRequest, false, "\uFFFD x"},
		{302, "", core.FaultRequest, false, "the address has moved to https://elsewhere"},
		{501, "null", core.FaultOverload, true, "Not Implemented"},
		{999, "", core.FaultOverload, true, "no explanation"},
	} {
		f := refused(c.status, http.Header{"Location": {"https://elsewhere"}}, []byte(c.body))
		e := p.final(f, core.Call{}, 1)
		if e.Fault != c.fault || f.passing != c.passing || e.Msg != c.msg || e.Status != c.status {
			t.Errorf("%d %s:\n%s, passing %v: %s", c.status, c.body, e.Fault, f.passing, e.Msg)
		}
	}
}
