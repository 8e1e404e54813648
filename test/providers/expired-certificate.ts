/** A certificate for localhost that has expired and that nobody trusts, with its key: made for these tests alone. */
export const expiredCertificate = {
  key: `-----BEGIN EC PRIVATE KEY-----
MHcCAQEEIADr528Ve9bHFzlKbqAn10234/Zru4+Hz4Ovr9UGU3vKoAoGCCqGSM49
AwEHoUQDQgAEybb8/5sIcp4I0FiZ0NKtisuveV8I/3pwffnhBI6xb2daV5GYH/20
xq9VeqCR4qcaD5fv9d9+yCQuinUKyrAG+A==
-----END EC PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBTTCB9KADAgECAgEBMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMMCWxvY2FsaG9z
dDAeFw0yMDAxMDEwMDAwMDBaFw0yMDAyMDEwMDAwMDBaMBQxEjAQBgNVBAMMCWxv
Y2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABMm2/P+bCHKeCNBYmdDS
rYrLr3lfCP96cH354QSOsW9nWleRmB/9tMavVXqgkeKnGg+X7/XffsgkLop1Csqw
BvijNzA1MBQGA1UdEQQNMAuCCWxvY2FsaG9zdDAdBgNVHQ4EFgQUqkVSpGCnyNrv
VL/wA1UZ6I8fI/AwCgYIKoZIzj0EAwIDSAAwRQIgLZipVhxrrGQtKAD3u7timcoZ
I6jDWQhmX7k0PY7A1wgCIQCnLRGroQFA4Fb9tcpI8z3LUCgb9V+2v/1oCd2JGht6
wA==
-----END CERTIFICATE-----`,
};
