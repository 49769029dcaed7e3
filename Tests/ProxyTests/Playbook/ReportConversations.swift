import Testing

/// Rules that only report: they decide, and nothing is sent.
struct ReportConversations {
    private static let credential = "credential a { user u; password p }"

    @Test func `a rule on trial says what it would have sent, and the client gets the challenge`() async {
        await play(
            rules: """
                \(Self.credential)
                challenge "new" { host h; use a; mode report; authorization replace }
                challenge "old" { host h; cancel }
                """,
            """
            challenged GET http://h/
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: attache; details="rule \\"new\\" (proxy.conf:*) has 'mode report': it would have answered 'use a'"
            report *has 'mode report': it would have answered 'use a'
            log GET http://h/ 401
                rule: new
                details: *has 'mode report': it would have answered 'use a'
            # The client's own answer is not taken away.
            >> GET http://h/ HTTP/1.1
               Authorization: Basic base64(v:q)
            << GET / HTTP/1.1
               Authorization: Basic base64(v:q)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            log GET http://h/ 200
            """)
    }

    @Test func `all rules are on trial but those that say otherwise`() async {
        await play(
            rules: """
                mode report
                \(Self.credential)
                challenge "new" { host h; use a }
                challenge "sure" { host i; use a; mode enforce }
                """,
            """
            challenged GET http://h/
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: *it would have answered 'use a'"
            >> GET http://i/ HTTP/1.1
            << connect i:80
            server 2 << GET / HTTP/1.1
            server 2 >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            server 2 << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            server 2 >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a rule that was enforced answers no more once it only reports`() async {
        await play(
            rules: """
                \(Self.credential)
                challenge "new" { host h; use a }
                """,
            """
            accepted GET http://h/
            reload
                \(Self.credential)
                challenge "new" { host h; use a; mode report }
            server << close
            >> GET http://h/ HTTP/1.1
            << connect h:80
            server 2 << GET / HTTP/1.1
            server 2 >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: *has 'mode report'*
            """)
    }

    @Test func `a certificate is not trusted on trial, and the client reads that it would be`() async {
        await play(
            rules: "challenge \"ours\" { host h; method server-trust; anchor FILES/ca.pem only; trust; mode report }",
            """
            >> GET https://h/ HTTP/1.1
            << connect h:443
            and server >> tls h
            server << close
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *has 'mode report': it would have answered 'trust'"

               *
            """)
    }
}
