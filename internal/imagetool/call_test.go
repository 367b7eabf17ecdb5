package imagetool_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/internal/imagetool/provider"
)

// A gate is a provider that makes nothing until it is told to.
type gate struct {
	*fake
	begun chan context.Context // of each request
	open  chan struct{}        // closed: all go on
}

func newGate(t *testing.T) *gate {
	g := &gate{fake: newFake(t), begun: make(chan context.Context, 100), open: make(chan struct{})}
	g.do = func(ctx context.Context, r provider.Request, report func(provider.Event)) (*provider.Result, error) {
		g.begun <- ctx
		report(provider.Event{Phase: provider.PartialImage, Index: 0})
		select {
		case <-g.open:
			return pictures(max(r.N, 1)), nil
		case <-ctx.Done():
			return nil, &provider.Error{Code: provider.Cancelled, Message: "stopped"}
		}
	}
	return g
}

// elsewhere makes pictures cost money.
var elsewhere = []string{"base-url=https://images.example.com/v1"}

// The same request, made again while the first is under way, is sent once; another one is
// sent as well. Later the same is a new one.
func TestJoin(t *testing.T) {
	g := newGate(t)
	h := newHarness(t, options{provider: g, flags: elsewhere})
	var all sync.WaitGroup
	texts := make([]string, 6)
	for i := range texts {
		prompt := "a house"
		if i == 5 {
			prompt = "another house"
		}
		all.Go(func() {
			texts[i] = textOf(t, h.call(t, args{"prompt": prompt, "return": []string{"full", "none"}[i%2]}))
		})
	}
	<-g.begun
	<-g.begun
	// Each call reports once it waits; the texts agree only if all joined before the end.
	waitFor(t, func() bool { return len(g.requests()) == 2 })
	time.AfterFunc(time.Second, func() { close(g.open) })
	all.Wait()
	if n := len(g.requests()); n != 2 {
		t.Errorf("%d requests were sent, want 2", n)
	}
	id := regexp.MustCompile(`(?m)^image://([a-z2-7]{16}):`)
	first := id.FindStringSubmatch(texts[0])
	for i, text := range texts {
		m := id.FindStringSubmatch(text)
		if m == nil || (m[1] == first[1]) != (i != 5) {
			t.Errorf("call %d got %s", i, text)
		}
	}
	h.call(t, args{"prompt": "a house"})
	if n := len(g.requests()); n != 3 {
		t.Errorf("%d requests were sent, want a third", n)
	}
}

// A cancelled call stops the work, unless another one waits for it.
func TestCancel(t *testing.T) {
	for name, flags := range map[string][]string{"bought": elsewhere, "at home": nil} {
		t.Run(name, func(t *testing.T) {
			g := newGate(t)
			h := newHarness(t, options{provider: g, flags: flags})
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				_, err := h.client.CallTool(ctx, &mcp.CallToolParams{Name: "image_generation", Arguments: args{"prompt": "a house"}})
				ended <- err
			}()
			work := <-g.begun
			cancel()
			if err := <-ended; err == nil {
				t.Error("the cancelled call has a result")
			}
			select {
			case <-work.Done():
			case <-time.After(10 * time.Second):
				t.Error("the work goes on")
			}
			waitFor(t, func() bool { return g.now.Load() == 0 })
			if files := h.saved(t); len(files) > 0 {
				t.Errorf("files are left: %v", files)
			}
		})
	}
	t.Run("one of two", func(t *testing.T) {
		g := newGate(t)
		h := newHarness(t, options{provider: g, flags: elsewhere, client: nil})
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			_, _ = h.client.CallTool(ctx, &mcp.CallToolParams{Name: "image_generation", Arguments: args{"prompt": "a house"}})
		})
		<-g.begun
		other := make(chan string, 1)
		joined := make(chan struct{}, 100)
		all.Go(func() {
			p := &mcp.CallToolParams{Name: "image_generation", Arguments: args{"prompt": "a house", "return": "none", "odd": "1"}}
			joined <- struct{}{}
			res, err := h.client.CallTool(t.Context(), p)
			if err != nil {
				t.Error(err)
			}
			other <- textOf(t, res)
		})
		<-joined
		time.Sleep(time.Second) // nothing tells from outside that it waits
		cancel()
		time.AfterFunc(time.Second, func() { close(g.open) })
		if text := <-other; !strings.Contains(text, "Made 1 picture") {
			t.Errorf("got %s", text)
		}
		all.Wait()
		if n := len(g.requests()); n != 1 {
			t.Errorf("%d requests were sent", n)
		}
	})
}

