import Testing

/// The next challenge, and the next rule, behind a credential that was refused.
struct FallbackConversations {
    private static let credentials = """
        credential a { user u; password p }
        credential b { user v; password q }
        """

    @Test func `where a password is refused the response's next challenge is answered by its own rule`() async {
        await play(
            rules: """
                \(Self.credentials)
                challenge "strong" { host h; method digest; use a }
                challenge "plain" { host h; method basic; use b }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n1", qop="auth"
               WWW-Authenticate: Basic realm="x"
            << GET / HTTP/1.1
               Authorization: Digest *nonce="n1"*
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n2", qop="auth"
               WWW-Authenticate: Basic realm="x"
            report credential a was refused by h:80*
            << GET / HTTP/1.1
               Authorization: Basic base64(v:q)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            log GET http://h/ 200
                scheme: basic
                credential: b
                rule: plain
                attempts: 2
            >> GET http://h/2 HTTP/1.1
            << GET /2 HTTP/1.1
               Authorization: Basic base64(v:q)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            log GET http://h/2 200
                scheme: basic
                credential: b
                rule: plain
                attempts: 1
            """)
    }

    @Test func `where the next challenge's password is refused too, the client is told of that rule`() async {
        await play(
            rules: """
                \(Self.credentials)
                challenge "strong" { host h; method digest; use a }
                challenge "plain" { host h; method basic; use b }
                challenge "never" { host h; method other; reject }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n1", qop="auth"
               WWW-Authenticate: Basic realm="x"
               WWW-Authenticate: Unheard-of
            << GET / HTTP/1.1
               Authorization: Digest *nonce="n1"*
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n2", qop="auth"
               WWW-Authenticate: Basic realm="x"
               WWW-Authenticate: Unheard-of
            report credential a was refused by h:80*
            << GET / HTTP/1.1
               Authorization: Basic base64(v:q)
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n3", qop="auth"
               WWW-Authenticate: Basic realm="x"
               WWW-Authenticate: Unheard-of
            report credential b was refused by h:80*
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest *
               WWW-Authenticate: Basic *
               WWW-Authenticate: Unheard-of
               Proxy-Status: *the credential was refused (rule \\"plain\\" (proxy.conf:8))*
            log GET http://h/ 401
                scheme: basic
                credential: b
                rule: plain
                attempts: 2
                challenge: *
                realm: x
                details: *plain*
            """)
    }

    @Test func `a password that one rule had refused is not sent by another, nor under another name`() async {
        await play(
            rules: """
                \(Self.credentials)
                credential again { user u; password p }
                challenge "strong" { host h; method digest; use a }
                challenge "plain" { host h; method basic; failures 1; use a; attempts 5 }
                challenge "plain, too" { host h; method basic; use again }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n1", qop="auth"
               WWW-Authenticate: Basic realm="x"
               WWW-Authenticate: Basic realm="y"
            << GET / HTTP/1.1
               Authorization: Digest *nonce="n1"*
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n2", qop="auth"
               WWW-Authenticate: Basic realm="x"
               WWW-Authenticate: Basic realm="y"
            report credential a was refused by h:80*
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest *
               WWW-Authenticate: Basic realm="x"
               WWW-Authenticate: Basic realm="y"
               Proxy-Status: *the credential was refused (rule \\"strong\\"*
            log GET http://h/ 401
                scheme: digest
                credential: a
                rule: strong
                attempts: 1
                challenge: *
                realm: x
                details: *
            """)
    }

