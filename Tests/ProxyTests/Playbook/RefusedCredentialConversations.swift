import Testing

/// `authorization refuse`: a client may bring no credential of its own.
struct RefusedCredentialConversations {
    private static let rules = """
        credential k { token abc; header X-Shop-Key "{token}"; query shop-key }
        challenge "one account" { host localhost; use k; authorization refuse }
        """

    private static let refused = """
        << HTTP/1.1 403 Forbidden
           Proxy-Status: *

           *
        """

    @Test func `a request without a credential gets that of the rule`() async {
        await play(
            rules: Self.rules,
            """
            >> GET http://localhost/?page=1&token=2 HTTP/1.1
               X-Request-Id: 7
            << connect localhost:80
            << GET /?page=1&token=2&shop-key=abc HTTP/1.1
               X-Shop-Key: abc
               X-Request-Id: 7
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test(arguments: [
        "Authorization", "authorization", "AUTHORIZATION", "Cookie", "DPoP", "X-Api-Key", "x_api_key", "Api-Key",
        "API_KEY",
        "X-Auth-Token", "X-Access-Token", "Private-Token", "X-Goog-Api-Key", "X-Amz-Security-Token", "X-Vault-Token",
        "X-Shop-Key", "x_shop-KEY",
    ])
    func `a field with a credential is refused, and the server is not asked`(name: String) async {
        await play(
            rules: Self.rules,
            """
            >> GET http://localhost/ HTTP/1.1
               \(name): hidden
            << HTTP/1.1 403 Forbidden
               Proxy-Status: *rule \\"one account\\" lets no client bring a credential of its own*

               *
            """)
    }

    @Test(arguments: [
        "access_token", "api_key", "apikey", "private_token", "X-Amz-Signature", "API_KEY", "api%5Fkey", "%61pikey",
        "shop-key",
        "Shop-Key", "shop%2Dkey",
    ])
    func `so is a parameter of the query, behind any delimiter`(name: String) async {
        for query in ["\(name)=x", "a=1&\(name)=x", "a=1;\(name)=x", "\(name)", "a=1&\(name)"] {
            await play(
                rules: Self.rules,
                """
                >> GET http://localhost/p?\(query) HTTP/1.1
                \(Self.refused)
                """)
        }
    }

    @Test(arguments: ["u:p@", "u@", ":p@"])
    func `so is a user or a password in the URL`(userinfo: String) async {
        await play(
            rules: Self.rules,
            """
            >> GET http://\(userinfo)localhost/ HTTP/1.1
            \(Self.refused)
            """)
    }

    @Test func `the login at this proxy is not one at the host`() async {
        await play(
            rules: Self.rules,
            """
            >> GET http://localhost/ HTTP/1.1
               Proxy-Authorization: Basic base64(u:p)
            << connect localhost:80
            << GET /?shop-key=abc HTTP/1.1
               Proxy-Authorization: -
               X-Shop-Key: abc
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test(arguments: ["Authorization", "Proxy-Authorization", "Cookie"])
    func `in an intercepted tunnel, no login is for this proxy`(name: String) async {
        await play(
            rules: """
                route * { intercept }
                credential a { user u; password p }
                challenge "one account" { host h; use a; authorization refuse }
                """,
            """
            >> CONNECT h:80 HTTP/1.1
            << HTTP/1.1 200 Connection established
            >> GET / HTTP/1.1
               Host: h
               \(name): Basic base64(v:q)
            \(Self.refused)
            """)
    }

    @Test func `other hosts and other clients keep their credentials`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; client 10.0.0.0/8; use a; authorization refuse }
                """,
            """
            >> GET http://h/?api_key=1 HTTP/1.1
               Authorization: Bearer own
               Cookie: a=b
            << connect h:80
            << GET /?api_key=1 HTTP/1.1
               Authorization: Bearer own
               Cookie: a=b
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `an earlier rule may keep what a later one refuses`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; port 8080; use a; authorization keep }
                challenge { host h; use a; authorization refuse }
                """,
            """
            >> GET http://h:8080/ HTTP/1.1
               Authorization: Bearer own
            << connect h:8080
            << GET / HTTP/1.1
               Authorization: Bearer own
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://h/ HTTP/1.1
               Authorization: Bearer own
            \(Self.refused)
            """)
    }

    @Test func `a credential behind the content does not reach the host`() async {
        await play(
            rules: Self.rules,
            #"""
            client >> "POST http://localhost/ HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-Api-Key: hidden\r\n\r\n"
            << HTTP/1.1 400 Bad Request
               Proxy-Status: *

               *
            client << end
            """#)
    }

    @Test func `a rule that only reports refuses nothing`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a; authorization refuse; mode report }
                """,
            """
            >> GET http://h/ HTTP/1.1
               Authorization: Bearer own
            << connect h:80
            << GET / HTTP/1.1
               Authorization: Bearer own
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `the value of a refused parameter is not in the log`() async {
        await play(
            rules: Self.rules,
            """
            >> GET http://localhost/?a=1&api_key=hidden HTTP/1.1
            \(Self.refused)
            log GET http://localhost/?a=1&api_key=*** 403
                details: *
                error: http_request_denied
            """)
    }
}
