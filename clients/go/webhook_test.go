package webhook

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

type vector struct {
	Name    string            `json:"name"`
	Secret  string            `json:"secret"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	Refused *string           `json:"refused"`
	Event   string            `json:"event"`
}

var errorOf = map[string]error{"header": ErrHeader, "signature": ErrSignature, "time": ErrTime}

func vectors(t *testing.T) (time.Time, []vector) {
	t.Helper()
	text, err := os.ReadFile("../webhook-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var found struct {
		Now     int64    `json:"now"`
		Vectors []vector `json:"vectors"`
	}
	if err := json.Unmarshal(text, &found); err != nil {
		t.Fatal(err)
	}
	if len(found.Vectors) < 20 {
		t.Fatalf("only %d vectors", len(found.Vectors))
	}
	return time.Unix(found.Now, 0), found.Vectors
}

func headerOf(each vector) http.Header {
	header := http.Header{}
	for name, value := range each.Headers {
		header.Set(name, value)
	}
	return header
}

func TestVectors(t *testing.T) {
	now, all := vectors(t)
	for _, each := range all {
		event, err := Verify(headerOf(each), []byte(each.Body), each.Secret, now)
		if each.Refused != nil {
			if !errors.Is(err, errorOf[*each.Refused]) {
				t.Errorf("%s: %v instead of %v", each.Name, err, errorOf[*each.Refused])
			}
		} else if err != nil || event.Name != each.Event || event.ID != each.Headers["webhook-id"] {
			t.Errorf("%s: %+v, %v", each.Name, event, err)
		}
	}
}

func TestWrongSecret(t *testing.T) {
	now, all := vectors(t)
	for _, secret := range []string{"", "whsec_", "whsec_%", strings.TrimPrefix(all[0].Secret, "whsec_")} {
		if _, err := Verify(headerOf(all[0]), []byte(all[0].Body), secret, now); err == nil {
			t.Errorf("%q is accepted as a secret", secret)
		}
	}
}

func TestFromRequestIsBounded(t *testing.T) {
	body := strings.NewReader(strings.Repeat("x", BodyBytesMax+1))
	request := httptest.NewRequest(http.MethodPost, "/hooks", body)
	if _, err := FromRequest(request, "whsec_QUJD"); err == nil || !strings.Contains(err.Error(), "larger") {
		t.Errorf("a body above the limit: %v", err)
	}
}
