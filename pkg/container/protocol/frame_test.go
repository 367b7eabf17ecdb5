package protocol_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolhost/toolhost/pkg/container/protocol"
)

func encode(t testing.TB, frames ...protocol.Frame) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, f := range frames {
		n, err := f.WriteTo(&b)
		if err != nil || n != int64(17+len(f.Header)+len(f.Body)) {
			t.Fatalf("wrote %d bytes of %+v: %v", n, f, err)
		}
	}
	return b.Bytes()
}

// The bytes of a frame are what agents and servers of one version agree on.
func TestBytes(t *testing.T) {
	f := protocol.Frame{Kind: protocol.Run, ID: 0x0102030405060708, Header: []byte(`{}`), Body: []byte("abc")}
	want := "\x00\x00\x00\x02\x00\x00\x00\x03\x03\x01\x02\x03\x04\x05\x06\x07\x08{}abc"
	if got := string(encode(t, f)); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestRoundTrip(t *testing.T) {
	frames := []protocol.Frame{
		{Kind: protocol.Ping},
		{Kind: protocol.Hello, ID: math.MaxUint64, Header: []byte(`{"version":1}`)},
		{Kind: protocol.Result, ID: 1, Body: bytes.Repeat([]byte{0, 0xff}, 1<<16)},
		{Kind: protocol.Run, ID: 2, Header: []byte(`{}`), Body: []byte("x")},
		{Kind: 255, ID: 3},
	}
	readers := map[string]func(io.Reader) io.Reader{
		"whole": func(r io.Reader) io.Reader { return r }, "bytes": iotest.OneByteReader, "halves": iotest.HalfReader, "with EOF": iotest.DataErrReader,
	}
	for name, wrap := range readers {
		t.Run(name, func(t *testing.T) {
			r := wrap(bytes.NewReader(encode(t, frames...)))
			for _, want := range frames {
				got, err := protocol.Read(r)
				if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
					t.Fatalf("%v %s", err, diff)
				}
			}
			if _, err := protocol.Read(r); err != io.EOF {
				t.Errorf("after the last frame: %v, want EOF", err)
			}
		})
	}
}

// A stream that ends within a frame is not one that ends.
func TestCutOff(t *testing.T) {
	whole := encode(t, protocol.Frame{Kind: protocol.Run, ID: 7, Header: []byte(`{}`), Body: []byte("abc")})
	for n := 1; n < len(whole); n++ {
		if _, err := protocol.Read(bytes.NewReader(whole[:n])); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d of %d bytes: %v, want an unexpected EOF", n, len(whole), err)
		}
	}
}

func TestTooLarge(t *testing.T) {
	sizes := map[string][2]uint32{
		"header": {protocol.MaxFrame + 1, 0}, "body": {0, protocol.MaxFrame + 1},
		"both": {protocol.MaxFrame, 1}, "overflow": {math.MaxUint32, 2},
	}
	for name, s := range sizes {
		t.Run(name, func(t *testing.T) {
			b := binary.BigEndian.AppendUint32(nil, s[0])
			b = append(binary.BigEndian.AppendUint32(b, s[1]), make([]byte, 9)...)
			r := bytes.NewReader(append(b, "rest"...))
			if f, err := protocol.Read(r); err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("read %+v, %v", f, err)
			}
			if r.Len() != 4 {
				t.Errorf("read on in a broken stream: %d bytes left, want 4", r.Len())
			}
		})
	}
	var b bytes.Buffer
	f := protocol.Frame{Header: []byte("{}"), Body: make([]byte, protocol.MaxFrame)}
	if _, err := f.WriteTo(&b); err == nil || b.Len() > 0 {
		t.Errorf("wrote %d bytes of a frame that nobody reads: %v", b.Len(), err)
	}
}

// writes counts calls of Write.
type writes int

func (w *writes) Write(p []byte) (int, error) {
	*w++
	return len(p), nil
}

func TestOneWrite(t *testing.T) {
	f, err := protocol.Make(protocol.Result, 1, protocol.Outcome{Code: 1}, []byte("out"), nil, []byte("err"))
	if err != nil {
		t.Fatal(err)
	}
	var w writes
	if _, err := f.WriteTo(&w); err != nil || w != 1 {
		t.Errorf("%d calls of Write, %v", w, err)
	}
	if string(f.Body) != "outerr" {
		t.Errorf("body %q", f.Body)
	}
}

func TestDecode(t *testing.T) {
	f, err := protocol.Make(protocol.Run, 1, protocol.Command{Argv: []string{"a<b"}, Dir: "/", TimeoutMS: 5, Keep: 6})
	if err != nil {
		t.Fatal(err)
	}
	var got protocol.Command
	if err := f.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(protocol.Command{Argv: []string{"a<b"}, Dir: "/", TimeoutMS: 5, Keep: 6}, got); diff != "" {
		t.Error(diff)
	}
	if err := (protocol.Frame{Kind: protocol.Run, Header: []byte("{")}).Decode(&got); err == nil {
		t.Error("half a header decodes")
	}
	if _, err := protocol.Make(protocol.Run, 1, func() {}); err == nil {
		t.Error("a function encodes")
	}
}

// FuzzRead wants that whatever is read writes the same bytes again.
func FuzzRead(f *testing.F) {
	f.Add(encode(f, protocol.Frame{Kind: protocol.Poll, ID: 9, Header: []byte(`{"job":1}`), Body: []byte("b")}))
	f.Add([]byte("\x00\x00\x00\x00\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		r := bytes.NewReader(stream)
		var again []byte
		for {
			if left := stream[len(stream)-r.Len():]; len(left) >= 8 &&
				uint64(binary.BigEndian.Uint32(left))+uint64(binary.BigEndian.Uint32(left[4:])) > 1<<20 {
				return // nothing is learnt from large memory
			}
			frame, err := protocol.Read(r)
			if err != nil {
				break
			}
			again = append(again, encode(t, frame)...)
		}
		if !bytes.HasPrefix(stream, again) {
			t.Errorf("%q was read, and written as %q", stream, again)
		}
	})
}