// --soft-timeout: the call ends with a job, which a resource shows and a second call collects.
func TestSoftTimeout(t *testing.T) {
	g := newGate(t)
	h := newHarness(t, options{provider: g, flags: append([]string{"soft-timeout=50ms"}, elsewhere...)})
	res := h.call(t, args{"prompt": "a house", "n": 2})
	text := textOf(t, res)
	m := regexp.MustCompile(`job_id ([a-z2-7]{16})`).FindStringSubmatch(text)
	if m == nil || res.IsError || len(res.Content) != 1 {
		t.Fatalf("no job in %s", text)
	}
	if got := read(t, h, m[1]); got != "text/plain in progress" {
		t.Errorf("the resource is %s", got)
	}
	if text := textOf(t, h.call(t, args{"job_id": m[1]})); !strings.HasPrefix(text, "in progress") {
		t.Errorf("it was collected: %s", text)
	}
	close(g.open)
	waitFor(t, func() bool { return read(t, h, m[1]) == "image/png" })
	for range 2 { // from memory, and from there again or the directory
		res = h.call(t, args{"job_id": m[1]})
		if got := blocks(t, res); res.IsError || !slices.Equal(got, []string{"image/png 64x48", "link", "image/png 64x48", "link"}) {
			t.Errorf("collected %q: %s", got, textOf(t, res))
		}
	}
	if got := read(t, h, m[1]+"-2"); got != "image/png" {
		t.Errorf("the second picture is %s", got)
	}
	if n := len(g.requests()); n != 1 {
		t.Errorf("%d requests were sent", n)
	}
	other := newHarness(t, options{provider: g, flags: []string{"output-dir=" + h.out}})
	if res := other.call(t, args{"job_id": m[1]}); res.IsError || !strings.HasPrefix(textOf(t, res), "Found 2 pictures") {
		t.Errorf("another server found %s", textOf(t, res))
	}
}

// read returns what kind of thing the resource of an id is.
func read(t *testing.T, h *harness, id string) string {
	t.Helper()
	res, err := h.client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "image://" + id})
	must(t, err)
	c := res.Contents[0]
	text, _, _ := strings.Cut(c.Text, ":")
	return strings.TrimSpace(c.MIMEType + " " + text)
}

// At most --max-upstream requests are under way (B20).
func TestMaxUpstream(t *testing.T) {
	f := newFake(t)
	f.do = func(ctx context.Context, _ provider.Request, _ func(provider.Event)) (*provider.Result, error) {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
		}
		return pictures(1), nil
	}
	h := newHarness(t, options{provider: f, flags: append([]string{"max-upstream=2"}, elsewhere...)})
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() { h.call(t, args{"prompt": fmt.Sprint("house ", i)}) })
	}
	all.Wait()
	if n, most := len(f.requests()), f.most.Load(); n != 20 || most != 2 {
		t.Errorf("%d requests, %d at once, want 20 and 2", n, most)
	}
}

// Progress comes with text, rises, and says of a partial picture which one it is (B14).
func TestProgress(t *testing.T) {
	g := newGate(t)
	var mu sync.Mutex
	var heard []*mcp.ProgressNotificationParams
	note := func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
		mu.Lock()
		defer mu.Unlock()
		heard = append(heard, r.Params)
	}
	h := newHarness(t, options{provider: g, flags: elsewhere, client: &mcp.ClientOptions{ProgressNotificationHandler: note}})
	go func() {
		<-g.begun
		waitFor(t, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(heard) >= 3
		})
		close(g.open)
	}()
	p := &mcp.CallToolParams{Name: "image_generation", Arguments: args{"prompt": "a house", "partial_images": 2}}
	p.SetProgressToken("t")
	begin := time.Now()
	if _, err := h.client.CallTool(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	took := time.Since(begin)
	mu.Lock()
	defer mu.Unlock()
	last, texts := -1.0, ""
	for _, one := range heard {
		if one.Progress <= last {
			t.Errorf("progress went from %v to %v", last, one.Progress)
		}
		last, texts = one.Progress, texts+one.Message+"\n"
	}
	if !regexp.MustCompile(`(?m)^partial 1 of 2, \d+ s$`).MatchString(texts) || took > 15*time.Second {
		t.Errorf("in %s it heard\n%s", took, texts)
	}
}

// While the provider takes 25 s, whoever gave a token hears at least every 5 s how long it has
// been; whoever gave none hears nothing (B14).
func TestProgressOfSlowPicture(t *testing.T) {
	for _, token := range []any{"t", nil} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake(t)
			f.do = func(context.Context, provider.Request, func(provider.Event)) (*provider.Result, error) {
				time.Sleep(25 * time.Second) // of the bubble
				return pictures(1), nil
			}
			var mu sync.Mutex
			var texts []string
			last, longest := time.Now(), time.Duration(0)
			note := func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
				mu.Lock()
				defer mu.Unlock()
				longest, last = max(longest, time.Since(last)), time.Now()
				texts = append(texts, r.Params.Message)
			}
			h := newHarness(t, options{provider: f, flags: elsewhere, client: &mcp.ClientOptions{ProgressNotificationHandler: note}})
			p := &mcp.CallToolParams{Name: "image_generation", Arguments: args{"prompt": "a house"}}
			if token != nil {
				p.SetProgressToken(token)
			}
			if _, err := h.client.CallTool(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			switch {
			case token == nil && len(texts) > 0:
				t.Errorf("without a token it heard %q", texts)
			case token != nil && (longest > 5*time.Second || !slices.Contains(texts, "generating, 12 s") || !slices.Contains(texts, "generating, 24 s")):
				t.Errorf("silent for %s; it heard %q", longest, texts)
			}
		})
	}
}

// waitFor waits until something is so.
func waitFor(t *testing.T, so func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Error("20 s later it is not so")
			return
		}
	}
}
