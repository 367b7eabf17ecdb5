package provider_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
)

// encoded returns an empty picture of 20x10 in each format.
func encoded(t testing.TB) map[provider.Format][]byte {
	t.Helper()
	m := image.NewPaletted(image.Rect(0, 0, 20, 10), color.Palette{color.Black, color.White})
	var p, j, g bytes.Buffer
	for _, err := range []error{png.Encode(&p, m), jpeg.Encode(&j, m, nil), gif.Encode(&g, m, nil)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	webp, err := os.ReadFile(filepath.Join("testdata", "20x10.webp")) // cwebp wrote it
	if err != nil {
		t.Fatal(err)
	}
	return map[provider.Format][]byte{
		provider.PNG: p.Bytes(), provider.JPEG: j.Bytes(), provider.GIF: g.Bytes(), provider.WebP: webp,
		provider.SVG: []byte(`<?xml version="1.0"?><!-- a --><svg xmlns="http://www.w3.org/2000/svg" width="20px" height="10"><rect/></svg>`),
	}
}

func TestIdentify(t *testing.T) {
	for format, data := range encoded(t) {
		t.Run(string(format), func(t *testing.T) {
			got, err := provider.Identify(data)
			if err != nil {
				t.Fatal(err)
			}
			want := provider.Picture{Data: data, Format: format, Size: provider.Size{Width: 20, Height: 10}}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			if err := got.Check(); err != nil {
				t.Error(err)
			}
			got.Data = data[:len(data)*9/10]
			if err := got.Check(); err == nil || !strings.Contains(err.Error(), string(format)) {
				t.Errorf("a tenth less: %v, want an error", err)
			}
		})
	}
}

func TestIdentifySVG(t *testing.T) {
	for text, want := range map[string]string{
		`<svg viewBox="0 0 30 40"/>`:                              "30x40",
		`<svg viewBox="0,0,30,40" width="100%" height="100%"/>`:   "30x40",
		"\ufeff\n <svg width='1.5' height='2'/>":                  "1x2",
		`<svg/>`:                                                  "auto",
		`<!DOCTYPE svg PUBLIC "x" "y"><svg width="3" height="4">`: "3x4",
		`<svg width="-1" height="1e99"/>`:                         "auto",
		`<?xml version="1.0"?><html/>`:                            "",
		`<!-- nothing -->`:                                        "",
	} {
		got, err := provider.Identify([]byte(text))
		if (err != nil) != (want == "") || err == nil && got.Size.String() != want {
			t.Errorf("%s: %s, %v, want %q", text, got.Size, err, want)
		}
	}
}

func TestIdentifyNothing(t *testing.T) {
	for _, text := range []string{"", "hello", "<html></html>", "BM6\x00", "\x89PNG", "RIFF\x00\x00\x00\x00WAVE", "RIFF\x00\x00\x00\x00WEBPVP8X", "GIF89a", "\xff\xd8\xff", "%PDF-1.7"} {
		if got, err := provider.Identify([]byte(text)); err == nil {
			t.Errorf("%q is a %s", text, got.Format)
		}
	}
}

// TestIdentifyAnimation: the decoder does not know animated WebP, its canvas is known all the same.
func TestIdentifyAnimation(t *testing.T) {
	head := append([]byte("RIFF\x16\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x02\x00\x00\x00"), 0xff, 0x03, 0, 0xff, 0x01, 0)
	got, err := provider.Identify(head)
	if err != nil || got.Size != (provider.Size{Width: 1024, Height: 512}) {
		t.Errorf("got %s, %v", got.Size, err)
	}
}

// TestCheckBomb: a few bytes that claim to be a gigabyte are not decoded.
func TestCheckBomb(t *testing.T) {
	data := slices.Clone(encoded(t)[provider.PNG])
	binary.BigEndian.PutUint32(data[16:], 60000)
	got := provider.Picture{Data: data, Format: provider.PNG, Size: provider.Size{Width: 60000, Height: 60000}}
	if err := got.Check(); err == nil || !strings.Contains(err.Error(), "million pixels") {
		t.Errorf("got %v", err)
	}
}

func TestDataURL(t *testing.T) {
	tests := map[string]struct{ media, data, err string }{
		"data:image/png;base64,aGk=":            {"image/png", "hi", ""},
		"DATA:image/png;name=a;BASE64,aGk":      {"image/png", "hi", ""},
		"data:;base64,aGk%3D%0A":                {"", "hi", ""},
		"data:image/svg+xml,%3Csvg/%3E":         {"image/svg+xml", "<svg/>", ""},
		"data:image/svg+xml;charset=utf8,<svg>": {"image/svg+xml", "<svg>", ""},
		"data:image/png;base64":                 {err: "comma"},
		"data:image/png;base64,":                {err: "empty"},
		"data:image/png;base64,§":               {err: "base64"},
		"http://h/":                             {err: "scheme"},
		"":                                      {err: "scheme"},
		"data:,%zz":                             {err: "escape"},
	}
	for address, want := range tests {
		media, data, err := provider.DataURL(address)
		if want.err != "" {
			if err == nil || !strings.Contains(err.Error(), want.err) {
				t.Errorf("%s: %v, want %q", address, err, want.err)
			}
			continue
		}
		if err != nil || media != want.media || string(data) != want.data {
			t.Errorf("%s: %q, %q, %v, want %+v", address, media, data, err, want)
		}
	}
}

// FuzzDecodeBase64 writes data in every way that is accepted, and wants it back.
func FuzzDecodeBase64(f *testing.F) {
	f.Add([]byte("hello"), uint8(0))
	f.Add([]byte{0xfb, 0xff, 0xfe, 0x3e}, uint8(0xff))
	f.Add([]byte{0xfb}, uint8(6))
	f.Fuzz(func(t *testing.T, data []byte, how uint8) {
		encoding := base64.StdEncoding
		if how&1 != 0 {
			encoding = base64.URLEncoding
		}
		if how&2 != 0 {
			encoding = encoding.WithPadding(base64.NoPadding)
		}
		text := encoding.EncodeToString(data)
		if how&4 != 0 {
			text = strings.Join(strings.SplitAfter(text, ""), "\r\n ")
		}
		if how&8 != 0 {
			text = "data:image/png;base64," + text
		}
		got, err := provider.DecodeBase64([]byte(text))
		if len(data) == 0 {
			if err == nil {
				t.Errorf("%q is a picture of %d bytes", text, len(got))
			}
			return
		}
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%q: %x, %v, want %x", text, got, err, data)
		}
	})
}

// FuzzIdentify wants no panic, and no picture that Check passes but Identify does not know.
func FuzzIdentify(f *testing.F) {
	for _, data := range encoded(f) {
		f.Add(data)
		f.Add(data[:len(data)/2])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := provider.Identify(data)
		if err == nil && p.Size.Width < 1<<12 && p.Size.Height < 1<<12 {
			_ = p.Check()
		}
		if (err == nil) != (p.Format != "") {
			t.Errorf("%q and %v", p.Format, err)
		}
	})
}
