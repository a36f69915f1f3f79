// Package adaptertest holds what adapters are tested with: strict fakes of the
// platforms, and the conformance suite that every adapter passes.
//
// A fake behaves as the platform's documents and the reports of those who met
// it say, and refuses what the platform refuses; it runs behind an
// http.RoundTripper without sockets, so that a test can live in a
// testing/synctest bubble, or behind a loopback listener. Where a platform
// needs a connection that stays, the fake gives one end of a net.Pipe. Run
// drives an adapter through a Platform, the neutral view of such a fake.
//
// An adapter's own test of conformance is a few lines:
//
//	func TestConformance(t *testing.T) {
//		adaptertest.Run(t, adaptertest.TelegramHarness(func(token string, c *http.Client) core.Adapter {
//			return telegram.New(telegram.Options{Name: "tg", Token: token, HTTP: c})
//		}))
//	}
//
// The package is imported by tests only and may import anything. The fake
// Telegram starts no goroutine, the fakes of Slack and Discord two for each
// socket, which end with it; Run starts one for each Adapter.Run and Send that
// it drives and has ended them when it returns.
package adaptertest