    @Test func `a password that is known to be refused gives way to the next challenge's at once`() async {
        await play(
            rules: """
                \(Self.credentials)
                challenge "strong" { host h; method digest; use a }
                challenge "plain" { host h; method basic; use b }
                """,
            """
            >> GET http://h/1 HTTP/1.1
            << connect h:80
            << GET /1 HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n1", qop="auth"
            << GET /1 HTTP/1.1
               Authorization: Digest *nonce="n1"*
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n2", qop="auth"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest *
               Proxy-Status: *
            >> GET http://h/1 HTTP/1.1
            << GET /1 HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n3", qop="auth"
               WWW-Authenticate: Basic realm="y"
            << GET /1 HTTP/1.1
               Authorization: Basic base64(v:q)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `the credentials of a rule are sent in turn before the next challenge has its turn`() async {
        await play(
            rules: """
                \(Self.credentials)
                credential c { token t }
                challenge "tokens" { host h; method bearer; use c }
                challenge "plain" { host h; method basic; use a b }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               WWW-Authenticate: Bearer realm="x"
            << GET / HTTP/1.1
               Authorization: Bearer t
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               WWW-Authenticate: Bearer realm="x", error="invalid_token"
            report credential c was refused by h:80*
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               WWW-Authenticate: Bearer realm="x"
            report credential a was refused by h:80*
            << GET / HTTP/1.1
               Authorization: Basic base64(v:q)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `where the second token is refused too the next challenge is answered, and no third is fetched`() async {
        let refused = """
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer error="invalid_token"
               WWW-Authenticate: Basic realm="x"
            """
        await play(
            rules: """
                \(Self.credentials)
                \(TokenConversations.rules)
                challenge "plain" { host h; method basic; use b }
                """,
            """
            \(TokenConversations.first)
            >> GET http://h/2 HTTP/1.1
            << GET /2 HTTP/1.1
               Authorization: Bearer one
            \(refused)
            << connect 127.0.0.1:9
            server 3 << POST /token HTTP/1.1
               Authorization: Basic base64(c:s)

               grant_type=client_credentials
            server 3 >> HTTP/1.1 200 OK

               {"access_token":"two","token_type":"Bearer","expires_in":3600}
            server 3 << close
            server << GET /2 HTTP/1.1
               Authorization: Bearer two
            \(refused)
            server << GET /2 HTTP/1.1
               Authorization: Basic base64(v:q)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            log GET http://h/2 200
                rule: plain
                scheme: basic
                credential: b
                attempts: 3
            """)
    }

    @Test func `a rule for failures that says fewer attempts never answers`() async {
        await play(
            rules: """
                \(Self.credentials)
                challenge "second" { host h; failures 1; use b; attempts 1 }
                challenge "first" { host h; use a }
                """,
            """
            answered GET http://h/
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: *
            """)
    }

    @Test func `behind a rule's password that of the URL answers the next challenge, where no rule says otherwise`()
        async
    {
        await play(
            rules: """
                \(Self.credentials)
                challenge "strong" { host h; method digest; use a }
                """,
            """
            >> GET http://w:r@h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n1", qop="auth"
               WWW-Authenticate: Basic realm="x"
            << GET / HTTP/1.1
               Authorization: Digest username="u"*
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n2", qop="auth"
               WWW-Authenticate: Basic realm="x"
            << GET / HTTP/1.1
               Authorization: Basic base64(w:r)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a parent's next challenge is answered like an origin's`() async {
        await play(
            rules: """
                \(Self.credentials)
                parent corp { http proxy:8080 }
                route * { via corp }
                challenge "strong" { proxy yes; method digest; use a }
                challenge "plain" { proxy yes; method basic; use b }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect proxy:8080
            << GET http://h/ HTTP/1.1
            >> HTTP/1.1 407 Proxy Authentication Required
               Proxy-Authenticate: Digest realm="x", nonce="n1", qop="auth"
               Proxy-Authenticate: Basic realm="x"
            << GET http://h/ HTTP/1.1
               Proxy-Authorization: Digest *
            >> HTTP/1.1 407 Proxy Authentication Required
               Proxy-Authenticate: Digest realm="x", nonce="n2", qop="auth"
               Proxy-Authenticate: Basic realm="x"
            << GET http://h/ HTTP/1.1
               Proxy-Authorization: Basic base64(v:q)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }
}
