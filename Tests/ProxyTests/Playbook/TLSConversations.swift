import Testing

/// TLS to origins: their certificates, and credentials inside.
struct TLSConversations {
    private static let trusting = "challenge \"ours\" { method server-trust; anchor FILES/ca.pem only; trust }"

    @Test func `an origin whose certificate is good is asked by TLS, and its connection kept`() async {
        await play(
            rules: Self.trusting,
            """
            >> GET https://h/1 HTTP/1.1
            << connect h:443
            and server >> tls h
            << GET /1 HTTP/1.1
               Host: h
            >> HTTP/1.1 200 OK

               answer
            << HTTP/1.1 200 OK

               answer
            log GET https://h/1 200
                tls: 1.3
                upstream: opened
            >> GET https://h/2 HTTP/1.1
            << GET /2 HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            log GET https://h/2 200
                tls: 1.3
                upstream: reused
            """)
    }

    @Test func `a certificate that nobody vouches for is named, and the request stays here`() async {
        await play(
            """
            >> GET https://h/ HTTP/1.1
               Authorization: Basic base64(u:p)
            << connect h:443
            and server >> tls h
            server << close
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *error=tls_certificate_error*

               *incomplete-chain*
            # The operator is told once for each space.
            report the certificate of h:443 is not trusted: incomplete-chain
            log GET https://h/ 502
                error: tls_certificate_error
                trust_findings: incomplete-chain
            >> GET https://h/ HTTP/1.1
            << connect h:443
            and server 2 >> tls h
            server 2 << close
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *error=tls_certificate_error*

               *incomplete-chain*
            log GET https://h/ 502
                error: tls_certificate_error
            """)
    }

    @Test func `a certificate for another name is taken where a rule says so`() async {
        await play(
            rules: "challenge \"odd\" { host h; anchor FILES/ca.pem only; allow wrong-name; trust }",
            """
            >> GET https://h/ HTTP/1.1
            << connect h:443
            and server >> tls elsewhere
            << GET / HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            log GET https://h/ 200
                trust_findings: wrong-name
                trust_rule: odd
            >> GET https://i/ HTTP/1.1
            << connect i:443
            and server 2 >> tls elsewhere
            server 2 << close
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *wrong-name*
            report the certificate of i:443 is not trusted: incomplete-chain, wrong-name
            log GET https://i/ 502
                error: tls_certificate_error
            """)
    }

    @Test func `a session is taken up again on the next connection`() async {
        await play(
            rules: Self.trusting,
            """
            >> GET https://h/1 HTTP/1.1
            << connect h:443
            and server >> tls h
            << GET /1 HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            log GET https://h/1 200
                tls_resumed: -
            server >> close
            >> GET https://h/2 HTTP/1.1
            << connect h:443
            and server 2 >> tls h
            server 2 << GET /2 HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            log GET https://h/2 200
                tls_resumed: *
            """)
    }

    @Test func `a rule for secure connections answers there, and not in clear`() async {
        await play(
            rules: """
                \(Self.trusting)
                credential a { user u; password p }
                challenge "safe" { host h; secure yes; use a }
                """,
            """
            >> GET https://h/ HTTP/1.1
            << connect h:443
            and server >> tls h
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://h/ HTTP/1.1
            << connect h:80
            server 2 << GET / HTTP/1.1
            server 2 >> HTTP/1.1 401 Unauthorized
                        WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 401 Unauthorized
               Proxy-Status: *'secure yes'; basic over http would send the credential unencrypted"
               WWW-Authenticate: Basic realm="x"
            """)
    }

    @Test func `through a parent the TLS is the origin's, and the parent sees its name alone`() async {
        await play(
            rules: """
                \(Self.trusting)
                credential c { user u; password p }
                credential o { user v; password q }
                parent corp { http proxy:8080 }
                route * { via corp }
                challenge { proxy yes; use c }
                challenge { host h; proxy no; use o }
                """,
            #"""
            >> GET https://h/ HTTP/1.1
            << connect proxy:8080
            << CONNECT h:443 HTTP/1.1
               Host: h:443
            >> HTTP/1.1 407 Proxy Authentication Required
               Proxy-Authenticate: Basic realm="corp"
            << CONNECT h:443 HTTP/1.1
               Proxy-Authorization: Basic base64(u:p)
            server >> "HTTP/1.1 200 OK\r\n\r\n"
            and server >> tls h
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << GET / HTTP/1.1
               Authorization: Basic base64(v:q)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """#)
    }

    @Test func `a route may have an origin asked by TLS that its URL does not speak of`() async {
        await play(
            rules: """
                \(Self.trusting)
                route h { upgrade }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:443
            and server >> tls h
            << GET / HTTP/1.1
               Host: h
            >> HTTP/1.1 302 Found
               Location: https://h/there
               Set-Cookie: a=1; Secure
               Strict-Transport-Security: max-age=1
            << HTTP/1.1 302 Found
               Location: http://h/there
               Set-Cookie: a=1
               Strict-Transport-Security: -
            """)
    }

    @Test func `a server that says nothing in its handshake has the time of a connection`() async {
        await play(
            rules: "timeouts { connect 5s }",
            """
            >> GET https://h/ HTTP/1.1
            << connect h:443 stalled
            after 4s
            after 1s
            server << close
            << HTTP/1.1 504 Gateway Timeout
               Proxy-Status: *

               *
            """)
    }

    @Test func `a server that speaks no TLS`() async {
        await play(
            #"""
            >> GET https://h/ HTTP/1.1
            << connect h:443 stalled
            and server >> "HTTP/1.1 400 Bad Request\r\n\r\n"
            server << close
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *error=tls_protocol_error*

               *the peer does not speak TLS*
            """#)
    }

    @Test func `a response whose TLS nobody has ended is cut short for its client, too`() async {
        await play(
            rules: Self.trusting,
            """
            >> GET https://h/ HTTP/1.1
            << connect h:443
            and server >> tls h
            << GET / HTTP/1.1
            >> HTTP/1.1 200 OK
               Content-Length: -
            << HTTP/1.1 200 OK
               Transfer-Encoding: chunked
            server >> 10 bytes
            client << 10 bytes
            server >> reset
            client << close
            log GET https://h/ 200
                error: connection_terminated
                bytes_out: 10
            # and one that the server ends is whole
            client 2 >> GET https://h/ HTTP/1.1
            << connect h:443
            and server 2 >> tls h
            server 2 << GET / HTTP/1.1
            server 2 >> HTTP/1.1 200 OK
                        Content-Length: -
            client 2 << HTTP/1.1 200 OK
            server 2 >> 10 bytes
            client 2 << 10 bytes
            server 2 >> close
            client 2 << end of body
            log GET https://h/ 200
            """)
    }

    @Test func `a token endpoint is asked by TLS`() async {
        await play(
            rules: """
                \(Self.trusting)
                credential crm { oauth2 https://id/token; client-id c; client-secret s }
                challenge { host h; use crm }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer
            << connect id:443
            and server 2 >> tls id
            server 2 << POST /token HTTP/1.1
               Authorization: Basic base64(c:s)

               grant_type=client_credentials
            server 2 >> HTTP/1.1 200 OK

               {"access_token":"one","token_type":"Bearer"}
            server 2 << close
            server << GET / HTTP/1.1
               Authorization: Bearer one
            server >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }
}
