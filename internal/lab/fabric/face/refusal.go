// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package face

import (
	"errors"
	"net/http"
)

// Refusal is an error that an FTI service answers.
type Refusal struct {
	Status  int
	Code    string
	Message string
}

func (e *Refusal) Error() string { return e.Code + ": " + e.Message }

// Refuse refuses a request.
func Refuse(status int, code, message string) error {
	return &Refusal{Status: status, Code: code, Message: message}
}

// Fail answers an error in the shape of FTI's services.
func Fail(w http.ResponseWriter, err error) {
	refused := &Refusal{Status: http.StatusInternalServerError, Code: "E029999", Message: err.Error()}
	errors.As(err, &refused)

	JSON(w, refused.Status, map[string]any{
		"status": refused.Status,
		"detail": map[string]any{"code": refused.Code, "message": refused.Message, "data": map[string]any{}},
	})
}
