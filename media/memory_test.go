package media

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// peak is what making one picture took.
type peak struct {
	HeapMB int // the most heap that the process had
	RSSMB  int // the most memory that it had; 0: this system does not tell
	Took   time.Duration
}

// The environment variable that names the image of which a process of its own
// is to make the picture, so that its memory is measured alone.
const measureEnv = "BELLHOP_MEDIA_MEASURE"

func TestMain(m *testing.M) {
	if name := os.Getenv(measureEnv); name != "" {
		if err := measure(name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func measure(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	began := time.Now()
	if _, err := render(context.Background(), f, defaults); err != nil {
		return err
	}
	p := peak{Took: time.Since(began)}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	p.HeapMB = int(m.HeapSys >> 20)
	status, _ := os.ReadFile("/proc/self/status")
	for s := bufio.NewScanner(bytes.NewReader(status)); s.Scan(); {
		if kB, ok := strings.CutPrefix(s.Text(), "VmHWM:"); ok {
			fmt.Sscan(kB, &p.RSSMB)
			p.RSSMB >>= 10
		}
	}
	return json.NewEncoder(os.Stdout).Encode(p)
}

// TestMemory makes pictures of the largest images that are taken. Each needs
// what its decoder is allowed, and no more than a reduced copy and what the
// collector has not freed yet beside that.
func TestMemory(t *testing.T) {
	if testing.Short() || raced {
		t.Skip("takes seconds, and a minute under the race detector")
	}
	const most = maxMemory>>20 + 64
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"RGBA PNG of 40 MP":         rawPNG(t, 8000, 5000, 5000, 6, 8),
		"JPEG of 40 MP":             rawJPEG(8000, 5000, 3, 0x22, 0),
		"JPEG of 36 MP, all colour": rawJPEG(6000, 6000, 3, 0x11, 0),
		"progressive JPEG of 23 MP": rawJPEG(5700, 4000, 3, 0x22, 2),
		"WebP of 40 MP":             rawWebP(8000, 5000),
		"GIF of 36 MP":              gifOf(t, 6000, 6000, 1),
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "image")
			if err := os.WriteFile(file, data, 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), exe)
			cmd.Env = append(os.Environ(), measureEnv+"="+file)
			cmd.Stderr = os.Stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			var p peak
			if err := json.Unmarshal(out, &p); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d kB: %+v", len(data)>>10, p)
			if p.HeapMB > most {
				t.Errorf("%d MB of heap, more than %d", p.HeapMB, most)
			}
		})
	}
}

func BenchmarkPhoto(b *testing.B) {
	data := jpegOf(b, photo(4000, 3000))
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		rendered(b, data, defaults)
	}
}
