// Package llm holds the model providers: one for every endpoint that speaks
// OpenAI's chat completions, and in llm/script one that needs no model.
//
// It imports core and go-openai, and is the only package that imports the
// latter. It starts no goroutine of its own; what a call holds (connection,
// timer) is released when its iteration ends, however it ends.
package llm
