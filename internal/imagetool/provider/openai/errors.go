package openai

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
)

// upstreamFailure classifies what a server answered instead of a picture.
func upstreamFailure(status int, header http.Header, body []byte) *failure {
	c := readComplaint(header.Get("Content-Type"), body)
	e := &provider.Error{
		Code: codeOf(status, c), Status: status, Param: c.param, RetryAfter: retryAfter(header, time.Now()),
		Stage: c.stage, Categories: c.categories,
	}
	e.Message = c.text(status, e.Code)
	fail := &failure{Error: e, wait: e.RetryAfter}
	asked := header.Get("Retry-After") != "" || header.Get("Retry-After-Ms") != ""
	switch e.Code {
	case provider.RateLimited:
		fail.again = asked
	case provider.TimedOut:
		e.MayHaveRun = true
	case provider.Unavailable:
		fail.again = status == http.StatusServiceUnavailable && asked
		e.MayHaveRun = !fail.again
	case provider.ModerationBlocked:
		e.MayHaveRun = c.stage == "output"
	}
	return fail
}

// streamFailure classifies an error that came as an event, or within an answer of status 200.
func streamFailure(body []byte) *failure {
	c := readComplaint("application/json", body)
	fail := upstreamFailure(c.likelyStatus(), http.Header{}, body)
	fail.Status, fail.again = 0, false
	fail.Message = c.text(0, fail.Code)
	return fail
}

// Codes and types by which servers say the same thing, lower case.
var (
	moderationCodes = []string{"moderation_blocked", "content_policy_violation", "content_filter", "contentfilter", "responsibleaipolicyviolation"}
	quotaCodes      = []string{"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "quota_exceeded"}
	statusOfKinds   = map[string]int{
		"rate_limit_exceeded": http.StatusTooManyRequests, "rate_limit_error": http.StatusTooManyRequests,
		"invalid_request_error": http.StatusBadRequest, "image_generation_user_error": http.StatusBadRequest,
		"authentication_error": http.StatusUnauthorized, "invalid_api_key": http.StatusUnauthorized,
		"permission_error": http.StatusForbidden,
	}
)

// statusTimeout is what one large proxy answers when the server behind it took too long.
const statusTimeout = 524

func codeOf(status int, c complaint) provider.Code {
	is := func(codes []string) bool {
		return slices.ContainsFunc(c.kinds(), func(k string) bool { return slices.Contains(codes, k) })
	}
	switch {
	case is(moderationCodes):
		return provider.ModerationBlocked
	case (status == 400 || status == 403) && strings.Contains(strings.ToLower(c.message), "temporarily blocked"):
		return provider.ProviderBlocked // of the account: pollinations#12446
	case is(quotaCodes) || status == http.StatusPaymentRequired:
		return provider.QuotaExceeded
	}
	return codeOfStatus(status)
}

func codeOfStatus(status int) provider.Code {
	switch status {
	case http.StatusUnauthorized:
		return provider.Unauthorized
	case http.StatusForbidden:
		return provider.Forbidden
	case http.StatusRequestEntityTooLarge:
		return provider.TooLarge
	case http.StatusTooManyRequests:
		return provider.RateLimited
	case http.StatusRequestTimeout, http.StatusGatewayTimeout, statusTimeout:
		return provider.TimedOut
	case http.StatusConflict:
		return provider.Unavailable
	}
	if status >= 300 && status < 500 {
		return provider.InvalidRequest
	}
	return provider.Unavailable
}

// likelyStatus is the status that an error would have had outside of a stream.
func (c complaint) likelyStatus() int {
	for _, kind := range c.kinds() {
		if status, ok := statusOfKinds[kind]; ok {
			return status
		}
	}
	return http.StatusInternalServerError
}

// text returns the server's words, or the status where it has none.
func (c complaint) text(status int, code provider.Code) string {
	text := c.message
	switch {
	case text != "":
	case status >= 300 && status < 400:
		text = fmt.Sprintf("the server answered %d, which leads elsewhere; the base URL wants the final address", status)
	case status != 0:
		text = strings.TrimSpace(fmt.Sprintf("the server answered %d %s", status, http.StatusText(status)))
	default:
		text = "the server ended the work with an error"
	}
	if c.code != "" && c.code != string(code) && !strings.Contains(text, c.code) {
		text += " (" + c.code + ")"
	}
	return text
}

// retryAfter returns how long to wait, as the header says in seconds, as a date (RFC 9110,
// 10.2.3) or in milliseconds; 0 where it does not.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return wait(ms, time.Millisecond)
	}
	value := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(value, 64); err == nil {
		return wait(s, time.Second)
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

// wait returns n units; a day at most, so that no number overflows.
func wait(n float64, unit time.Duration) time.Duration {
	const day = 24 * time.Hour
	if !(n >= 0) { // NaN too
		return 0
	}
	if n >= float64(day/unit) {
		return day
	}
	return time.Duration(n * float64(unit))
}
