// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
)

// AuthGetOrCreate returns the key of a user, and makes the user where there is none. The caps
// of one that is there stay as they are: AuthCaps changes them.
func (c *Cluster) AuthGetOrCreate(ctx context.Context, entity string, caps map[string]string) (string, error) {
	user, err := c.oneUser(ctx, command{"prefix": "auth get-or-create", "entity": entity, "caps": capList(caps)})

	// Releases differ in whether other caps of a user that is there are refused.
	var e *Error
	if errors.Is(err, ErrInvalid) && errors.As(err, &e) && strings.Contains(e.Status, "does not match") {
		user, err = c.AuthGet(ctx, entity)
	}

	return user.Key, err
}

// AuthGet returns a user with its key, or ErrNotFound.
func (c *Cluster) AuthGet(ctx context.Context, entity string) (User, error) {
	return c.oneUser(ctx, command{"prefix": "auth get", "entity": entity})
}

// AuthCaps gives a user these caps, and no others.
func (c *Cluster) AuthCaps(ctx context.Context, entity string, caps map[string]string) error {
	return c.tell(ctx, command{"prefix": "auth caps", "entity": entity, "caps": capList(caps)})
}

// AuthRemove removes a user. One that is not there is no error.
func (c *Cluster) AuthRemove(ctx context.Context, entity string) error {
	return except(c.tell(ctx, command{"prefix": "auth rm", "entity": entity}), ErrNotFound)
}

// AuthImport takes in the users of a keyring, with their keys and caps.
func (c *Cluster) AuthImport(ctx context.Context, keyring []byte) error {
	var keys []string

	for word := range strings.FieldsSeq(string(keyring)) {
		if len(word) >= 12 && word[0] != '[' {
			keys = append(keys, word)
		}
	}

	_, err := c.ask(ctx, request{command: command{"prefix": "auth import"}, in: keyring, secrets: keys, hidden: true})

	return err
}

// AuthList returns all users, without their keys.
func (c *Cluster) AuthList(ctx context.Context) ([]User, error) {
	doc, err := queryOf[userListDoc](ctx, c, request{command: command{"prefix": "auth ls"}, hidden: true})
	if err != nil {
		return nil, err
	}

	users := make([]User, 0, len(doc.Users))

	for _, u := range doc.Users {
		if u.Entity != "" {
			user := u.user()
			user.Key = ""
			users = append(users, user)
		}
	}

	return users, nil
}

// oneUser asks for one user with its key.
func (c *Cluster) oneUser(ctx context.Context, cmd command) (User, error) {
	r := request{command: cmd, hidden: true}

	doc, err := queryOf[userDocs](ctx, c, r)
	if err != nil {
		return User{}, err
	}

	for _, u := range doc {
		if string(u.Entity) == cmd["entity"] && u.Key != "" {
			return u.user(), nil
		}
	}

	return User{}, r.unreadable(reply{})
}

// capList is the list that the command wants: a kind of daemon, then its cap, and so on.
func capList(caps map[string]string) []string {
	list := make([]string, 0, 2*len(caps))
	for _, kind := range slices.Sorted(maps.Keys(caps)) {
		list = append(list, kind, caps[kind])
	}

	return list
}

type userDoc struct {
	Entity text            `json:"entity"`
	Key    text            `json:"key"`
	Caps   map[string]text `json:"caps"`
}

func (d *userDoc) user() User {
	u := User{Entity: string(d.Entity), Key: string(d.Key), Caps: make(map[string]string, len(d.Caps))}
	for kind, caps := range d.Caps {
		u.Caps[kind] = string(caps)
	}

	return u
}

type userDocs []userDoc

func (d *userDocs) fits() bool { return len(*d) > 0 && (*d)[0].Entity != "" }

type userListDoc struct {
	Users []userDoc `json:"auth_dump"`
}

func (d *userListDoc) fits() bool { return d.Users != nil }
