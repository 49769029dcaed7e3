import Testing

/// Token endpoints that are found in the metadata of their issuer (RFC 8414, OpenID Connect Discovery 1.0).
struct DiscoveryConversations {
    private static let rules = """
        credential crm { issuer http://127.0.0.1:9/a; client-id c; client-secret s; resource none }
        challenge "api" { host h; use crm }
        timeouts { connect 10s; response 30s }
        """

    private static let challenged = """
        >> GET http://h/1 HTTP/1.1
        << connect h:80
        << GET /1 HTTP/1.1
        >> HTTP/1.1 401 Unauthorized
           WWW-Authenticate: Bearer
        << connect 127.0.0.1:9
        server 2 << GET /.well-known/oauth-authorization-server/a HTTP/1.1
           Host: 127.0.0.1:9
           Accept: application/json
        """

    /// The token request on that connection to port 8, and the request with the token.
    private static func fetched(server: Int) -> String {
        """
        << connect 127.0.0.1:8
        server \(server) << POST /token HTTP/1.1
           Host: 127.0.0.1:8
           Authorization: Basic base64(c:s)

           grant_type=client_credentials
        server \(server) >> HTTP/1.1 200 OK

           {"access_token":"one","token_type":"Bearer","expires_in":3600}
        server \(server) << close
        server << GET /1 HTTP/1.1
           Authorization: Bearer one
        >> HTTP/1.1 200 OK
        << HTTP/1.1 200 OK
        log GET http://h/1 200
            rule: api
            scheme: bearer
            credential: crm
            attempts: 1
        """
    }

    private static let metadata = #"{"issuer":"http://127.0.0.1:9/a","token_endpoint":"http://127.0.0.1:8/token"}"#

    @Test func `the issuer's metadata names the token endpoint`() async {
        await play(
            rules: Self.rules,
            """
            \(Self.challenged)
            server 2 >> HTTP/1.1 200 OK

               \(Self.metadata)
            server 2 << close
            \(Self.fetched(server: 3))
            """)
    }

    @Test func `OpenID Connect's places are tried next`() async {
        await play(
            rules: Self.rules,
            """
            \(Self.challenged)
            server 2 >> HTTP/1.1 404 Not Found
            server 2 << close
            << connect 127.0.0.1:9
            server 3 << GET /.well-known/openid-configuration/a HTTP/1.1
            server 3 >> HTTP/1.1 200 OK

               <html>
            server 3 << close
            << connect 127.0.0.1:9
            server 4 << GET /a/.well-known/openid-configuration HTTP/1.1
            server 4 >> HTTP/1.1 200 OK

               \(Self.metadata)
            server 4 << close
            \(Self.fetched(server: 5))
            """)
    }

    /// The response to the first place; the others do not exist. No secret is sent.
    @Test(arguments: [
        (
            #"HTTP/1.1 200 OK\#n\#n   {"issuer":"http://127.0.0.1:9","token_endpoint":"http://127.0.0.1:8/token"}"#,
            "*names the issuer 'http://127.0.0.1:9'*"
        ),
        (
            #"HTTP/1.1 200 OK\#n\#n   {"issuer":"http://127.0.0.1:9/a","token_endpoint":"http://h/token"}"#,
            "*token_endpoint is not https*"
        ),
        ("HTTP/1.1 302 Found\n   Location: http://127.0.0.1:8/metadata", "*metadata has status 302*"),
        ("HTTP/1.1 500 Oops", "*metadata has status 500*"),
        ("HTTP/1.1 200 OK\n\n   \(String(repeating: "x", count: 66_000))", "*is too large*"),
    ])
    func `without usable metadata nothing is sent, and the client gets the challenge with the reason`(
        response: String, reason: String
    ) async {
        await play(
            rules: Self.rules,
            """
            \(Self.challenged)
            server 2 >> \(response)
            server 2 << close
            << connect 127.0.0.1:9
            server 3 << GET /.well-known/openid-configuration/a HTTP/1.1
            server 3 >> HTTP/1.1 404 Not Found
            server 3 << close
            << connect 127.0.0.1:9
            server 4 << GET /a/.well-known/openid-configuration HTTP/1.1
            server 4 >> HTTP/1.1 404 Not Found
            server 4 << close
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer
               Proxy-Status: *credential crm has no token\(reason)
            report cannot get a token for credential crm: \(reason)
            log GET http://h/1 401
                rule: api
            """)
    }

    @Test func `an issuer that is down is asked again after five seconds`() async {
        await play(
            rules: Self.rules,
            """
            >> GET http://h/1 HTTP/1.1
            << connect h:80
            << GET /1 HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer
            << connect 127.0.0.1:9 refused
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer
               Proxy-Status: *credential crm has no token: cannot reach *
            report cannot get a token for credential crm: *
            log GET http://h/1 401
                rule: api
            after 5s
            >> GET http://h/1 HTTP/1.1
            server << GET /1 HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer
            << connect 127.0.0.1:9
            server 3 << GET /.well-known/oauth-authorization-server/a HTTP/1.1
            server 3 >> HTTP/1.1 200 OK

               \(Self.metadata)
            server 3 << close
            \(Self.fetched(server: 4))
            """)
    }
}
