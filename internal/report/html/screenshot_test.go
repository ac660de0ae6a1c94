package html

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/iotax/iotax/internal/analyse"
	"github.com/iotax/iotax/internal/report/text/reporttest"
)

// TestScreenshot draws docs/report.png anew with chromium, which must be installed:
//
//	IOTAX_SCREENSHOT=../../../docs/report.png go test ./internal/report/html -run TestScreenshot
//
// IOTAX_SCREENSHOT_OF names the report of a real run; without it the sample is drawn, or the one of reporttest that
// IOTAX_SCREENSHOT_SAMPLE names: local-disks, published or explained. IOTAX_SCREENSHOT_SIZE
// is the window, such as 390,1800; IOTAX_SCREENSHOT_ARGS one more argument for chromium, such as
// --blink-settings=preferredColorScheme=0 for the dark page. The font is Inter where it is installed
// (Debian: fonts-inter).
func TestScreenshot(t *testing.T) {
	out := os.Getenv("IOTAX_SCREENSHOT")
	if out == "" {
		t.Skip("set IOTAX_SCREENSHOT to a file to draw the picture of the report")
	}
	page := os.Getenv("IOTAX_SCREENSHOT_OF")
	if page == "" {
		page = filepath.Join(t.TempDir(), "report.html")
		if err := os.WriteFile(page, render(t, screenshotSample()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := filepath.Abs(out)
	if err != nil {
		t.Fatal(err)
	}
	if page, err = filepath.Abs(page); err != nil {
		t.Fatal(err)
	}
	size := os.Getenv("IOTAX_SCREENSHOT_SIZE")
	if size == "" {
		size = "1240,1862"
	}
	args := []string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--hide-scrollbars", "--user-data-dir=" + t.TempDir(),
		"--window-size=" + size, "--screenshot=" + out,
	}
	if more := os.Getenv("IOTAX_SCREENSHOT_ARGS"); more != "" {
		args = append(args, more)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if msg, err := exec.CommandContext(ctx, "chromium", append(args, "file://"+page)...).CombinedOutput(); err != nil {
		t.Fatalf("chromium: %v\n%s", err, msg)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	data = shrink(t, data)
	if err := os.WriteFile(out, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if len(data) > 300_000 {
		t.Errorf("%s has %d bytes, want at most 300,000", out, len(data))
	}
}

func screenshotSample() analyse.Result {
	switch os.Getenv("IOTAX_SCREENSHOT_SAMPLE") {
	case "local-disks":
		return reporttest.LocalDisks(1, 2, 4, 8, 16, 32, 64, 128, 256)
	case "published":
		return reporttest.Published()
	case "explained":
		return explainedSample()
	}
	return sample()
}
