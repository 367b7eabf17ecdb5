package provider

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strconv"
	"strings"

	"golang.org/x/image/webp"
)

// maxPixels bounds what is decoded: 16384x16384 takes 1 GiB, and a PNG of a few KiB can claim
// it. The largest picture that a known model makes has 8.3 million.
const maxPixels = 100_000_000

var errUnknownFormat = errors.New("the bytes are no PNG, JPEG, WebP, GIF or SVG")

// Identify returns data with its format and size, by the bytes. It reads the header only; a
// picture that ends early passes, see [Picture.Check].
func Identify(data []byte) (Picture, error) {
	format := sniff(data)
	if format == "" {
		return Picture{}, errUnknownFormat
	}
	size, err := sizeOf(format, data)
	if err != nil {
		return Picture{}, fmt.Errorf("read the size of a %s picture: %w", format, err)
	}
	return Picture{Data: data, Format: format, Size: size}, nil
}

// Check decodes the whole picture and says what is wrong with it. It holds the decoded pixels
// meanwhile.
func (p Picture) Check() error {
	if int64(p.Size.Width)*int64(p.Size.Height) > maxPixels {
		return fmt.Errorf("a picture of %s is larger than %d million pixels", p.Size, maxPixels/1_000_000)
	}
	if err := decode(p.Format, p.Data); err != nil {
		return fmt.Errorf("decode a %s picture of %s: %w", p.Format, p.Size, err)
	}
	return nil
}

// sniff returns the format by the first bytes, or "".
func sniff(data []byte) Format {
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		return PNG
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		return JPEG
	case len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP":
		return WebP
	case bytes.HasPrefix(data, []byte("GIF87a")), bytes.HasPrefix(data, []byte("GIF89a")):
		return GIF
	case looksLikeXML(data):
		return SVG
	}
	return ""
}

// looksLikeXML leaves it to the parser whether the root is svg.
func looksLikeXML(data []byte) bool {
	head := bytes.TrimPrefix(data[:min(len(data), 256)], []byte("\xef\xbb\xbf"))
	head = bytes.TrimLeft(head, " \t\r\n")
	for _, start := range []string{"<?xml", "<svg", "<!--", "<!DOCTYPE svg"} {
		if bytes.HasPrefix(head, []byte(start)) {
			return true
		}
	}
	return false
}

func sizeOf(f Format, data []byte) (Size, error) {
	var (
		c   image.Config
		err error
	)
	switch r := bytes.NewReader(data); f {
	case PNG:
		c, err = png.DecodeConfig(r)
	case JPEG:
		c, err = jpeg.DecodeConfig(r)
	case GIF:
		c, err = gif.DecodeConfig(r)
	case WebP:
		return webpSize(data)
	default:
		return svgSize(r)
	}
	return Size{c.Width, c.Height}, err
}

// webpSize reads the canvas of the extended form by itself: the decoder does not know
// animations, and a size needs no decoder.
func webpSize(data []byte) (Size, error) {
	if len(data) >= 30 && string(data[12:16]) == "VP8X" {
		uint24 := func(b []byte) int { return int(binary.LittleEndian.Uint16(b)) | int(b[2])<<16 }
		return Size{1 + uint24(data[24:]), 1 + uint24(data[27:])}, nil
	}
	c, err := webp.DecodeConfig(bytes.NewReader(data))
	return Size{c.Width, c.Height}, err
}

func decode(f Format, data []byte) (err error) {
	switch r := bytes.NewReader(data); f {
	case PNG:
		_, err = png.Decode(r)
	case JPEG:
		_, err = jpeg.Decode(r)
	case GIF:
		_, err = gif.DecodeAll(r)
	case WebP:
		_, err = webp.Decode(r)
	case SVG:
		err = wellFormed(r)
	default:
		err = errUnknownFormat
	}
	return err
}

// svgSize returns width and height of the root, else those of its viewBox, else the zero
// value: a drawing need not have a size.
func svgSize(r io.Reader) (Size, error) {
	root, err := rootElement(xml.NewDecoder(r))
	if err != nil {
		return Size{}, err
	}
	if root.Name.Local != "svg" {
		return Size{}, fmt.Errorf("the root is <%s>, not <svg>", root.Name.Local)
	}
	attributes := map[string]string{}
	for _, a := range root.Attr {
		attributes[a.Name.Local] = a.Value
	}
	size := Size{pixels(attributes["width"]), pixels(attributes["height"])}
	if box := strings.FieldsFunc(attributes["viewBox"], func(r rune) bool { return r == ' ' || r == ',' }); size.Width*size.Height == 0 && len(box) == 4 {
		size = Size{pixels(box[2]), pixels(box[3])}
	}
	return size, nil
}

func rootElement(d *xml.Decoder) (xml.StartElement, error) {
	for {
		token, err := d.RawToken()
		if err != nil {
			return xml.StartElement{}, err
		}
		if start, ok := token.(xml.StartElement); ok {
			return start, nil
		}
	}
}

// pixels reads a length without unit or in px; 0 is any other.
func pixels(length string) int {
	n, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(length), "px"), 64)
	if err != nil || n < 0 || n > 1<<20 {
		return 0
	}
	return int(n)
}

func wellFormed(r io.Reader) error {
	for d := xml.NewDecoder(r); ; {
		switch _, err := d.Token(); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}
