import Testing

/// The cookies of a challenge that the client does not get.
struct ChallengeCookieConversations {
    private static let rules = """
        credential a { user u; password p }
        challenge { host h; use a }
        """

    @Test func `the cookie of a challenge goes with the answer, and reaches the client with the response`() async {
        await play(
            rules: Self.rules,
            """
            client >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Set-Cookie: route=b; Path=/; HttpOnly
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
               Cookie: route=b
            >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
               Set-Cookie: route=b; Path=/; HttpOnly
            # It is kept for nobody.
            client 2 >> GET http://h/ HTTP/1.1
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            client 2 << HTTP/1.1 200 OK
            """)
    }

    @Test func `a client's own cookies stay, but for those that the challenge sets or ends`() async {
        await play(
            rules: Self.rules,
            """
            >> GET http://h/ HTTP/1.1
               Cookie: route=a; theme=dark; sid=old
            << connect h:80
            << GET / HTTP/1.1
               Cookie: route=a; theme=dark; sid=old
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Set-Cookie: route=b
               Set-Cookie: sid=; Max-Age=0
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
               Cookie: route=b; theme=dark
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
               Set-Cookie: route=b
               Set-Cookie: sid=; Max-Age=0
            """)
    }

    @Test func `a cookie of the final response takes the place of the challenge's`() async {
        await play(
            rules: Self.rules,
            """
            >> GET http://h/x/y HTTP/1.1
            << connect h:80
            << GET /x/y HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Set-Cookie: route=b
               Set-Cookie: seen=1; Path=/
            << GET /x/y HTTP/1.1
               Authorization: Basic base64(u:p)
               Cookie: route=b; seen=1
            >> HTTP/1.1 200 OK
               Set-Cookie: route=c; Path=/x
               Set-Cookie: seen=1
            << HTTP/1.1 200 OK
               Set-Cookie: route=c; Path=/x
               Set-Cookie: seen=1
               Set-Cookie: seen=1; Path=/
            """)
    }

    @Test func `cookies for other paths and hosts do not go along`() async {
        await play(
            rules: Self.rules,
            """
            >> GET http://h/x HTTP/1.1
            << connect h:80
            << GET /x HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Set-Cookie: a=1; Path=/y
               Set-Cookie: b=1; Domain=other
               Set-Cookie: c=1; Secure
            << GET /x HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
               Set-Cookie: a=1; Path=/y
               Set-Cookie: b=1; Domain=other
               Set-Cookie: c=1; Secure
            """)
    }

    @Test func `a nonce that belongs to a cookie is answered with it, at every challenge`() async {
        await play(
            rules: Self.rules,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="1", qop="auth"
               Set-Cookie: route=a
            << GET / HTTP/1.1
               Authorization: Digest *nonce="1"*
               Cookie: route=a
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
               Set-Cookie: route=a
            # A client without the cookie comes to another server, which does not know the nonce.
            >> GET http://h/ HTTP/1.1
            << GET / HTTP/1.1
               Authorization: Digest *nonce="1"*
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="2", qop="auth"
               Set-Cookie: route=b
            << GET / HTTP/1.1
               Authorization: Digest *nonce="2"*
               Cookie: route=b
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
               Set-Cookie: route=b
            """)
    }

    @Test func `a parent's challenge has no cookies for the origin`() async {
        await play(
            rules: """
                parent p { http p:8080 }
                route * { via p }
                credential a { user u; password p }
                challenge { proxy yes; host p; use a }
                challenge { host h; use a }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect p:8080
            << GET http://h/ HTTP/1.1
            >> HTTP/1.1 407 Proxy Authentication Required
               Proxy-Authenticate: Basic realm="x"
               Set-Cookie: parent=1
            << GET http://h/ HTTP/1.1
               Proxy-Authorization: Basic base64(u:p)
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="y"
               Set-Cookie: route=b
            << connect p:8080
            server 2 << CONNECT h:80 HTTP/1.1
            server 2 >> HTTP/1.1 407 Proxy Authentication Required
               Proxy-Authenticate: Basic realm="x"
            server 2 << CONNECT h:80 HTTP/1.1
               Proxy-Authorization: Basic base64(u:p)
            server 2 >> HTTP/1.1 200 OK
            server 2 << close
            server 1 << GET http://h/ HTTP/1.1
               Proxy-Authorization: Basic base64(u:p)
               Authorization: Basic base64(u:p)
               Cookie: route=b
            server 1 >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
               Set-Cookie: route=b
            """)
    }

    @Test func `a client of an upgrade gets the cookie without Secure`() async {
        await play(
            rules: """
                route h { upgrade }
                credential a { user u; password p }
                challenge { host h; use a }
                challenge { method server-trust; anchor FILES/ca.pem; trust }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:443
            and server >> tls h
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Set-Cookie: route=b; Secure
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
               Cookie: route=b
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
               Set-Cookie: route=b
            """)
    }

    @Test func `a challenge that reaches the client says its cookies once`() async {
        await play(
            rules: Self.rules,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Set-Cookie: route=b
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
               Cookie: route=b
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Set-Cookie: route=b
            report credential a was refused by h:80*
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Set-Cookie: route=b
               Proxy-Status: *was refused*
            """)
    }
}
