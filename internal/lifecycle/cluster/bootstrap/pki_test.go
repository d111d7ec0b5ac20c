// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/bootstrap"
)

func certificate(t *testing.T, text string) *x509.Certificate {
	t.Helper()

	block, _ := pem.Decode([]byte(text))
	if block == nil {
		t.Fatalf("no PEM in %q", text)
	}

	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}

	return cert
}

func TestGenerate(t *testing.T) {
	t.Parallel()

	for algorithm, want := range map[bootstrap.Algorithm]x509.PublicKeyAlgorithm{
		"": x509.ECDSA, bootstrap.ECDSAP256: x509.ECDSA, bootstrap.ECDSAP384: x509.ECDSA, bootstrap.RSA2048: x509.RSA,
	} {
		t.Run("keys of "+string(algorithm), func(t *testing.T) {
			t.Parallel()

			p, err := bootstrap.Generate(bootstrap.PKI{}, bootstrap.PKIOptions{Algorithm: algorithm, Years: 3, Now: now})
			if err != nil {
				t.Fatal(err)
			}

			for cn, text := range map[string]string{"kubernetes": p.CA.Certificate, "etcd-ca": p.EtcdCA.Certificate, "front-proxy-ca": p.FrontProxyCA.Certificate} {
				cert := certificate(t, text)
				if cert.Subject.CommonName != cn || !cert.IsCA || cert.PublicKeyAlgorithm != want || !cert.NotAfter.Equal(now.AddDate(3, 0, 0)) || cert.SerialNumber.Sign() <= 0 {
					t.Errorf("%s: %v %v %v until %v", cn, cert.Subject, cert.IsCA, cert.PublicKeyAlgorithm, cert.NotAfter)
				}
			}

			for _, key := range []string{p.CA.Key, p.EtcdCA.Key, p.FrontProxyCA.Key, p.ServiceAccount.Key} {
				if !strings.HasPrefix(key, "-----BEGIN PRIVATE KEY-----\n") {
					t.Errorf("a key is no PKCS#8")
				}
			}
		})
	}
}

func TestGenerate_keepsWhatIsThere(t *testing.T) {
	t.Parallel()

	first := pki(t)

	text, err := json.Marshal(first)
	if err != nil {
		t.Fatal(err)
	}

	var read bootstrap.PKI
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}

	again, err := bootstrap.Generate(read, bootstrap.PKIOptions{Now: now.AddDate(1, 0, 0)})
	if err != nil || again != first {
		t.Errorf("it is made anew: %v", err)
	}

	read.EtcdCA, read.ServiceAccount.Certificate = bootstrap.Pair{}, ""

	again, err = bootstrap.Generate(read, bootstrap.PKIOptions{Now: now})
	if err != nil || again.CA != first.CA || again.EtcdCA == first.EtcdCA || again.ServiceAccount != first.ServiceAccount {
		t.Errorf("what is missing is not made, or more than that: %v", err)
	}
}

