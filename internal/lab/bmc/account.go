// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc

const (
	accountsPath = root + "/AccountService/Accounts"
	accountPath  = accountsPath + "/1"
)

func accountService(c *call) (answer, error) {
	return c.resource(entity(c.path(), "AccountService.v1_12_0.AccountService", "AccountService", "Accounts", obj{
		"ServiceEnabled": true, "MinPasswordLength": 1, "Accounts": ref(accountsPath),
	})), nil
}

func accountList(c *call) (answer, error) {
	return c.resource(collection(c.path(), "ManagerAccount", accountPath)), nil
}

func (c *call) accountDoc() obj {
	return entity(accountPath, "ManagerAccount.v1_9_0.ManagerAccount", "1", "Administrator", obj{
		"UserName": c.m.Username, "Password": nil, "RoleId": "Administrator", "Enabled": true, "Locked": false,
	})
}

func oneAccount(c *call) (answer, error) { return c.resource(c.accountDoc()), nil }

// patchAccount changes the password, which ends every session, the one that asked included.
func patchAccount(c *call) (answer, error) {
	if a, refused, err := c.precondition(c.accountDoc()); refused || err != nil {
		return a, err
	}

	password := text(c.body, "Password")
	if password == "" {
		return bad("PropertyMissing", "Password"), nil
	}

	c.m.Password, c.m.Faults.Password = password, ""
	c.m.Say(c.now, "password changed")

	return noContent(), c.save()
}
