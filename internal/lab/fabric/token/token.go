// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package token is the token service of the lab's fabric, as Keycloak has it: logins with a
// password, refreshing, and introspection.
//
// What was issued is in the store, so that a token of any shape can be checked, and one
// process of a Terraform command accepts what another one was given.
package token

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// What the lab's token service accepts. The vendor wants the realm to be the tenant.
const (
	Realm        = hardware.Tenant
	ClientID     = "cdi"
	ClientSecret = "cdi-secret"
	Username     = "fabric"
	Password     = "fabric-password"
)

const (
	bucket  = "fabric_tokens"
	kindKey = "access"
	refresh = "refresh"
	number  = "last_token"
	counter = "fabric"
)

// issued is what the store knows of a token.
type issued struct {
	Kind string    `json:"kind"`
	Exp  time.Time `json:"exp"`
}

// New returns the face below /id_manager.
func New(e *face.Env) http.Handler {
	s := service{e}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /id_manager/realms/{realm}/protocol/openid-connect/token", s.token)
	mux.HandleFunc("POST /id_manager/realms/{realm}/protocol/openid-connect/token/introspect", s.introspect)

	return mux
}

type service struct{ env *face.Env }

// Check tells whether a request carries a token that is good; the answer 401 has been sent if not.
func Check(e *face.Env, w http.ResponseWriter, r *http.Request) bool {
	raw, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")

	var t issued

	err := e.View(func(tx store.Tx, now time.Time) error {
		if !ok {
			return nil
		}

		found, err := tx.Get(bucket, key(raw), &t)
		ok = found && t.Kind == kindKey && now.Before(t.Exp)

		return err
	})

	switch {
	case err != nil:
		face.JSON(w, http.StatusInternalServerError, refusal("server_error", err.Error()))
	case !ok:
		w.Header().Set("WWW-Authenticate", `Bearer realm="`+Realm+`", error="invalid_token"`)
		face.JSON(w, http.StatusUnauthorized, refusal("invalid_token", "Token verification failed"))
	}

	return err == nil && ok
}

// Revoke ends all tokens, those for refreshing too where all is true.
func Revoke(tx store.Tx, all bool) error {
	return forget(tx, func(t issued) bool { return all || t.Kind == kindKey })
}

func forget(tx store.Tx, which func(issued) bool) error {
	var old []string

	err := tx.Each(bucket, func(key string, raw json.RawMessage) error {
		var t issued
		if err := json.Unmarshal(raw, &t); err != nil || which(t) {
			old = append(old, key)
		}

		return nil
	})

	for _, key := range old {
		if err := tx.Delete(bucket, key); err != nil {
			return err
		}
	}

	return err
}

func key(token string) string {
	sum := sha256.Sum256([]byte(token))

	return hex.EncodeToString(sum[:])
}

// token answers the grants.
func (s service) token(w http.ResponseWriter, r *http.Request) {
	if !s.client(w, r) {
		return
	}

	form := r.PostForm

	switch grant := form.Get("grant_type"); grant {
	case "password":
		switch {
		case form.Get("username") != Username || form.Get("password") != Password:
			face.JSON(w, http.StatusUnauthorized, refusal("invalid_grant", "Invalid user credentials"))
		case form.Get("scope") != "openid":
			face.JSON(w, http.StatusBadRequest, refusal("invalid_scope", "Invalid scopes: "+form.Get("scope")))
		case form.Get("response_type") != "id_token token" && form.Get("response") != "id_token token":
			face.JSON(w, http.StatusBadRequest, refusal("invalid_request", "Missing parameter: response_type"))
		default:
			s.issue(w, "")
		}
	case refresh + "_token":
		if form.Get("refresh_token") == "" {
			face.JSON(w, http.StatusBadRequest, refusal("invalid_request", "No refresh token"))

			return
		}

		s.issue(w, form.Get("refresh_token"))
	default:
		face.JSON(w, http.StatusBadRequest, refusal("unsupported_grant_type", "Unsupported grant_type "+strconv.Quote(grant)))
	}
}

// client checks realm, form and client.
func (s service) client(w http.ResponseWriter, r *http.Request) bool {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")

	switch {
	case r.PathValue("realm") != Realm:
		face.JSON(w, http.StatusNotFound, map[string]any{"error": "Realm does not exist"})
	case kind != "application/x-www-form-urlencoded":
		face.JSON(w, http.StatusUnsupportedMediaType, refusal("invalid_request", "Content-Type "+kind))
	case r.ParseForm() != nil:
		face.JSON(w, http.StatusBadRequest, refusal("invalid_request", "The form cannot be read"))
	case r.PostForm.Get("client_id") != ClientID || r.PostForm.Get("client_secret") != ClientSecret:
		face.JSON(w, http.StatusUnauthorized, refusal("unauthorized_client", "Invalid client or Invalid client credentials"))
	default:
		return true
	}

	return false
}

func (s service) introspect(w http.ResponseWriter, r *http.Request) {
	if !s.client(w, r) {
		return
	}

	var (
		t    issued
		good bool
	)

	err := s.env.View(func(tx store.Tx, now time.Time) error {
		found, err := tx.Get(bucket, key(r.PostForm.Get("token")), &t)
		good = found && now.Before(t.Exp)

		return err
	})

	switch {
	case err != nil:
		face.JSON(w, http.StatusInternalServerError, refusal("server_error", err.Error()))
	case !good:
		face.JSON(w, http.StatusOK, map[string]any{"active": false})
	default:
		face.JSON(w, http.StatusOK, map[string]any{
			"active": true, "exp": t.Exp.Unix(), "username": Username, "client_id": ClientID, "token_type": "Bearer",
			"pgcdi_privileges": map[string]any{
				"tenant": hardware.Tenant, "roles": []string{"cluster_manager", "system_manager"}, "clusters": []string{hardware.Cluster},
			},
		})
	}
}

func refusal(code, text string) map[string]any {
	return map[string]any{"error": code, "error_description": text}
}
