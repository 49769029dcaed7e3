import Testing

/// The responses that count as a refusal, and the consequences.
struct EvidenceConversations {
    private static let rules = """
        credential a { user u; password p }
        challenge { host h; use a }
        """

    /// The password is known to be right, and goes along unasked.
    private static let accepted = """
        accepted GET http://h/
        """

    /// The server refuses a page, which is a doubt.
    private static func refused(_ page: String) -> String {
        """
        >> GET http://h\(page) HTTP/1.1
        << GET \(page) HTTP/1.1
           Authorization: Basic base64(u:p)
        >> HTTP/1.1 401 Unauthorized
           WWW-Authenticate: Basic realm="x"
        << HTTP/1.1 401 Unauthorized
           WWW-Authenticate: Basic realm="x"
           Proxy-Status: *was refused*
        """
    }

    /// The proxy asks the server itself, by the request that was accepted first, with a login of its own.
    private static func probe(_ answer: String) -> String {
        """
        << GET / HTTP/1.1
        >> HTTP/1.1 401 Unauthorized
           WWW-Authenticate: Basic realm="x"
        << GET / HTTP/1.1
           Authorization: Basic base64(u:p)
        >> \(answer)
        """
    }

    /// The next request waits for the probe, which is refused.
    private static let paused = """
        \(refused("/"))
        >> GET http://h/1 HTTP/1.1
        \(probe("HTTP/1.1 401 Unauthorized\n   WWW-Authenticate: Basic realm=\"x\""))
        report credential a was refused by h:80, which accepted it before, and is on hold. The next try is in 30 seconds*
        << GET /1 HTTP/1.1
        >> HTTP/1.1 401 Unauthorized
           WWW-Authenticate: Basic realm="x"
        << HTTP/1.1 401 Unauthorized
           WWW-Authenticate: Basic realm="x"
           Proxy-Status: *on hold*
        """

    /// The credential is not sent.
    private static let heldBack = """
        >> GET http://h/ HTTP/1.1
        << GET / HTTP/1.1
        >> HTTP/1.1 401 Unauthorized
           WWW-Authenticate: Basic realm="x"
        << HTTP/1.1 401 Unauthorized
           WWW-Authenticate: Basic realm="x"
           Proxy-Status: *the next try is in*
        """

