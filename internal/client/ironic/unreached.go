// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"errors"
	"fmt"
	"net"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/transport"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// unreached sorts a request that got no answer. Without a valid certificate there will
// be none at the next try either; everything else may be better then.
func (c *Client) unreached(k call, err error) error {
	err = transport.Inner(err) // the URL is known, and the method is in Op
	e := &RequestError{Op: k.op, kind: ErrUnreachable, unsent: transport.Unconnected(err)}
	cause := transport.CauseOf(err)

	var slow net.Error

	switch {
	case cause == transport.Untrusted:
		e.Text = "the certificate of Ironic is not trusted: " + err.Error()
	case cause == transport.Alerted:
		e.Text = "Ironic ended the TLS handshake: " + err.Error()
	case cause == transport.NoTLS:
		e.Text = "the endpoint says https, but the server does not speak TLS"
	case errors.As(err, &slow) && slow.Timeout() && !e.unsent:
		e.Text = fmt.Sprintf("no answer within %s", c.timeout)

		return wait.Transient(e)
	case cause == transport.Ended:
		e.Text = "the connection ended before the answer"

		return wait.Transient(e)
	default:
		e.Text = c.secrets.clean(err.Error(), k.passing...)

		return wait.Transient(e)
	}

	e.Text = c.secrets.clean(e.Text)

	return e
}
