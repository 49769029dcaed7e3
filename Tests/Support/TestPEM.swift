/// Certificates with their keys in PEM, that sign themselves: made once with `openssl req -x509`, for the names
/// `server.example.test` and so on.
public enum TestPEM {
    public static let server = """
        -----BEGIN CERTIFICATE-----
        MIIBszCCAVmgAwIBAgIURCpmNJCO0BTeu78c9jsFAUt38q0wCgYIKoZIzj0EAwIw
        HjEcMBoGA1UEAwwTc2VydmVyLmV4YW1wbGUudGVzdDAgFw0yNjExMjEwNzA1MTla
        GA8yMTI2MTAyODA3MDUxOVowHjEcMBoGA1UEAwwTc2VydmVyLmV4YW1wbGUudGVz
        dDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABKCmMk/V7SORYtLQooyZ2wKdXhJx
        AlUhl2iMMNILyIwf9wb/T7bos5llaxhD9GQQ37QJIicA+PpE7Q24ZPhIDtijczBx
        MB0GA1UdDgQWBBRpTdL9YWnOFU+fcBVbBp+wLFgZbjAfBgNVHSMEGDAWgBRpTdL9
        YWnOFU+fcBVbBp+wLFgZbjAPBgNVHRMBAf8EBTADAQH/MB4GA1UdEQQXMBWCE3Nl
        cnZlci5leGFtcGxlLnRlc3QwCgYIKoZIzj0EAwIDSAAwRQIhAPyuUzrV0m3xGqyl
        tbyo/H6zAPa7eJk/ncD3/8fi8RS6AiA0U24wCrMPsBLXVfqKYBAAjUhDdal0Eq2+
        rBjqHkNBJg==
        -----END CERTIFICATE-----
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgNQdaEupWwycshB03
        pdZBmYhgwQBVUujY8x8TSF0DZnOhRANCAASgpjJP1e0jkWLS0KKMmdsCnV4ScQJV
        IZdojDDSC8iMH/cG/0+26LOZZWsYQ/RkEN+0CSInAPj6RO0NuGT4SA7Y
        -----END PRIVATE KEY-----
        """

    public static let other = """
        -----BEGIN CERTIFICATE-----
        MIIBsTCCAVagAwIBAgIUD+ICwEXXY4A/dHkcY8TmtzqngMAwCgYIKoZIzj0EAwIw
        HTEbMBkGA1UEAwwSb3RoZXIuZXhhbXBsZS50ZXN0MCAXDTI2MTEyMTA3MDUxOVoY
        DzIxMjYxMDI4MDcwNTE5WjAdMRswGQYDVQQDDBJvdGhlci5leGFtcGxlLnRlc3Qw
        WTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARejom5dgiBf/kB7NUNRclqup4PHml7
        YnMyhZeyUYJ2HMTvaKYxcvBCG7aPY2EvRgdL6rptEWt8K6407kGx32pGo3IwcDAd
        BgNVHQ4EFgQUCCuGzs8b6WOf7BQXjrwc00NnStIwHwYDVR0jBBgwFoAUCCuGzs8b
        6WOf7BQXjrwc00NnStIwDwYDVR0TAQH/BAUwAwEB/zAdBgNVHREEFjAUghJvdGhl
        ci5leGFtcGxlLnRlc3QwCgYIKoZIzj0EAwIDSQAwRgIhALbmyI3cCS93RRLUO2AE
        QQ93/HG82FSV3ZiJY9CHX9svAiEAv+oB/KfarDofby00Mc24p0yicJWImN/slAPE
        gmj0V9M=
        -----END CERTIFICATE-----
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgz1eYqVkGoXw2KLTr
        gnc4u6gkBGSoaWho4KSixOYEhPShRANCAARejom5dgiBf/kB7NUNRclqup4PHml7
        YnMyhZeyUYJ2HMTvaKYxcvBCG7aPY2EvRgdL6rptEWt8K6407kGx32pG
        -----END PRIVATE KEY-----
        """

    public static let client = """
        -----BEGIN CERTIFICATE-----
        MIIBszCCAVmgAwIBAgIUBbNcOwjdsUpPBdnuPVDb3s6PcpAwCgYIKoZIzj0EAwIw
        HjEcMBoGA1UEAwwTY2xpZW50LmV4YW1wbGUudGVzdDAgFw0yNjExMjEwNzA1MTla
        GA8yMTI2MTAyODA3MDUxOVowHjEcMBoGA1UEAwwTY2xpZW50LmV4YW1wbGUudGVz
        dDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABD4xzs3owzm219FztwKPdoF94C5s
        Bp2G1GcrTIFoaFRl7ebJml9Rmb5RmreAGqHd1xWKy6Kh6fl8ne2BiVbQcmGjczBx
        MB0GA1UdDgQWBBQMg9Xbbi1y6spk4HjNDg56pjqeBDAfBgNVHSMEGDAWgBQMg9Xb
        bi1y6spk4HjNDg56pjqeBDAPBgNVHRMBAf8EBTADAQH/MB4GA1UdEQQXMBWCE2Ns
        aWVudC5leGFtcGxlLnRlc3QwCgYIKoZIzj0EAwIDSAAwRQIgVYFwLKGhVpn2W7T6
        +oMy/TxFRe7+5zPDRYCoNv5SuJ8CIQCO9Pyr4EEz7ObbN27R+7/HiMT224fgolzQ
        eosMRnDajA==
        -----END CERTIFICATE-----
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg8rmyXW4QJSMmfwsY
        FP4MAPLF29ZcMKOYRv5KfvcVgwihRANCAAQ+Mc7N6MM5ttfRc7cCj3aBfeAubAad
        htRnK0yBaGhUZe3myZpfUZm+UZq3gBqh3dcVisuioen5fJ3tgYlW0HJh
        -----END PRIVATE KEY-----
        """
}
