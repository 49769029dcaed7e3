import TLS
import Testing

@testable import Proxy

/// The name that a client's certificate gives it.
struct CertificateUserTests {
    @Test(arguments: [
        // Behind the common name "web" each: a SPIFFE ID, another URI, and two SPIFFE IDs, of which none counts.
        (
            """
            -----BEGIN CERTIFICATE-----
            MIIBnjCCAUOgAwIBAgIUeiO138H+RT9M6iGgUYWJx3jsVBAwCgYIKoZIzj0EAwIw
            DjEMMAoGA1UEAwwDd2ViMB4XDTI2MTEyNjE0MjAyM1oXDTM2MTEyMzE0MjAyM1ow
            DjEMMAoGA1UEAwwDd2ViMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqinLvyKc
            bpyglZXv1oCtVhSaLs6TYiUrCcbgmZAQ4xFOveC6kd4zTFSDbfnd7qN/WYzFu/ts
            DvoXCBsMrodms6N/MH0wHQYDVR0OBBYEFOCIrbF6WU3fRAbYUAPF/F3t2FaKMB8G
            A1UdIwQYMBaAFOCIrbF6WU3fRAbYUAPF/F3t2FaKMA8GA1UdEwEB/wQFMAMBAf8w
            KgYDVR0RBCMwIYYfc3BpZmZlOi8vZXhhbXBsZS50ZXN0L25zL2Evc2EvYjAKBggq
            hkjOPQQDAgNJADBGAiEA6UdiKiBlFmo2gxBzGlfxqWpWIlJ+JmHLydgplzuZCsQC
            IQDK3x+aPeDGkR+1WUF/xdFq9yvJNkT79Y3v2k4O9b5Ojw==
            -----END CERTIFICATE-----
            """, "spiffe://example.test/ns/a/sa/b"
        ),
        (
            """
            -----BEGIN CERTIFICATE-----
            MIIBqDCCAU6gAwIBAgIUIlwqgZ1PY2GVcgZbM1+bFx2UWxAwCgYIKoZIzj0EAwIw
            DjEMMAoGA1UEAwwDd2ViMB4XDTI2MTEyNjE0MjAyM1oXDTM2MTEyMzE0MjAyM1ow
            DjEMMAoGA1UEAwwDd2ViMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqinLvyKc
            bpyglZXv1oCtVhSaLs6TYiUrCcbgmZAQ4xFOveC6kd4zTFSDbfnd7qN/WYzFu/ts
            DvoXCBsMrodms6OBiTCBhjAdBgNVHQ4EFgQU4IitsXpZTd9EBthQA8X8Xe3YVoow
            HwYDVR0jBBgwFoAU4IitsXpZTd9EBthQA8X8Xe3YVoowDwYDVR0TAQH/BAUwAwEB
            /zAzBgNVHREELDAqhhZodHRwczovL2V4YW1wbGUudGVzdC94gRBhbm5AZXhhbXBs
            ZS50ZXN0MAoGCCqGSM49BAMCA0gAMEUCIQD5X9DvDQS22K8x55yp4/XAyq2e3wez
            LWtqL7H2hmApIAIgVKV1KoNSZQLK43tMlLnBX6dywfru8IGQ3GT9S5Ots74=
            -----END CERTIFICATE-----
            """, "web"
        ),
        (
            """
            -----BEGIN CERTIFICATE-----
            MIIBpDCCAUqgAwIBAgIUNGVTWxER1VLBWWIWWnmIIU7dJpwwCgYIKoZIzj0EAwIw
            DjEMMAoGA1UEAwwDd2ViMB4XDTI2MTEyNjE0MjAyM1oXDTM2MTEyMzE0MjAyM1ow
            DjEMMAoGA1UEAwwDd2ViMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqinLvyKc
            bpyglZXv1oCtVhSaLs6TYiUrCcbgmZAQ4xFOveC6kd4zTFSDbfnd7qN/WYzFu/ts
            DvoXCBsMrodms6OBhTCBgjAdBgNVHQ4EFgQU4IitsXpZTd9EBthQA8X8Xe3YVoow
            HwYDVR0jBBgwFoAU4IitsXpZTd9EBthQA8X8Xe3YVoowDwYDVR0TAQH/BAUwAwEB
            /zAvBgNVHREEKDAmhhFzcGlmZmU6Ly9hLnRlc3QvMYYRc3BpZmZlOi8vYS50ZXN0
            LzIwCgYIKoZIzj0EAwIDSAAwRQIgbGXf8skS++7KG8/aVwrCNZOaGa5GWRxingTg
            vD3z7VQCIQCq7/aVv3Wssvl/g7+EjO1l3WH0MB835AgVq7z+ozcYLQ==
            -----END CERTIFICATE-----
            """, "web"
        ),
        // Without a common name.
        (
            """
            -----BEGIN CERTIFICATE-----
            MIIBizCCATCgAwIBAgIUTlClh3wfpt6tjV3wHGZ0ZwW7Q4owCgYIKoZIzj0EAwIw
            DDEKMAgGA1UECgwBeDAeFw0yNjExMjYxNDIwMjNaFw0zNjExMjMxNDIwMjNaMAwx
            CjAIBgNVBAoMAXgwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASqKcu/IpxunKCV
            le/WgK1WFJouzpNiJSsJxuCZkBDjEU694LqR3jNMVINt+d3uo39ZjMW7+2wO+hcI
            Gwyuh2azo3AwbjAdBgNVHQ4EFgQU4IitsXpZTd9EBthQA8X8Xe3YVoowHwYDVR0j
            BBgwFoAU4IitsXpZTd9EBthQA8X8Xe3YVoowDwYDVR0TAQH/BAUwAwEB/zAbBgNV
            HREEFDASgRBhbm5AZXhhbXBsZS50ZXN0MAoGCCqGSM49BAMCA0kAMEYCIQDFI+VN
            papurJ/+0yGKARB0qQTDKDqLoTTW96Plo7jMmQIhAJhZwGzkOKtRFpjRlmFZMPdc
            1vSvFRBmCjf904Veu2MS
            -----END CERTIFICATE-----
            """, "ann@example.test"
        ),
    ])
    func `a SPIFFE ID comes before the common name`(pem: String, user: String) throws {
        let certificate = try #require(try Certificate.all(inPEM: pem.utf8Span.span).first)
        #expect(certificate.userName == user)
    }
}
