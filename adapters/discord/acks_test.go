package discord

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestSlowAcknowledgement: while Discord takes its time over an
// acknowledgement, what comes next is heard. Only the next acknowledgement
// waits for it.
func TestSlowAcknowledgement(t *testing.T) {
	const callbacks = "POST /interactions"
	press := func(id int) string {
		return fmt.Sprintf(`{"id":"%d","type":2,"token":"interaction-token","channel_id":"50","user":{"id":"2000","username":"ann"},"data":{"name":"new"}}`, id)
	}
	inBubble(t, func(t *testing.T, s *server, a *Adapter) {
		s.answer = func(c call) answer {
			if strings.HasPrefix(c.what, callbacks+"/300") {
				time.Sleep(2 * time.Second)
			}
			return answer{}
		}
		s.script = func(_ int, g *socket) {
			g.begin()
			g.event(2, "INTERACTION_CREATE", press(300))
			time.Sleep(100 * time.Millisecond)
			g.event(3, "MESSAGE_CREATE", said(301, "meanwhile"))
			time.Sleep(100 * time.Millisecond)
			g.event(4, "INTERACTION_CREATE", press(302))
			g.stay()
		}
		var in inbox
		stop := run(t, a, in.sink)
		pass(time.Second)
		if diff := cmp.Diff([]string{"/new", "meanwhile", "/new"}, in.texts()); diff != "" {
			t.Errorf("heard (-want +got):\n%s", diff)
		}
		if n := len(s.made(callbacks)); n != 1 {
			t.Errorf("%d acknowledgements at once", n)
		}
		pass(2 * time.Second)
		if n := len(s.made(callbacks)); n != 2 {
			t.Errorf("%d acknowledgements in the end", n)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}
