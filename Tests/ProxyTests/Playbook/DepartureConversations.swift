import Testing

/// Clients that leave, at each stage of their exchange.
struct DepartureConversations {
    @Test func `a client that leaves before its connection is made has it given up`() async {
        await play(
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80 pending
            client >> close
            server << close
            log GET http://h/ -
                error: connection_terminated
                details: the client left
            """)
    }

    @Test func `a client that leaves before its connection is made straight to a known address`() async {
        await play(
            """
            >> GET http://h.known/ HTTP/1.1
            << connect h.known:80 pending
            client >> close
            server << close
            log GET http://h.known/ -
                error: connection_terminated
                details: the client left
            """)
    }

    @Test func `a client that leaves before the response has its request given up`() async {
        await play(
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            client >> close
            server << close
            log GET http://h/ -
                error: connection_terminated
            """)
    }

    @Test func `a client that leaves while its password is judged leaves the verdict to others`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            answered GET http://h/
            client >> close
            server >> HTTP/1.1 200 OK
            client 2 >> GET http://h/ HTTP/1.1
            server << GET / HTTP/1.1
                      Authorization: Basic base64(u:p)
            server >> HTTP/1.1 200 OK
            client 2 << HTTP/1.1 200 OK
            log GET http://h/ 200
                rule: proxy.conf:6
                scheme: basic
                credential: a
                attempts: 1
                error: connection_terminated
            log GET http://h/ 200
                rule: proxy.conf:6
                scheme: basic
                credential: a
                attempts: 1
            """)
    }

    @Test func `a client that leaves while a challenge's body is read`() async {
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
               WWW-Authenticate: Basic realm="x"
               Content-Length: 10
            client >> close
            server << close
            log GET http://h/ -
                rule: proxy.conf:6
                scheme: basic
                credential: a
                attempts: -
                error: connection_terminated
            """)
    }

    @Test func `a client that leaves under its upload`() async {
        await play(
            """
            >> POST http://h/ HTTP/1.1
               Content-Length: 10
            << connect h:80
            << POST / HTTP/1.1
            client >> 5 bytes
            server << 5 bytes
            client >> close
            server << close
            log POST http://h/ -
                error: connection_terminated
                bytes_in: 5
            """)
    }

    @Test func `a client that leaves under a response has the rest of it given up`() async {
        await play(
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 200 OK
               Content-Length: 1000000
            << HTTP/1.1 200 OK
            server >> 10 bytes
            client << 10 bytes
            client >> close
            server << close
            log GET http://h/ 200
                error: connection_terminated
                bytes_out: 10
            """)
    }

    @Test func `a client that ends its sending before its answer has left`() async {
        await play(
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            client >> end
            server << close
            client << close
            log GET http://h/ -
                error: connection_terminated
            """)
    }

    @Test func `a client that resets while the proxy waits to ask first`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                limits { replay-memory 1k }
                """,
            """
            >> POST http://h/ HTTP/1.1
               Content-Length: 2000
            and client >> 2000 bytes
            << connect h:80
            << POST / HTTP/1.1
               Expect: 100-continue
            client >> reset
            server << close
            log POST http://h/ -
                error: connection_terminated
            """)
    }

    @Test func `a client that leaves while it waits for another's verdict ends its own wait`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            client >> GET http://h/ HTTP/1.1
            << connect h:80
            server << GET / HTTP/1.1
            server >> HTTP/1.1 401 Unauthorized
                      WWW-Authenticate: Basic realm="x"
            server << GET / HTTP/1.1
                      Authorization: Basic base64(u:p)
            client 2 >> GET http://h/ HTTP/1.1
            after 1s
            << connect h:80
            server 2 << GET / HTTP/1.1
            server 2 >> HTTP/1.1 401 Unauthorized
                        WWW-Authenticate: Basic realm="x"
            client 2 >> close
            server 2 << close
            server >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            """)
    }

    @Test func `a client that said that its request is the last may end its sending`() async {
        await play(
            """
            >> GET http://h/ HTTP/1.1
               Connection: close
            << connect h:80
            << GET / HTTP/1.1
            client >> end
            >> HTTP/1.1 200 OK

               answer
            << HTTP/1.1 200 OK

               answer
            client << close
            """)
    }

    @Test func `requests that came before their client ended its sending are answered`() async {
        await play(
            """
            client >> GET http://h/a HTTP/1.1
            and client >> GET http://h/b HTTP/1.1
                          Connection: close
            and client >> end
            << connect h:80
            << GET /a HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            << GET /b HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            client << close
            """)
    }

    @Test func `a password that is refused behind its client's back is parked all the same`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            answered GET http://h/
            client >> close
            server >> HTTP/1.1 401 Unauthorized
                      WWW-Authenticate: Basic realm="x"
            server << close
            report credential a was refused *
            client 2 >> GET http://h/ HTTP/1.1
            << connect h:80
            server 2 << GET / HTTP/1.1
            server 2 >> HTTP/1.1 401 Unauthorized
                        WWW-Authenticate: Basic realm="x"
            client 2 << HTTP/1.1 401 Unauthorized
                        WWW-Authenticate: Basic realm="x"
                        Proxy-Status: *on hold*
            """)
    }

    @Test func `a verdict that does not come is not awaited for ever behind a client's back`() async {
        await play(
            rules: """
                timeouts { connect 10s }
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            answered GET http://h/
            client >> close
            after 4s
            after 1s
            server << close
            """)
    }
}
