import Testing

/// Refused credentials: attempts, parking, and responses that are no refusal.
struct RefusalConversations {
    @Test func `a password that is refused is parked, and sent to the space no more`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            answered GET http://h/
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: *details="*a*"
            report credential a was refused by h:80*
            client 2 >> GET http://h/ HTTP/1.1
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            client 2 << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: *on hold*
            """)
    }

    @Test func `a refusal has the password read again, and a new one is another attempt`() async {
        await play(
            rules: """
                credential a { user u; password file FILES/p }
                challenge { host h; use a; attempts 2 }
                """,
            """
            file p wrong
            challenged GET http://h/
            << GET / HTTP/1.1
               Authorization: Basic base64(u:wrong)
            file p right
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << GET / HTTP/1.1
               Authorization: Basic base64(u:right)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a password that has changed is another attempt, whatever attempts says, and only once`() async {
        await play(
            rules: """
                credential a { user u; password file FILES/p }
                challenge { host h; use a; attempts 1 }
                """,
            """
            file p wrong
            challenged GET http://h/
            << GET / HTTP/1.1
               Authorization: Basic base64(u:wrong)
            file p other
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << GET / HTTP/1.1
               Authorization: Basic base64(u:other)
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            report credential a was refused *
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: *was refused*
            """)
    }

    @Test func `where the first of two credentials is refused the second answers, and then for every request`() async {
        await play(
            rules: """
                credential a { user u; password p }
                credential b { user u; password q }
                challenge { host h; use a b }
                """,
            """
            answered GET http://h/
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            report credential a was refused by h:80*
            << GET / HTTP/1.1
               Authorization: Basic base64(u:q)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            client 2 >> GET http://h/2 HTTP/1.1
            << GET /2 HTTP/1.1
               Authorization: Basic base64(u:q)
            >> HTTP/1.1 200 OK
            client 2 << HTTP/1.1 200 OK
            client 2 >> GET http://h/other HTTP/1.1
            << GET /other HTTP/1.1
               Authorization: Basic base64(u:q)
            >> HTTP/1.1 200 OK
            client 2 << HTTP/1.1 200 OK
            """)
    }

    @Test func `where both of two credentials are refused the client has the response`() async {
        await play(
            rules: """
                credential a { user u; password p }
                credential b { user u; password q }
                challenge { host h; use a b }
                """,
            """
            answered GET http://h/
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            report credential a was refused by h:80*
            << GET / HTTP/1.1
               Authorization: Basic base64(u:q)
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: *was refused*
            report credential b was refused by h:80*
            """)
    }

    @Test func `after a failure another rule may have another credential`() async {
        await play(
            rules: """
                credential a { user u; password p }
                credential b { user v; password q }
                challenge { host h; failures 1; use b }
                challenge { host h; use a }
                """,
            """
            answered GET http://h/
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << GET / HTTP/1.1
               Authorization: Basic base64(v:q)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a parked password is sent to another realm, and to another host`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { use a }
                """,
            """
            answered GET http://h/
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: *
            accepted GET http://i/
            """)
    }

    @Test func `a password that Digest refused is not sent by Basic`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a; attempts 3 }
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
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest *
               WWW-Authenticate: Basic *
               Proxy-Status: *
            """)
    }

    @Test func `a refusal that names another realm, or none, is one as well`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            answered GET http://h/
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="y"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="y"
               Proxy-Status: *
            report credential a was refused *
            """)
    }

    @Test func `a refusal without a challenge parks as well`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            answered GET http://h/
            >> HTTP/1.1 401 Unauthorized
            << HTTP/1.1 401 Unauthorized
               Proxy-Status: *"credential a was refused by the origin"
            report credential a was refused *
            """)
    }

    @Test func `a server in trouble has neither accepted nor refused`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            answered GET http://h/
            >> HTTP/1.1 503 Service Unavailable
            << HTTP/1.1 503 Service Unavailable
            >> GET http://h/ HTTP/1.1
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a connection that closes under an answer is no refusal`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            answered GET http://h/
            server >> close
            << connect h:80
            server 2 << GET / HTTP/1.1
                        Authorization: Basic base64(u:p)
            server 2 >> close
            client << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *
            >> GET http://h/ HTTP/1.1
            << connect h:80
            server 3 << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a refused URL credential is sent once per request`() async {
        await play(
            """
            >> GET http://u:p@h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 401 Unauthorized
               Proxy-Status: *"credential url:u was refused by the origin"
               WWW-Authenticate: Basic realm="x"
            report *
            """)
    }

    @Test func `a secret that is set again to the same value is tried again`() async {
        await play(
            rules: """
                credential a { user u; password file FILES/p }
                challenge { host h; use a }
                """,
            """
            file p wrong
            challenged GET http://h/
            << GET / HTTP/1.1
               Authorization: Basic base64(u:wrong)
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: *
            report credential a was refused *
            # the account is unlocked, and its password written once more
            file p wrong
            refresh
            >> GET http://h/ HTTP/1.1
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << GET / HTTP/1.1
               Authorization: Basic base64(u:wrong)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }
}
