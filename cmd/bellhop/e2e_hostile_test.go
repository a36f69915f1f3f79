package main

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"bellhop/adapters/adaptertest"
)

func TestStrangeMessages(t *testing.T) {
	h := newHouse(t)
	p := h.run()
	message := func(id int, text string) {
		h.tg.Raw(fmt.Sprintf(`{"message":{"message_id":%d,"date":%d,"chat":{"id":1111,"type":"private","first_name":"Olga"},`+
			`"from":{"id":1111,"is_bot":false,"first_name":"Olga"},"text":"%s"}}`, id, time.Now().Unix(), text))
	}
	group := h.tg.Group("Group")

	message(9001, "q1 "+strings.Repeat("a million ", 100_000))
	h.shows(h.direct, "a1.")
	message(9002, "q2 \xff\xfe\xc3(")
	h.shows(h.direct, "a2.")
	message(9003, `q3 \u0000\u202e\ud800`)
	h.shows(h.direct, "a3.")
	message(9004, `  \n\t\u00a0 `)
	h.tg.Raw(`{"hologram":{"id":"7","beam":[1,2,3]}}`)
	h.tg.Raw(`{"message":{"message_id":"seven","chat":[],"date":{},"text":7}}`)
	h.tg.Raw(`{"message":null,"edited_message":{}}`)
	h.tg.Raw(`{}`)
	group.Say(h.owner, "@bellhop_bot")
	h.shows(group, "Nothing was asked.")
	h.direct.Say(h.owner, "q4")
	h.shows(h.direct, "a4.")

	eventually(t, "everything to be acknowledged", func() bool { return h.tg.Unconfirmed() == 0 })
	if code := p.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if n := len(own(h.direct)); n != 4 {
		t.Errorf("%d answers to 4 questions:\n%s", n, h.tg)
	}
	if log := p.log.String(); strings.Contains(log, `"level":"ERROR"`) {
		t.Errorf("the log tells of errors:\n%s", tail(log))
	}
}

// The secrets pass through everything that fails around them.
func TestSecretsStayInside(t *testing.T) {
	h := newHouse(t)
	h.tg.Fail("getMe", 1, adaptertest.Fault{Status: http.StatusBadGateway})
	h.tg.Fail("sendMessage", 1, adaptertest.Fault{Net: adaptertest.NetLost})
	h.tg.Fail("editMessageText", 1, adaptertest.Fault{Net: adaptertest.NetCut})
	h.model.does(func(a inquiry) act {
		return act{status: http.StatusBadRequest, says: "no such key: " + a.key + ", Bearer " + a.key}
	})
	p := h.run()
	h.tg.Drop()
	h.direct.Say(h.owner, "q1")
	h.shows(h.direct, "⚠")
	h.model.does(func(a inquiry) act { return act{pieces: []string{"My key is " + a.key[:3] + "… "}, cut: true} })
	h.direct.Say(h.owner, "q2")
	eventually(t, "two notices", func() bool { return strings.Count(h.tg.String(), "⚠") == 2 })
	_, checked, _ := h.invoke("", "check")
	h.tg.Revoke()
	if code := p.exit(); code != exitFailed {
		t.Errorf("exit code %d after the token was revoked, want %d", code, exitFailed)
	}
	if strings.Contains(checked, token) || strings.Contains(checked, apiKey) {
		t.Errorf("check prints a secret:\n%s", checked)
	}
	silent(t, h, p)
	err := filepath.WalkDir(filepath.Join(h.dir, "data"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if text := string(b); strings.Contains(text, token) || strings.Contains(text, apiKey) {
			t.Errorf("a secret is in %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// Nobody but the owner of the process can reach it.
func TestNoOpenDoors(t *testing.T) {
	h := newHouse(t)
	p := h.run()
	for path, want := range map[string]os.FileMode{
		"data": 0o700, "data/control.sock": 0o600, "data/bellhop.db": 0o600, "data/bellhop.lock": 0o600,
	} {
		info, err := os.Stat(filepath.Join(h.dir, path))
		if err != nil {
			t.Error(err)
			continue
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", path, got, want)
		}
	}
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells which sockets a process listens on")
	}
	for _, addr := range listening(t, p.cmd.Process.Pid) {
		t.Errorf("the process listens on %s", addr)
	}
}

// listening lists the addresses of a process's TCP and UDP sockets that take
// what anybody sends.
func listening(t *testing.T, pid int) (addrs []string) {
	t.Helper()
	own := map[string]bool{}
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil || len(fds) == 0 {
		t.Fatalf("the process's files are not to be seen: %v", err)
	}
	for _, fd := range fds {
		if link, err := os.Readlink(fd); err == nil {
			own[link] = true
		}
	}
	for table, state := range map[string]string{"tcp": "0A", "tcp6": "0A", "udp": "07", "udp6": "07"} {
		f, err := os.Open(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			// sl local_address rem_address st tx:rx tr:tm retrnsmt uid timeout inode
			if field := strings.Fields(lines.Text()); len(field) > 9 && field[3] == state && own["socket:["+field[9]+"]"] {
				addrs = append(addrs, table+" "+field[1])
			}
		}
	}
	return addrs
}
