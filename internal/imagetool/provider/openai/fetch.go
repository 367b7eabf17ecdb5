package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Limits of a picture that is fetched.
const (
	maxFetch     = 64 << 20
	maxRedirects = 5
	fetchTimeout = 2 * time.Minute
	dialTimeout  = 15 * time.Second
)

// A fetcher fetches pictures that came as addresses, which are text from outside. From the
// base URL's own origin it fetches as it asks, key included; from elsewhere without the
// key, without a proxy, and from public addresses only, looked at when the connection is made.
type fetcher struct {
	base         *url.URL
	own, foreign *http.Client
	auth         http.Header
}

// fetch returns a picture of at most most bytes. It follows redirects by itself, since each may lead from one side to the other.
func (f fetcher) fetch(ctx context.Context, address string, most int) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	at, err := f.base.Parse(address)
	if err != nil {
		return nil, errors.New("the address of the picture cannot be parsed")
	}
	for range maxRedirects + 1 {
		data, next, err := f.get(ctx, at, most)
		if err != nil {
			return nil, fmt.Errorf("fetch the picture from %s: %w", at.Host, err)
		}
		if next == nil {
			return data, nil
		}
		at = next
	}
	return nil, fmt.Errorf("fetch the picture from %s: more than %d redirects", at.Host, maxRedirects)
}

// get returns the body, or where it leads.
func (f fetcher) get(ctx context.Context, at *url.URL, most int) ([]byte, *url.URL, error) {
	if at.Scheme != "http" && at.Scheme != "https" {
		return nil, nil, fmt.Errorf("%q is no scheme to fetch by", at.Scheme)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, nil, bare(err)
	}
	client := f.foreign
	if sameOrigin(at, f.base) {
		client = f.own
		r.Header = f.auth.Clone()
	}
	res, err := client.Do(r)
	if err != nil {
		return nil, nil, bare(err)
	}
	defer res.Body.Close()
	if next, err := res.Location(); err == nil && res.StatusCode/100 == 3 {
		return nil, next, nil
	}
	if res.StatusCode != http.StatusOK {
		return nil, nil, fmt.Errorf("it answered %d %s", res.StatusCode, http.StatusText(res.StatusCode))
	}
	data, err := readAll(res, int64(most))
	if errors.Is(err, errTooLong) {
		err = fmt.Errorf("it has more than %d MiB", most>>20)
	}
	return data, nil, err
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	if u.Scheme == "http" {
		return cmp.Or(u.Port(), "80")
	}
	return cmp.Or(u.Port(), "443")
}

// foreignClient connects to public addresses, and to those of the allowed hosts.
func foreignClient(allowed []string) *http.Client {
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		d := net.Dialer{Timeout: dialTimeout}
		if !allows(allowed, address) {
			d.ControlContext = publicOnly
		}
		return d.DialContext(ctx, network, address)
	}
	return &http.Client{
		CheckRedirect: stay,
		Transport: &http.Transport{
			DialContext: dial, DisableKeepAlives: true,
			TLSHandshakeTimeout: dialTimeout, ResponseHeaderTimeout: fetchTimeout,
		},
	}
}

func allows(hosts []string, address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && slices.ContainsFunc(hosts, func(h string) bool {
		return strings.EqualFold(h, address) || strings.EqualFold(strings.Trim(h, "[]"), host)
	})
}

// publicOnly sees the address after names are resolved, so that no name can change its mind.
func publicOnly(_ context.Context, _, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if !public(to.Addr()) {
		return fmt.Errorf("%s is not a public address", to.Addr())
	}
	return nil
}

// special are the blocks of the IANA special-purpose registries that are not for the public,
// and those that carry another address inside (NAT64, 6to4, Teredo).
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("100::/64"),
	netip.MustParsePrefix("2001::/23"),
	netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("fec0::/10"),
}

func public(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if !a.IsGlobalUnicast() || a.IsPrivate() {
		return false
	}
	return !slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(a) })
}