// TestGenerate_takesKeysOfAllForms gives keys as OpenSSL and others write them.
func TestGenerate_takesKeysOfAllForms(t *testing.T) {
	t.Parallel()

	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}

	sec1, err := x509.MarshalECPrivateKey(ec)
	if err != nil {
		t.Fatal(err)
	}

	old, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}

	for name, text := range map[string]string{
		"SEC 1 with parameters": "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n" + block("EC PRIVATE KEY", sec1),
		"PKCS#1":                block("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(old)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p, err := bootstrap.Generate(bootstrap.PKI{ServiceAccount: bootstrap.Pair{Key: text}}, bootstrap.PKIOptions{Now: now})
			if err != nil || p.ServiceAccount.Key != text || !strings.HasPrefix(p.ServiceAccount.Certificate, "-----BEGIN PUBLIC KEY-----") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func block(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func TestPKI_refusals(t *testing.T) {
	t.Parallel()

	good, other := pki(t), pki(t)

	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}

	edKey, err := x509.MarshalPKCS8PrivateKey(ed)
	if err != nil {
		t.Fatal(err)
	}

	leaf, err := bootstrap.Kubeconfig(good, vars().Cluster.Endpoint, bootstrap.Options{Organizations: []string{"g"}, TTL: time.Hour, Now: now})
	if err != nil {
		t.Fatal(err)
	}

	for name, c := range map[string]struct {
		change func(*bootstrap.PKI)
		at     time.Time
		says   []string
	}{
		"a key of another":         {func(p *bootstrap.PKI) { p.CA.Key = other.CA.Key }, now, []string{"cluster CA: the private key does not belong"}},
		"no key":                   {func(p *bootstrap.PKI) { p.EtcdCA.Key = "" }, now, []string{"etcd CA: private key: missing"}},
		"no certificate":           {func(p *bootstrap.PKI) { p.FrontProxyCA.Certificate = "" }, now, []string{"front proxy CA: certificate: missing"}},
		"no PEM":                   {func(p *bootstrap.PKI) { p.CA.Key = "s3cr3t" }, now, []string{"cluster CA: private key: no PEM block"}},
		"a broken key":             {func(p *bootstrap.PKI) { p.CA.Key = block("PRIVATE KEY", []byte("s3cr3t")) }, now, []string{"cluster CA: private key: it cannot be read"}},
		"a broken certificate":     {func(p *bootstrap.PKI) { p.CA.Certificate = block("CERTIFICATE", []byte("s3cr3t")) }, now, []string{"cluster CA: certificate: it cannot be read"}},
		"a kind that nobody takes": {func(p *bootstrap.PKI) { p.CA.Key = block("PRIVATE KEY", edKey) }, now, []string{"neither RSA nor ECDSA"}},
		"an encrypted key": {func(p *bootstrap.PKI) {
			p.CA.Key = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: A,B\n\nAAAA\n-----END RSA PRIVATE KEY-----\n"
		}, now, []string{"it is encrypted"}},
		"no authority":                   {func(p *bootstrap.PKI) { p.CA = bootstrap.Pair{Certificate: leaf.Certificate, Key: leaf.Key} }, now, []string{"cluster CA: the certificate is not that of an authority"}},
		"ended":                          {func(*bootstrap.PKI) {}, now.AddDate(11, 0, 0), []string{"cluster CA: the certificate ended", "etcd CA: the certificate ended"}},
		"not begun":                      {func(*bootstrap.PKI) {}, now.AddDate(-1, 0, 0), []string{"not valid before"}},
		"a public key of another":        {func(p *bootstrap.PKI) { p.ServiceAccount.Certificate = other.ServiceAccount.Certificate }, now, []string{"service account: the private key does not belong"}},
		"a public key alone":             {func(p *bootstrap.PKI) { p.ServiceAccount.Key = "" }, now, []string{"service account: private key: missing"}},
		"a certificate for a public key": {func(p *bootstrap.PKI) { p.ServiceAccount.Certificate = good.CA.Certificate }, now, []string{"service account: public key"}},
		"a long text":                    {func(p *bootstrap.PKI) { p.CA.Key = strings.Repeat("s3cr3t", 1<<16) }, now, []string{"more than"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := good
			c.change(&p)

			err := p.Check(c.at)
			contains(t, fmt.Sprint(err), c.says...)

			if strings.Contains(fmt.Sprint(err), "s3cr3t") {
				t.Errorf("the error repeats what was given: %v", err)
			}

			if _, err := bootstrap.Generate(p, bootstrap.PKIOptions{Now: c.at}); err == nil {
				t.Error("it is taken")
			}
		})
	}
}

func TestPKI_caHash(t *testing.T) {
	t.Parallel()

	p := pki(t)
	sum := sha256.Sum256(certificate(t, p.CA.Certificate).RawSubjectPublicKeyInfo)

	if got, err := p.CAHash(); err != nil || got != "sha256:"+hex.EncodeToString(sum[:]) {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestSecrets_arePrintedAsStars prints what holds secrets in all the ways that a slip could.
func TestSecrets_arePrintedAsStars(t *testing.T) {
	t.Parallel()

	p := pki(t)

	a, err := bootstrap.Kubeconfig(p, vars().Cluster.Endpoint, bootstrap.Options{Organizations: []string{"g"}, TTL: time.Hour, Now: now})
	if err != nil {
		t.Fatal(err)
	}

	tok := token()

	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		text := fmt.Sprintf(strings.Repeat(format+" ", 5), p, p.CA, a, tok, struct{ Token bootstrap.Token }{tok})
		for _, secret := range []string{"PRIVATE", "0123456789abcdef", "client-key-data"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s shows %s: %s", format, secret, text)
			}
		}
	}
}

func TestToken(t *testing.T) {
	t.Parallel()

	form := regexp.MustCompile(`^[a-z0-9]{6}\.[a-z0-9]{16}$`)
	seen := map[string]bool{}

	for range 100 {
		tok, err := bootstrap.NewToken()
		if err != nil {
			t.Fatal(err)
		}

		if !form.MatchString(tok.Reveal()) || seen[tok.ID] || strings.Contains(tok.String(), tok.Secret) {
			t.Errorf("%v", tok)
		}

		seen[tok.ID] = true
	}
}

func FuzzPKI(f *testing.F) {
	p, err := bootstrap.Generate(bootstrap.PKI{}, bootstrap.PKIOptions{Now: now})
	if err != nil {
		f.Fatal(err)
	}

	f.Add(p.CA.Certificate, p.CA.Key)
	f.Add(p.ServiceAccount.Certificate, p.ServiceAccount.Key)
	f.Add("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "-----BEGIN EC PRIVATE KEY-----\n-----END EC PRIVATE KEY-----\n")

	f.Fuzz(func(t *testing.T, cert, key string) {
		given := bootstrap.Pair{Certificate: cert, Key: key}
		if err := given.Check(now); err == nil && (cert == "" || key == "") {
			t.Error("half a pair is taken")
		}

		bootstrap.PKI{CA: given, EtcdCA: given, FrontProxyCA: given, ServiceAccount: given}.CAHash() //nolint:errcheck // it must not panic
	})
}
