package openai_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
	"github.com/toolhost/toolhost/internal/imagetool/provider/openai"
	"github.com/toolhost/toolhost/internal/imagetool/provider/openaitest"
)

// clientOf returns a provider that asks the handler.
func clientOf(t *testing.T, h http.HandlerFunc) *openai.Provider {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return client(t, openai.Options{BaseURL: s.URL + "/v1"})
}

// store is a server of pictures that answers POSTs with the address in each.
func store(t *testing.T) http.HandlerFunc {
	png := openaitest.Picture(64, 64, "png", 0)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /a.png", func(w http.ResponseWriter, _ *http.Request) { w.Write(png) })
	mux.HandleFunc("GET /v1/b.png", func(w http.ResponseWriter, _ *http.Request) { w.Write(png) })
	mux.HandleFunc("GET /keyed", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer "+key {
			w.Write(png)
		}
	})
	mux.HandleFunc("GET /keyless", func(w http.ResponseWriter, r *http.Request) {
		for name, values := range r.Header {
			if strings.Contains(strings.Join(values, " "), key) {
				t.Errorf("%s has the key", name)
			}
		}
		w.Write(png)
	})
	mux.HandleFunc("GET /page", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>"+key) })
	mux.HandleFunc("GET /loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
	mux.HandleFunc("GET /to", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("u"), http.StatusFound)
	})
	mux.HandleFunc("GET /endless", func(w http.ResponseWriter, _ *http.Request) { io.Copy(w, io.LimitReader(zeros{}, 65<<20)) })
	return mux.ServeHTTP
}

// TestAddresses is B9: pictures that come as an address.
func TestAddresses(t *testing.T) {
	foreign := httptest.NewServer(store(t))
	t.Cleanup(foreign.Close)
	host := strings.TrimPrefix(foreign.URL, "http://")
	tests := map[string]struct {
		address string // OWN and FOREIGN stand for the two servers
		says    string // "": a picture
		allow   []string
	}{
		"own":                          {"OWN/a.png", "", nil},
		"path":                         {"/a.png", "", nil},
		"relative":                     {"b.png", "", nil},
		"own, with the key":            {"OWN/keyed", "", nil},
		"data":                         {"data:image/png;base64," + b64, "", nil},
		"foreign":                      {"FOREIGN/a.png", "127.0.0.1 is not a public address", nil},
		"foreign by a name":            {strings.Replace("FOREIGN/a.png", "FOREIGN", "http://localhost:"+host[strings.LastIndex(host, ":")+1:], 1), "is not a public address", nil},
		"foreign, allowed":             {"FOREIGN/keyless", "", []string{"127.0.0.1"}},
		"foreign, allowed with a port": {"FOREIGN/keyless", "", []string{host}},
		"foreign, another allowed":     {"FOREIGN/keyless", "not a public address", []string{"127.0.0.1:1"}},
		"not there":                    {"OWN/none", "404", nil},
		"a page":                       {"OWN/page", "no PNG", nil},
		"endless":                      {"OWN/endless", "more than 64 MiB", nil},
		"round in circles":             {"OWN/loop", "redirects", nil},
		"redirect to ourselves":        {"OWN/to?u=/a.png", "", nil},
		"redirect to metadata":         {"OWN/to?u=" + url.QueryEscape("http://169.254.169.254/latest"), "169.254.169.254 is not a public address", nil},
		"redirect from afar":           {"FOREIGN/to?u=" + url.QueryEscape("http://169.254.169.254/"), "169.254.169.254 is not a public address", []string{host}},
		"redirect abroad":              {"OWN/to?u=FOREIGN%2Fkeyless", "", []string{host}},
		"redirect to a file":           {"OWN/to?u=file:%2F%2F%2Fetc%2Fpasswd", `"file" is no scheme`, nil},
		"no address":                   {"http://[", "cannot be parsed", nil},
		"metadata as a number":         {"http://2852039166/", "cannot", nil},
		"mapped":                       {"http://[::ffff:127.0.0.1]:1/", "is not a public address", nil},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			pictures := store(t)
			posts := 0
			h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodPost {
					pictures(w, r)
					return
				}
				posts++
				address := strings.NewReplacer("OWN", "http://"+r.Host, "FOREIGN", foreign.URL).Replace(c.address)
				fmt.Fprintf(w, `{"data":[{"url":%q}]}`, address)
			}))
			t.Cleanup(h.Close)
			p := client(t, openai.Options{BaseURL: h.URL + "/v1", AllowHosts: c.allow})
			result, e := generate(t, p, provider.Request{})
			switch {
			case posts != 1:
				t.Errorf("%d POSTs", posts)
			case c.says == "" && (e != nil || len(result.Images) != 1):
				t.Errorf("got %v, want a picture", e)
			case c.says == "":
			case e == nil || e.Code != provider.NoImage || !e.MayHaveRun || c.says != "cannot" && !strings.Contains(e.Message, c.says):
				t.Errorf("got %v, want no_image and %q", e, c.says)
			default:
				withoutKey(t, e)
			}
		})
	}
}

