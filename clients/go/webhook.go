// Package webhook verifies webhooks of the top-up service. README.md shows how to use it.
package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

var (
	// ErrHeader reports a missing header.
	ErrHeader = errors.New("a header is missing")
	// ErrSignature reports a wrong secret, or a body that was changed or parsed before
	// verification.
	ErrSignature = errors.New("wrong signature")
	// ErrTime reports a message that was signed too long ago or in the future, or a wrong local
	// clock.
	ErrTime = errors.New("not signed within five minutes of now: check your clock")
)

// BodyBytesMax is the largest body that FromRequest reads.
const BodyBytesMax = 1_000_000

// Tolerance is the maximum difference between the time of the signature and now.
const Tolerance = 5 * time.Minute

// Event is a verified webhook or callback.
type Event struct {
	// ID is the same in every attempt. Store it to recognize repeated deliveries.
	ID string
	// Name comes from the signed body (transaction.success …), or from the header if the body has
	// none (callback.wallet …).
	Name string
	// Body is the raw JSON. Amounts are whole rupiah. Decode them into int64.
	Body []byte
}

// Verify verifies a webhook or callback. It takes the raw body, before any JSON parser, and the
// secret of the endpoint (whsec_…). For callbacks, use the secret of the endpoint `default`. If the
// message is not genuine, Verify returns ErrHeader, ErrSignature or ErrTime. Respond with 401.
func Verify(header http.Header, body []byte, secret string, now time.Time) (Event, error) {
	key, err := keyOf(secret)
	if err != nil {
		return Event{}, err
	}
	id, timestamp, signatures := header.Get("webhook-id"), header.Get("webhook-timestamp"), header.Values("webhook-signature")
	if id == "" || timestamp == "" || len(signatures) == 0 {
		return Event{}, ErrHeader
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	// There are two signatures while a secret is rotated. Compare all of them, in constant time.
	matches := false
	for _, each := range strings.Split(signatures[0], " ") {
		matches = hmac.Equal([]byte(each), expected) || matches
	}
	if !matches {
		return Event{}, ErrSignature
	}
	seconds, err := strconv.ParseUint(timestamp, 10, 40)
	if err != nil {
		return Event{}, ErrTime
	}
	if age := now.Sub(time.Unix(int64(seconds), 0)); age > Tolerance || age < -Tolerance {
		return Event{}, ErrTime
	}
	var named struct {
		Event string `json:"event"`
	}
	if err := json.Unmarshal(body, &named); err != nil {
		return Event{}, fmt.Errorf("the body is not JSON: %w", err)
	}
	if named.Event == "" {
		// The header is not signed, so a name in the body takes precedence.
		named.Event = header.Get("x-event")
	}
	return Event{ID: id, Name: named.Event, Body: body}, nil
}

// FromRequest reads the body of a request and verifies it.
func FromRequest(request *http.Request, secret string) (Event, error) {
	body, err := io.ReadAll(io.LimitReader(request.Body, BodyBytesMax+1))
	if err != nil {
		return Event{}, err
	}
	if len(body) > BodyBytesMax {
		return Event{}, fmt.Errorf("the body is larger than %d bytes", BodyBytesMax)
	}
	return Verify(request.Header, body, secret, time.Now())
}

func keyOf(secret string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) == 0 || !strings.HasPrefix(secret, "whsec_") {
		return nil, errors.New("secret must be the webhook secret: whsec_…")
	}
	return key, nil
}
