import Testing

/// Digest nonces among several requests: the count is the nonce's, also when another credential answers, and some servers
/// take each nonce once.
struct NonceConversations {
    private static let rules = """
        credential a { user u; password file FILES/password }
        challenge { host h; use a }
        """

    @Test func `a new password goes on counting the nonce`() async {
        await play(
            rules: Self.rules,
            """
            file password p
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n1", qop="auth"
            << GET / HTTP/1.1
               Authorization: Digest *nonce="n1"*nc=00000001*
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            file password q
            refresh
            >> GET http://h/ HTTP/1.1
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n1", qop="auth"
            << GET / HTTP/1.1
               Authorization: Digest *nonce="n1"*nc=00000002*
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    /// Two requests learn that the server takes each nonce once. The next nonce is `n4`.
    private static let learning = """
        file password p
        client >> GET http://h/ HTTP/1.1
        << connect h:80
        server << GET / HTTP/1.1
        server >> HTTP/1.1 401 Unauthorized
                  WWW-Authenticate: Digest realm="x", nonce="n1", qop="auth"
        server << GET / HTTP/1.1
                  Authorization: Digest *nonce="n1"*nc=00000001*
        server >> HTTP/1.1 200 OK
        client << HTTP/1.1 200 OK
        client >> GET http://h/ HTTP/1.1
        server << GET / HTTP/1.1
                  Authorization: Digest *nonce="n1"*nc=00000002*
        client 2 >> GET http://h/2 HTTP/1.1
        << connect h:80
        server 2 << GET /2 HTTP/1.1
                    Authorization: Digest *nonce="n1"*nc=00000003*
        server >> HTTP/1.1 401 Unauthorized
                  WWW-Authenticate: Digest realm="x", nonce="n2", qop="auth", stale=true
        server << GET / HTTP/1.1
                  Authorization: Digest *nonce="n2"*nc=00000001*
        server 2 >> HTTP/1.1 401 Unauthorized
                    WWW-Authenticate: Digest realm="x", nonce="n2", qop="auth", stale=true
        server 2 << GET /2 HTTP/1.1
                    Authorization: Digest *nonce="n2"*nc=00000002*
        server >> HTTP/1.1 200 OK
        client << HTTP/1.1 200 OK
        server 2 >> HTTP/1.1 401 Unauthorized
                    WWW-Authenticate: Digest realm="x", nonce="n3", qop="auth", stale=true
        server 2 << GET /2 HTTP/1.1
                    Authorization: Digest *nonce="n3"*nc=00000001*
        server 2 >> HTTP/1.1 200 OK
        client 2 << HTTP/1.1 200 OK

        """

    @Test func `where nonces serve once, a request takes the one that the request before was given`() async {
        await play(
            rules: Self.rules,
            Self.learning + """
                client >> GET http://h/ HTTP/1.1
                server 2 << GET / HTTP/1.1
                client 2 >> GET http://h/2 HTTP/1.1
                server << GET /2 HTTP/1.1
                server 2 >> HTTP/1.1 401 Unauthorized
                            WWW-Authenticate: Digest realm="x", nonce="n4", qop="auth"
                server 2 << GET / HTTP/1.1
                            Authorization: Digest *nonce="n4"*nc=00000001*
                # the server has not seen that answer yet
                server >> HTTP/1.1 401 Unauthorized
                          WWW-Authenticate: Digest realm="x", nonce="n4", qop="auth"
                server 2 >> HTTP/1.1 200 OK
                            Authentication-Info: nextnonce="n5"
                client << HTTP/1.1 200 OK
                          Authentication-Info: *
                server << GET /2 HTTP/1.1
                          Authorization: Digest *nonce="n5"*nc=00000001*
                client 3 >> GET http://h/3 HTTP/1.1
                server 2 << GET /3 HTTP/1.1
                server 2 >> HTTP/1.1 401 Unauthorized
                            WWW-Authenticate: Digest realm="x", nonce="n5", qop="auth"
                server >> HTTP/1.1 200 OK
                          Authentication-Info: nextnonce="n6"
                client 2 << HTTP/1.1 200 OK
                            Authentication-Info: *
                server 2 << GET /3 HTTP/1.1
                            Authorization: Digest *nonce="n6"*nc=00000001*
                server 2 >> HTTP/1.1 200 OK
                            Authentication-Info: nextnonce="n7"
                client 3 << HTTP/1.1 200 OK
                            Authentication-Info: *
                client >> GET http://h/ HTTP/1.1
                server 2 << GET / HTTP/1.1
                            Authorization: Digest *nonce="n7"*nc=00000001*
                server 2 >> HTTP/1.1 200 OK
                client << HTTP/1.1 200 OK
                """)
    }

    @Test func `a slow response holds nobody who has a nonce of its own`() async {
        await play(
            rules: Self.rules,
            Self.learning + """
                client >> GET http://h/ HTTP/1.1
                server 2 << GET / HTTP/1.1
                server 2 >> HTTP/1.1 401 Unauthorized
                            WWW-Authenticate: Digest realm="x", nonce="n4", qop="auth"
                server 2 << GET / HTTP/1.1
                            Authorization: Digest *nonce="n4"*nc=00000001*
                client 2 >> GET http://h/2 HTTP/1.1
                server << GET /2 HTTP/1.1
                server >> HTTP/1.1 401 Unauthorized
                          WWW-Authenticate: Digest realm="x", nonce="n5", qop="auth"
                server << GET /2 HTTP/1.1
                          Authorization: Digest *nonce="n5"*nc=00000001*
                server >> HTTP/1.1 200 OK
                client 2 << HTTP/1.1 200 OK
                server 2 >> HTTP/1.1 200 OK
                client << HTTP/1.1 200 OK
                """)
    }

    @Test func `a request waits 100 ms for the nonce of another, then it gets one of its own`() async {
        await play(
            rules: Self.rules,
            Self.learning + """
                client >> GET http://h/ HTTP/1.1
                server 2 << GET / HTTP/1.1
                client 2 >> GET http://h/2 HTTP/1.1
                server << GET /2 HTTP/1.1
                client 3 >> GET http://h/3 HTTP/1.1
                << connect h:80
                server 3 << GET /3 HTTP/1.1
                server 2 >> HTTP/1.1 401 Unauthorized
                            WWW-Authenticate: Digest realm="x", nonce="n4", qop="auth"
                server 2 << GET / HTTP/1.1
                            Authorization: Digest *nonce="n4"*nc=00000001*
                server >> HTTP/1.1 401 Unauthorized
                          WWW-Authenticate: Digest realm="x", nonce="n4", qop="auth"
                server 3 >> HTTP/1.1 401 Unauthorized
                            WWW-Authenticate: Digest realm="x", nonce="n4", qop="auth"
                # the first in line
                after 100ms
                server << GET /2 HTTP/1.1
                server >> HTTP/1.1 401 Unauthorized
                          WWW-Authenticate: Digest realm="x", nonce="n5", qop="auth"
                server << GET /2 HTTP/1.1
                          Authorization: Digest *nonce="n5"*nc=00000001*
                # the next, since this response is slow, too
                after 100ms
                server 3 << GET /3 HTTP/1.1
                server 3 >> HTTP/1.1 401 Unauthorized
                            WWW-Authenticate: Digest realm="x", nonce="n6", qop="auth"
                server 3 << GET /3 HTTP/1.1
                            Authorization: Digest *nonce="n6"*nc=00000001*
                server 3 >> HTTP/1.1 200 OK
                client 3 << HTTP/1.1 200 OK
                server >> HTTP/1.1 200 OK
                client 2 << HTTP/1.1 200 OK
                server 2 >> HTTP/1.1 200 OK
                client << HTTP/1.1 200 OK
                """)
    }

    @Test func `a new nonce is for the first in line, whichever response it comes with`() async {
        await play(
            rules: Self.rules,
            Self.learning + """
                client >> GET http://h/ HTTP/1.1
                server 2 << GET / HTTP/1.1
                client 2 >> GET http://h/2 HTTP/1.1
                server << GET /2 HTTP/1.1
                server 2 >> HTTP/1.1 401 Unauthorized
                            WWW-Authenticate: Digest realm="x", nonce="n4", qop="auth"
                server 2 << GET / HTTP/1.1
                            Authorization: Digest *nonce="n4"*nc=00000001*
                server >> HTTP/1.1 401 Unauthorized
                          WWW-Authenticate: Digest realm="x", nonce="n4", qop="auth"
                client 3 >> GET http://h/3 HTTP/1.1
                << connect h:80
                server 3 << GET /3 HTTP/1.1
                server 3 >> HTTP/1.1 401 Unauthorized
                            WWW-Authenticate: Digest realm="x", nonce="n5", qop="auth"
                server << GET /2 HTTP/1.1
                          Authorization: Digest *nonce="n5"*nc=00000001*
                # no response names the next: the first in line goes out for it
                server >> HTTP/1.1 200 OK
                client 2 << HTTP/1.1 200 OK
                server 3 << GET /3 HTTP/1.1
                server 3 >> HTTP/1.1 401 Unauthorized
                            WWW-Authenticate: Digest realm="x", nonce="n6", qop="auth"
                server 3 << GET /3 HTTP/1.1
                            Authorization: Digest *nonce="n6"*nc=00000001*
                server 3 >> HTTP/1.1 200 OK
                client 3 << HTTP/1.1 200 OK
                server 2 >> HTTP/1.1 200 OK
                client << HTTP/1.1 200 OK
                """)
    }

    @Test func `a nonce that the server names again after it has accepted it serves many requests`() async {
        await play(
            rules: Self.rules,
            Self.learning + """
                client >> GET http://h/ HTTP/1.1
                server 2 << GET / HTTP/1.1
                server 2 >> HTTP/1.1 401 Unauthorized
                            WWW-Authenticate: Digest realm="x", nonce="n3", qop="auth"
                server 2 << GET / HTTP/1.1
                server 2 >> HTTP/1.1 401 Unauthorized
                            WWW-Authenticate: Digest realm="x", nonce="n3", qop="auth"
                server 2 << GET / HTTP/1.1
                            Authorization: Digest *nonce="n3"*nc=00000002*
                server 2 >> HTTP/1.1 200 OK
                client << HTTP/1.1 200 OK
                client 2 >> GET http://h/2 HTTP/1.1
                server 2 << GET /2 HTTP/1.1
                            Authorization: Digest *nonce="n3"*nc=00000003*
                server 2 >> HTTP/1.1 200 OK
                client 2 << HTTP/1.1 200 OK
                """)
    }

    @Test func `ten minutes later a nonce is used again`() async {
        await play(
            rules: Self.rules,
            Self.learning + """
                after 9min
                client << close
                client 2 << close
                server << close
                server 2 << close
                client 3 >> GET http://h/ HTTP/1.1
                << connect h:80
                server 3 << GET / HTTP/1.1
                server 3 >> HTTP/1.1 401 Unauthorized
                            WWW-Authenticate: Digest realm="x", nonce="n4", qop="auth"
                server 3 << GET / HTTP/1.1
                            Authorization: Digest *nonce="n4"*nc=00000001*
                server 3 >> HTTP/1.1 200 OK
                client 3 << HTTP/1.1 200 OK
                client 3 >> GET http://h/ HTTP/1.1
                server 3 << GET / HTTP/1.1
                server 3 >> HTTP/1.1 401 Unauthorized
                            WWW-Authenticate: Digest realm="x", nonce="n5", qop="auth"
                server 3 << GET / HTTP/1.1
                            Authorization: Digest *nonce="n5"*nc=00000001*
                server 3 >> HTTP/1.1 200 OK
                client 3 << HTTP/1.1 200 OK
                after 1min
                client 3 << close
                server 3 << close
                client 4 >> GET http://h/ HTTP/1.1
                << connect h:80
                server 4 << GET / HTTP/1.1
                server 4 >> HTTP/1.1 401 Unauthorized
                            WWW-Authenticate: Digest realm="x", nonce="n6", qop="auth"
                server 4 << GET / HTTP/1.1
                            Authorization: Digest *nonce="n6"*nc=00000001*
                server 4 >> HTTP/1.1 200 OK
                client 4 << HTTP/1.1 200 OK
                client 4 >> GET http://h/ HTTP/1.1
                server 4 << GET / HTTP/1.1
                            Authorization: Digest *nonce="n6"*nc=00000002*
                server 4 >> HTTP/1.1 200 OK
                client 4 << HTTP/1.1 200 OK
                """)
    }
}
