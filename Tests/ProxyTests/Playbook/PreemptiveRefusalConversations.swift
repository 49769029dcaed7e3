import Testing

/// The meaning of a `401` for a credential that goes with every request.
struct PreemptiveRefusalConversations {
    private static let loopback = PreemptiveConversations.loopback
    private static let key = PreemptiveConversations.key
    private static let opened = PreemptiveConversations.opened

    private static func refused(_ path: String, reporting: String = "") -> String {
        """
        >> GET http://localhost\(path) HTTP/1.1
        << GET \(path) HTTP/1.1
           X-Api-Key: abc
        >> HTTP/1.1 401 Unauthorized
        \(reporting)
        << HTTP/1.1 401 Unauthorized
           Proxy-Status: *credential was refused*
        """
    }

    private static func heldBack(_ path: String) -> String {
        """
        >> GET http://localhost\(path) HTTP/1.1
        << GET \(path) HTTP/1.1
           X-Api-Key: -
        >> HTTP/1.1 401 Unauthorized
        << HTTP/1.1 401 Unauthorized
           Proxy-Status: *refused before and is on hold*
        """
    }

    private static func probe(_ answer: String) -> String {
        """
        << GET / HTTP/1.1
           X-Api-Key: abc
        >> \(answer)
        """
    }