    @Test func `a password that was right is tried again after 30 seconds, by the proxy itself`() async {
        await play(
            rules: Self.rules,
            """
            \(Self.accepted)
            \(Self.paused)
            \(Self.heldBack)
            after 29s
            \(Self.heldBack)
            after 1s
            \(Self.probe("HTTP/1.1 200 OK"))
            >> GET http://h/ HTTP/1.1
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `the next try comes after five minutes`() async {
        await play(
            rules: Self.rules,
            """
            \(Self.accepted)
            \(Self.paused)
            server >> close
            after 30s
            << connect h:80
            server 2 << GET / HTTP/1.1
            server 2 >> HTTP/1.1 401 Unauthorized
                        WWW-Authenticate: Basic realm="x"
            server 2 << GET / HTTP/1.1
                        Authorization: Basic base64(u:p)
            server 2 >> HTTP/1.1 401 Unauthorized
                        WWW-Authenticate: Basic realm="x"
            server 2 >> close
            client >> close
            after 299s
            after 1s
            << connect h:80
            server 3 << GET / HTTP/1.1
            server 3 >> HTTP/1.1 401 Unauthorized
                        WWW-Authenticate: Basic realm="x"
            server 3 << GET / HTTP/1.1
                        Authorization: Basic base64(u:p)
            server 3 >> HTTP/1.1 200 OK
            client 2 >> GET http://h/ HTTP/1.1
            server 3 << GET / HTTP/1.1
                        Authorization: Basic base64(u:p)
            server 3 >> HTTP/1.1 200 OK
            client 2 << HTTP/1.1 200 OK
            """)
    }

    @Test func `a page that the user may not see costs the next request a wait for one exchange, and no more`() async {
        await play(
            rules: Self.rules,
            """
            \(Self.accepted)
            \(Self.refused("/secret"))
            client 2 >> GET http://h/2 HTTP/1.1
            \(Self.probe("HTTP/1.1 200 OK"))
            << GET /2 HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            client 2 << HTTP/1.1 200 OK
            client 2 >> GET http://h/3 HTTP/1.1
            << GET /3 HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            client 2 << HTTP/1.1 200 OK
            """)
    }

    @Test func `an answer that was under way and is accepted ends the doubt without a probe`() async {
        await play(
            rules: Self.rules,
            """
            \(Self.accepted)
            client >> GET http://h/secret HTTP/1.1
            << GET /secret HTTP/1.1
               Authorization: Basic base64(u:p)
            client 2 >> GET http://h/2 HTTP/1.1
            << connect h:80
            server 2 << GET /2 HTTP/1.1
                        Authorization: Basic base64(u:p)
            server >> HTTP/1.1 401 Unauthorized
                      WWW-Authenticate: Basic realm="x"
            client << HTTP/1.1 401 Unauthorized
                      WWW-Authenticate: Basic realm="x"
                      Proxy-Status: *was refused*
            server 2 >> HTTP/1.1 200 OK
            client 2 << HTTP/1.1 200 OK
            client 2 >> GET http://h/3 HTTP/1.1
            server 2 << GET /3 HTTP/1.1
                        Authorization: Basic base64(u:p)
            server 2 >> HTTP/1.1 200 OK
            client 2 << HTTP/1.1 200 OK
            """)
    }

    @Test(arguments: ["403 Forbidden", "400 Bad Request"])
    func `a refusal without a challenge may be about the unasked answer, and the request goes out without it`(
        _ refusal: String
    ) async {
        await play(
            rules: Self.rules,
            """
            \(Self.accepted)
            >> GET http://h/open/1 HTTP/1.1
            << GET /open/1 HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 \(refusal)
            << GET /open/1 HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://h/open/2 HTTP/1.1
            << GET /open/2 HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://h/ HTTP/1.1
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a page that is forbidden to its user is asked for once more, and from then on once`() async {
        await play(
            rules: Self.rules,
            """
            \(Self.accepted)
            >> GET http://h/secret HTTP/1.1
            << GET /secret HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 403 Forbidden
            << GET /secret HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << GET /secret HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 403 Forbidden
            << HTTP/1.1 403 Forbidden
            >> GET http://h/secret HTTP/1.1
            << GET /secret HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 403 Forbidden
            << HTTP/1.1 403 Forbidden
            >> GET http://h/ HTTP/1.1
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `content is not sent twice to find out about an unasked answer`() async {
        await play(
            rules: Self.rules,
            """
            \(Self.accepted)
            >> POST http://h/open/1 HTTP/1.1

               hello
            << POST /open/1 HTTP/1.1
               Authorization: Basic base64(u:p)

               hello
            >> HTTP/1.1 403 Forbidden
            << HTTP/1.1 403 Forbidden
            """)
    }

    @Test func `a path that asks for another realm gets no unasked answer of the first`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; realm x; use a }
                challenge { host h; reject }
                """,
            """
            \(Self.accepted)
            >> GET http://h/z/1 HTTP/1.1
            << GET /z/1 HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="y"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="y"
               Proxy-Status: *
            >> GET http://h/z/2 HTTP/1.1
            << GET /z/2 HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="y"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="y"
               Proxy-Status: *
            >> GET http://h/ HTTP/1.1
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a path that returns to the realm is answered unasked again`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; realm x; use a }
                challenge { host h; reject }
                """,
            """
            \(Self.accepted)
            >> GET http://h/z/1 HTTP/1.1
            << GET /z/1 HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="y"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="y"
               Proxy-Status: *
            >> GET http://h/z/1 HTTP/1.1
            << GET /z/1 HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << GET /z/1 HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://h/z/2 HTTP/1.1
            << GET /z/2 HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a rule for failures decides every time, and not only the first`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge "no more" { host h; failures 1..; cancel }
                challenge { host h; use a }
                """,
            """
            answered GET http://h/
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *no more*

               the origin asks for a login, but rule "no more" (proxy.conf:6) refuses*
            server << close
            >> GET http://h/ HTTP/1.1
            << connect h:80
            server 2 << GET / HTTP/1.1
            server 2 >> HTTP/1.1 401 Unauthorized
                        WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *no more*

               the origin asks for a login, but rule "no more" (proxy.conf:6) refuses*
            server 2 << close
            """)
    }

    @Test func `a nonce that is good for one request is answered by the request that it came to`() async {
        await play(
            rules: Self.rules,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="1", qop="auth"
            << GET / HTTP/1.1
               Authorization: Digest *nonce="1"*nc=00000001*
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://h/a HTTP/1.1
            << GET /a HTTP/1.1
               Authorization: Digest *nonce="1"*nc=00000002*
            client 2 >> GET http://h/b HTTP/1.1
            << connect h:80
            server 2 << GET /b HTTP/1.1
                        Authorization: Digest *nonce="1"*nc=00000003*
            server >> HTTP/1.1 401 Unauthorized
                      WWW-Authenticate: Digest realm="x", nonce="2", qop="auth"
            server << GET /a HTTP/1.1
                      Authorization: Digest *nonce="2"*nc=00000001*
            server 2 >> HTTP/1.1 401 Unauthorized
                        WWW-Authenticate: Digest realm="x", nonce="3", qop="auth"
            server >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            server 2 << GET /b HTTP/1.1
            server 2 >> HTTP/1.1 401 Unauthorized
                        WWW-Authenticate: Digest realm="x", nonce="4", qop="auth"
            server 2 << GET /b HTTP/1.1
                        Authorization: Digest *nonce="4"*nc=00000001*
            server 2 >> HTTP/1.1 200 OK
            client 2 << HTTP/1.1 200 OK
            """)
    }
}