func TestPublic(t *testing.T) {
	for address, want := range map[string]bool{
		"8.8.8.8": true, "2606:4700::1111": true, "172.32.0.1": true, "::ffff:8.8.8.8": true,
		"127.0.0.1": false, "127.9.9.9": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false, "169.254.169.254": false,
		"0.0.0.0": false, "0.1.2.3": false, "100.64.0.1": false, "192.0.0.8": false, "198.18.0.1": false, "224.0.0.1": false, "255.255.255.255": false, "240.0.0.1": false,
		"::": false, "::1": false, "fe80::1": false, "fe80::1%eth0": false, "fc00::1": false, "fd00:ec2::254": false, "ff02::1": false, "fec0::1": false,
		"::ffff:127.0.0.1": false, "::ffff:169.254.169.254": false, "64:ff9b::a9fe:a9fe": false, "2002:7f00:1::": false, "2001::1": false,
	} {
		if got := openai.Public(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: public %v, want %v", address, got, want)
		}
	}
}

// TestForms is B15 and B19: what stands for a picture in answers.
func TestForms(t *testing.T) {
	png, jpeg := openaitest.Picture(64, 64, "png", 0), openaitest.Picture(64, 64, "jpeg", 0)
	std := base64.StdEncoding.EncodeToString
	answer := func(values ...string) openaitest.Step {
		for i, v := range values {
			values[i] = `{"b64_json":` + v + `}`
		}
		return openaitest.JSON(200, `{"data":[`+strings.Join(values, ",")+`],"output_format":"webp"}`)
	}
	tests := map[string]struct {
		step    openaitest.Step
		request provider.Request
		want    []provider.Format
		warning string
	}{
		"plain":              {answer(`"` + std(png) + `"`), provider.Request{}, []provider.Format{provider.PNG}, ""},
		"with a head":        {answer(`"data:image/webp;base64,` + std(png) + `"`), provider.Request{}, []provider.Format{provider.PNG}, ""},
		"escaped slashes":    {answer(`"` + strings.ReplaceAll(std(png), "/", `\/`) + `"`), provider.Request{}, []provider.Format{provider.PNG}, ""},
		"lines":              {answer(`"` + std(png)[:76] + `\n` + std(png)[76:] + `\n"`), provider.Request{}, []provider.Format{provider.PNG}, ""},
		"URL-safe, unpadded": {answer(`"` + base64.RawURLEncoding.EncodeToString(png) + `"`), provider.Request{}, []provider.Format{provider.PNG}, ""},
		"bare bytes":         {openaitest.Step{Status: 200, Header: map[string]string{"Content-Type": "image/png"}, Body: string(jpeg)}, provider.Request{}, []provider.Format{provider.JPEG}, ""},
		"another format":     {answer(`"` + std(png) + `"`), provider.Request{Format: provider.WebP}, []provider.Format{provider.PNG}, "asked for webp, got png"},
		"another size":       {answer(`"` + std(png) + `"`), provider.Request{Size: provider.Size{Width: 512, Height: 512}}, []provider.Format{provider.PNG}, "asked for 512x512, got 64x64"},
		"fewer":              {answer(`"` + std(png) + `"`), provider.Request{N: 3}, []provider.Format{provider.PNG}, "asked for 3 pictures, got 1"},
		"more":               {answer(`"`+std(png)+`"`, `"`+std(jpeg)+`"`), provider.Request{}, []provider.Format{provider.PNG, provider.JPEG}, "asked for 1 pictures, got 2"},
		"one cut short":      {answer(`"`+std(png[:len(png)/2])+`"`, `"`+std(jpeg)+`"`), provider.Request{N: 2}, []provider.Format{provider.JPEG}, "picture 1 of 2: decode a png"},
		"one null":           {answer(`null`, `"`+std(jpeg)+`"`), provider.Request{N: 2}, []provider.Format{provider.JPEG}, "picture 1 of 2: it is empty"},
		"PNG cut short":      {answer(`"` + std(png[:len(png)-20]) + `"`), provider.Request{}, nil, "decode a png"},
		"JPEG cut short":     {answer(`"` + std(jpeg[:len(jpeg)-40]) + `"`), provider.Request{}, nil, "decode a jpeg"},
		"header only":        {answer(`"` + std(png[:40]) + `"`), provider.Request{}, nil, "picture 1 of 1"},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			p, _ := serve(t, openai.Options{}, c.step)
			result, e := generate(t, p, c.request)
			if c.want == nil {
				if e == nil || e.Code != provider.NoImage || !strings.Contains(e.Message, c.warning) {
					t.Errorf("got %v, want no_image: %s", e, c.warning)
				}
				return
			}
			if e != nil {
				t.Fatal(e)
			}
			var got []provider.Format
			for _, picture := range result.Images {
				got = append(got, picture.Format)
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) || !strings.Contains(strings.Join(result.Warnings, "\n"), c.warning) || c.warning == "" && len(result.Warnings) > 0 {
				t.Errorf("got %v with warnings %q, want %v with %q", got, result.Warnings, c.want, c.warning)
			}
		})
	}
}
