// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package token

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

var errGrant = errors.New("token is not active")

// issue answers a new pair of tokens: for a refresh token, which is then used up, or for a
// login where it is empty.
func (s service) issue(w http.ResponseWriter, old string) {
	var doc map[string]any

	tune := s.env.Tuned()

	err := s.env.Update(func(tx store.Tx, now time.Time) error {
		if err := forget(tx, func(t issued) bool { return !now.Before(t.Exp) }); err != nil {
			return err
		}

		if old != "" {
			var t issued
			if ok, err := tx.Get(bucket, key(old), &t); err != nil || !ok || t.Kind != refresh {
				return errors.Join(err, errGrant)
			}

			if err := tx.Delete(bucket, key(old)); err != nil {
				return err
			}
		}

		var n int
		if _, err := tx.Get(counter, number, &n); err != nil {
			return err
		}

		n++

		if err := tx.Put(counter, number, n); err != nil {
			return err
		}

		var (
			exp    = now.Add(tune.TokenLifetime)
			until  = now.Add(tune.RefreshLifetime)
			access = access(tune.TokenShape, n, now, exp)
			next   = jwt(claims(n, "Refresh", now, strconv.FormatInt(until.Unix(), 10)))
		)

		doc = answer(tune, access, next, n)

		return errors.Join(
			tx.Put(bucket, key(access), issued{Kind: kindKey, Exp: exp}),
			tx.Put(bucket, key(next), issued{Kind: refresh, Exp: until}))
	})

	switch {
	case errors.Is(err, errGrant):
		face.JSON(w, http.StatusBadRequest, refusal("invalid_grant", "Token is not active"))
	case err != nil:
		face.JSON(w, http.StatusInternalServerError, refusal("server_error", err.Error()))
	default:
		face.JSON(w, http.StatusOK, doc)
	}
}

func answer(tune face.Tuning, access, next string, n int) map[string]any {
	seconds := int(tune.TokenLifetime / time.Second)
	doc := map[string]any{
		"access_token": access, "expires_in": seconds, "refresh_token": next,
		"refresh_expires_in": int(tune.RefreshLifetime / time.Second), "token_type": "Bearer", "not-before-policy": 0,
		"session_state": hardware.UUID(fmt.Sprint("session ", n)), "scope": "openid email pgcdi_privileges profile",
		"id_token": jwt(`{"typ":"ID"}`),
	}

	switch tune.TokenShape {
	case face.TokenNoExpiry, face.TokenMute:
		delete(doc, "expires_in")
	case face.TokenTextual:
		doc["expires_in"] = strconv.Itoa(seconds)
	default:
	}

	return doc
}

// access is an access token of a shape. No two are equal.
func access(shape face.TokenShape, n int, now, exp time.Time) string {
	unix := strconv.FormatInt(exp.Unix(), 10)

	switch shape {
	case face.TokenOpaque, face.TokenMute:
		sum := sha256.Sum256([]byte(claims(n, "Bearer", now, unix)))

		return hex.EncodeToString(sum[:])
	case face.TokenTwoPart:
		return encode(header) + "." + encode(claims(n, "Bearer", now, unix))
	case face.TokenPadded:
		text := claims(n, "Bearer", now, unix)
		for len(text)%3 != 1 { // so that there is something to pad
			text += " "
		}

		return encode(header) + "." + base64.URLEncoding.EncodeToString([]byte(text)) + "." + sign(text)
	case face.TokenFloatExp:
		return jwt(claims(n, "Bearer", now, strconv.FormatFloat(float64(exp.Unix()), 'e', -1, 64)))
	case face.TokenNoExpiry:
		return jwt(claims(n, "Bearer", now, ""))
	default:
		return jwt(claims(n, "Bearer", now, unix))
	}
}

const header = `{"alg":"HS256","typ":"JWT","kid":"lab"}`

func claims(n int, kind string, now time.Time, exp string) string {
	text := fmt.Sprintf(`{"iat":%d,"jti":%q,"iss":"/id_manager/realms/%s","typ":%q,"azp":%q,"preferred_username":%q`,
		now.Unix(), hardware.UUID(fmt.Sprint(kind, n)), Realm, kind, ClientID, Username)
	if exp != "" {
		text += `,"exp":` + exp
	}

	return text + "}"
}

func jwt(payload string) string {
	signed := encode(header) + "." + encode(payload)

	return signed + "." + sign(signed)
}

func encode(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }

func sign(text string) string {
	mac := hmac.New(sha256.New, []byte("the lab's key")) // proves nothing: the store knows what was issued
	mac.Write([]byte(text))

	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
