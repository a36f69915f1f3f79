// Package core is bellhop's vocabulary: actors, places, threads, messages,
// mailboxes' items, runs, posts, and the small interfaces between the parts.
//
// It imports the standard library only, starts no goroutine, and holds no
// state. Everything else imports it. Route, the one decision that is made in
// here, is a pure function.
package core