    @Test func `a key that the server accepts no more is on hold, and is tried again after 30 seconds`() async {
        await play(
            rules: Self.key,
            """
            \(Self.opened)
            \(Self.refused("/"))
            >> GET http://localhost/other HTTP/1.1
            \(Self.probe("HTTP/1.1 401 Unauthorized"))
            report credential k was refused by localhost:80, which accepted it before, and is on hold*30 seconds*
            << GET /other HTTP/1.1
               X-Api-Key: -
            >> HTTP/1.1 401 Unauthorized
            << HTTP/1.1 401 Unauthorized
               Proxy-Status: *on hold*
            server >> close
            after 30s
            << connect localhost:80
            server 2 << GET / HTTP/1.1
                        X-Api-Key: abc
            server 2 >> HTTP/1.1 200 OK
            >> GET http://localhost/ HTTP/1.1
            server 2 << GET / HTTP/1.1
                        X-Api-Key: abc
            server 2 >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a page that is not for a key takes it from no other page, however often it is asked for`() async {
        let again = """
            >> GET http://localhost/secret HTTP/1.1
            \(Self.probe("HTTP/1.1 200 OK"))
            << GET /secret HTTP/1.1
               X-Api-Key: abc
            >> HTTP/1.1 401 Unauthorized
            << HTTP/1.1 401 Unauthorized
               Proxy-Status: *credential was refused*
            """
        await play(
            rules: Self.key,
            """
            \(Self.opened)
            \(Self.refused("/secret"))
            \(String(repeating: again + "\n", count: 5))
            >> GET http://localhost/ HTTP/1.1
            \(Self.probe("HTTP/1.1 200 OK"))
            << GET / HTTP/1.1
               X-Api-Key: abc
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a key that was never accepted is not sent again to a page that has refused it`() async {
        await play(
            rules: Self.key,
            """
            file key abc
            >> GET http://localhost/secret HTTP/1.1
            << connect localhost:80
            << GET /secret HTTP/1.1
               X-Api-Key: abc
            >> HTTP/1.1 401 Unauthorized
            report credential k was refused by localhost:80*
            << HTTP/1.1 401 Unauthorized
               Proxy-Status: *credential was refused*
            \(Self.heldBack("/secret"))
            # It may be right for another.
            >> GET http://localhost/ HTTP/1.1
            << GET / HTTP/1.1
               X-Api-Key: abc
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            \(Self.refused("/secret"))
            """)
    }

    @Test func `a wrong key is sent twice, and then once in half an hour, in an hour, in two`() async {
        await play(
            rules: Self.key,
            """
            file key abc
            >> GET http://localhost/1 HTTP/1.1
            << connect localhost:80
            << GET /1 HTTP/1.1
               X-Api-Key: abc
            >> HTTP/1.1 401 Unauthorized
            report credential k was refused by localhost:80. It is sent once more, for another target*
            << HTTP/1.1 401 Unauthorized
               Proxy-Status: *credential was refused*
            \(Self.refused("/2", reporting: "report credential k was refused by localhost:80 and is on hold for 30 minutes*"))
            \(Self.heldBack("/3"))
            after 1799s
            server << close
            client << close
            client 2 >> GET http://localhost/3 HTTP/1.1
            << connect localhost:80
            server 2 << GET /3 HTTP/1.1
                        X-Api-Key: -
            server 2 >> HTTP/1.1 401 Unauthorized
            client 2 << HTTP/1.1 401 Unauthorized
                        Proxy-Status: *on hold*
            after 1s
            client 2 >> GET http://localhost/1 HTTP/1.1
            server 2 << GET /1 HTTP/1.1
                        X-Api-Key: abc
            server 2 >> HTTP/1.1 401 Unauthorized
            client 2 << HTTP/1.1 401 Unauthorized
                        Proxy-Status: *credential was refused*
            client 2 >> GET http://localhost/1 HTTP/1.1
            server 2 << GET /1 HTTP/1.1
                        X-Api-Key: -
            server 2 >> HTTP/1.1 401 Unauthorized
            client 2 << HTTP/1.1 401 Unauthorized
                        Proxy-Status: *the next try is in 60 minutes*
            """)
    }

    @Test func `a key that has changed is another attempt of the same request`() async {
        await play(
            rules: Self.key,
            """
            \(Self.opened)
            file key def
            >> GET http://localhost/ HTTP/1.1
            << GET / HTTP/1.1
               X-Api-Key: abc
            >> HTTP/1.1 401 Unauthorized
            << GET / HTTP/1.1
               X-Api-Key: def
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://localhost/x HTTP/1.1
            << GET /x HTTP/1.1
               X-Api-Key: def
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a 403 is about the page`() async {
        await play(
            rules: Self.key,
            """
            \(Self.opened)
            >> GET http://localhost/ HTTP/1.1
            << GET / HTTP/1.1
               X-Api-Key: abc
            >> HTTP/1.1 403 Forbidden
            << HTTP/1.1 403 Forbidden
               Proxy-Status: -
            >> GET http://localhost/ HTTP/1.1
            << GET / HTTP/1.1
               X-Api-Key: abc
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `of many requests one finds out about a key that is not known to be right`() async {
        await play(
            rules: Self.key,
            """
            file key abc
            client >> GET http://localhost/ HTTP/1.1
            << connect localhost:80
            << GET / HTTP/1.1
               X-Api-Key: abc
            client 2 >> GET http://localhost/ HTTP/1.1
            server >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            server << GET / HTTP/1.1
                      X-Api-Key: abc
            server >> HTTP/1.1 200 OK
            client 2 << HTTP/1.1 200 OK
            """)
    }

    @Test func `a password that is sent always and is challenged for is refused, and not sent twice`() async {
        await play(
            rules: """
                \(Self.loopback)
                credential a { user u; password p }
                challenge { host localhost; method basic; use a; preempt always }
                """,
            """
            >> GET http://localhost/ HTTP/1.1
            << connect localhost:80
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            report credential a was refused by localhost:80*
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: *
            # It is known to be wrong for this page.
            >> GET http://localhost/ HTTP/1.1
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: *
            """)
    }

    @Test func `a token that is fetched goes before any challenge, and is replaced once where it is refused`() async {
        await play(
            rules: """
                \(Self.loopback)
                credential crm { oauth2 http://127.0.0.1:9/token; client-id c; client-secret s }
                challenge "api" { host localhost; use crm; preempt always }
                """,
            """
            >> GET http://localhost/ HTTP/1.1
            << connect 127.0.0.1:9
            << POST /token HTTP/1.1
               Authorization: Basic base64(c:s)

               grant_type=client_credentials
            >> HTTP/1.1 200 OK

               {"access_token":"one","token_type":"Bearer","expires_in":3600}
            server << close
            << connect localhost:80
            server 2 << GET / HTTP/1.1
                        Authorization: Bearer one
            server 2 >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://localhost/ HTTP/1.1
            server 2 << GET / HTTP/1.1
                        Authorization: Bearer one
            server 2 >> HTTP/1.1 401 Unauthorized
            << connect 127.0.0.1:9
            server 3 << POST /token HTTP/1.1
                        Authorization: Basic base64(c:s)

                        grant_type=client_credentials
            server 3 >> HTTP/1.1 200 OK

                        {"access_token":"two","token_type":"Bearer","expires_in":3600}
            server 3 << close
            server 2 << GET / HTTP/1.1
                        Authorization: Bearer two
            server 2 >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }
}
