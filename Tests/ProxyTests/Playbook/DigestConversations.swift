import Testing

/// Digest over several requests: nonces, their counts and their ends.
struct DigestConversations {
    @Test func `a stale nonce is renewed without a failure`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a; attempts 1 }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n1", qop="auth"
            << GET / HTTP/1.1
               Authorization: Digest *nonce="n1"*nc=00000001*
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n2", qop="auth", stale=true
            << GET / HTTP/1.1
               Authorization: Digest *nonce="n2"*nc=00000001*
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a server that finds every nonce stale is given up`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n1", qop="auth"
            << GET / HTTP/1.1
               Authorization: Digest *nonce="n1"*
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n2", qop="auth", stale=true
            << GET / HTTP/1.1
               Authorization: Digest *nonce="n2"*
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n3", qop="auth", stale=true
            << GET / HTTP/1.1
               Authorization: Digest *nonce="n3"*
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n4", qop="auth", stale=true
            << GET / HTTP/1.1
               Authorization: Digest *nonce="n4"*
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n5", qop="auth", stale=true
            << GET / HTTP/1.1
               Authorization: Digest *nonce="n5"*
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n6", qop="auth", stale=true
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest *
               Proxy-Status: *
            """)
    }

    @Test func `a nonce is counted over requests, and the next one that a server names is taken`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            >> GET http://h/a HTTP/1.1
            << connect h:80
            << GET /a HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n1", qop="auth", opaque="o"
            << GET /a HTTP/1.1
               Authorization: Digest username="u", realm="x", nonce="n1", uri="/a", *nc=00000001*opaque="o"*
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://h/b?c HTTP/1.1
            << GET /b?c HTTP/1.1
               Authorization: Digest *nonce="n1", uri="/b?c", *nc=00000002*
            >> HTTP/1.1 200 OK
               Authentication-Info: nextnonce="n2"
            << HTTP/1.1 200 OK
               Authentication-Info: *
            >> GET http://h/d HTTP/1.1
            << GET /d HTTP/1.1
               Authorization: Digest *nonce="n2", uri="/d", *nc=00000001*
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `an unasked answer on a used nonce is tried afresh before it counts`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n1", qop="auth"
            << GET / HTTP/1.1
               Authorization: Digest *nonce="n1"*
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://h/ HTTP/1.1
            << GET / HTTP/1.1
               Authorization: Digest *nonce="n1"*
            # a camera that refuses a used nonce without saying that it is stale
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n2", qop="auth"
            << GET / HTTP/1.1
               Authorization: Digest *nonce="n2"*nc=00000001*
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `domain extends the space over other paths`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            >> GET http://h/a/x HTTP/1.1
            << connect h:80
            << GET /a/x HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n1", qop="auth", domain="/a /b"
            << GET /a/x HTTP/1.1
               Authorization: Digest *
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://h/b/y HTTP/1.1
            << GET /b/y HTTP/1.1
               Authorization: Digest *uri="/b/y"*nc=00000002*
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://h/c HTTP/1.1
            << GET /c HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a challenge without qop is answered in the older way`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n1"
            # MD5 of MD5(u:x:p), the nonce and MD5(GET:/), RFC 2069
            << GET / HTTP/1.1
               Authorization: Digest username="u", realm="x", nonce="n1", uri="/", response="{r}"
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `content is part of the answer where a server offers nothing else`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            >> POST http://h/ HTTP/1.1

               hello
            << connect h:80
            << POST / HTTP/1.1

               hello
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n1", qop="auth-int"
            << POST / HTTP/1.1
               Authorization: Digest *qop=auth-int*

               hello
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a realm may go over to another algorithm`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n1", qop="auth", algorithm=MD5
            << GET / HTTP/1.1
               Authorization: Digest *algorithm=MD5*
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://h/ HTTP/1.1
            << GET / HTTP/1.1
               Authorization: Digest *algorithm=MD5*
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n2", qop="auth", algorithm=SHA-256
            << GET / HTTP/1.1
               Authorization: Digest *nonce="n2"*algorithm=SHA-256*
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a server that proves nothing where it should is not believed`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n1", qop="auth"
            << GET / HTTP/1.1
               Authorization: Digest *cnonce="{c}"*
            >> HTTP/1.1 200 OK
               Authentication-Info: rspauth="00000000000000000000000000000000", cnonce="{c}", nc=00000001, qop=auth
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *
            server << close
            """)
    }
}
