import Testing

/// Several clients at once: who sends an unproven password, who waits, and for how long.
struct WaitingConversations {
    @Test func `of two requests with an unknown password one sends it, and the other waits`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            client >> GET http://h/1 HTTP/1.1
            << connect h:80
            server << GET /1 HTTP/1.1
            server >> HTTP/1.1 401 Unauthorized
                      WWW-Authenticate: Basic realm="x"
            server << GET /1 HTTP/1.1
                      Authorization: Basic base64(u:p)
            client 2 >> GET http://h/2 HTTP/1.1
            after 1s
            << connect h:80
            server 2 << GET /2 HTTP/1.1
            server 2 >> HTTP/1.1 401 Unauthorized
                        WWW-Authenticate: Basic realm="x"
            server >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            server 2 << GET /2 HTTP/1.1
                        Authorization: Basic base64(u:p)
            server 2 >> HTTP/1.1 200 OK
            client 2 << HTTP/1.1 200 OK
            """)
    }

    @Test func `of those that wait one sends the password once more, and the others share its refusal`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            client >> GET http://h/1 HTTP/1.1
            << connect h:80
            server << GET /1 HTTP/1.1
            server >> HTTP/1.1 401 Unauthorized
                      WWW-Authenticate: Basic realm="x"
            server << GET /1 HTTP/1.1
                      Authorization: Basic base64(u:p)
            client 2 >> GET http://h/2 HTTP/1.1
            after 1s
            << connect h:80
            server 2 << GET /2 HTTP/1.1
            server 2 >> HTTP/1.1 401 Unauthorized
                        WWW-Authenticate: Basic realm="x"
            server >> HTTP/1.1 401 Unauthorized
                      WWW-Authenticate: Basic realm="x"
            report credential a was refused by h:80. It is sent once more, for another target*
            client << HTTP/1.1 401 Unauthorized
                      WWW-Authenticate: Basic realm="x"
                      Proxy-Status: *was refused*
            server 2 << GET /2 HTTP/1.1
                        Authorization: Basic base64(u:p)
            client 3 >> GET http://h/3 HTTP/1.1
            server << GET /3 HTTP/1.1
            server >> HTTP/1.1 401 Unauthorized
                      WWW-Authenticate: Basic realm="x"
            server 2 >> HTTP/1.1 401 Unauthorized
                        WWW-Authenticate: Basic realm="x"
            report credential a was refused by h:80 and is on hold for 30 minutes*
            client 2 << HTTP/1.1 401 Unauthorized
                        WWW-Authenticate: Basic realm="x"
                        Proxy-Status: *was refused*
            client 3 << HTTP/1.1 401 Unauthorized
                        WWW-Authenticate: Basic realm="x"
                        Proxy-Status: *on hold*
            """)
    }

    @Test func `a request to an origin that nobody knows waits a second for the first, not longer`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            client >> GET http://h/1 HTTP/1.1
            << connect h:80
            server << GET /1 HTTP/1.1
            client 2 >> GET http://h/2 HTTP/1.1
            after 900ms
            after 100ms
            << connect h:80
            server 2 << GET /2 HTTP/1.1
            server 2 >> HTTP/1.1 200 OK
            client 2 << HTTP/1.1 200 OK
            """)
    }

    @Test func `a response that is no challenge settles an unknown origin for those that wait`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            client >> GET http://h/1 HTTP/1.1
            << connect h:80
            server << GET /1 HTTP/1.1
            client 2 >> GET http://h/2 HTTP/1.1
            after 500ms
            server >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            server << GET /2 HTTP/1.1
            server >> HTTP/1.1 200 OK
            client 2 << HTTP/1.1 200 OK
            """)
    }

    @Test func `where no credential is at stake nobody waits`() async {
        await play(
            """
            client >> GET http://h/1 HTTP/1.1
            << connect h:80
            server << GET /1 HTTP/1.1
            client 2 >> GET http://h/2 HTTP/1.1
            << connect h:80
            server 2 << GET /2 HTTP/1.1
            server 2 >> HTTP/1.1 200 OK
            client 2 << HTTP/1.1 200 OK
            """)
    }

    @Test func `a verdict that does not come lets one other send the password after half of connect`() async {
        await play(
            rules: """
                timeouts { connect 10s }
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            client >> GET http://h/1 HTTP/1.1
            << connect h:80
            server << GET /1 HTTP/1.1
            server >> HTTP/1.1 401 Unauthorized
                      WWW-Authenticate: Basic realm="x"
            server << GET /1 HTTP/1.1
                      Authorization: Basic base64(u:p)
            client 2 >> GET http://h/2 HTTP/1.1
            after 1s
            << connect h:80
            server 2 << GET /2 HTTP/1.1
            server 2 >> HTTP/1.1 401 Unauthorized
                        WWW-Authenticate: Basic realm="x"
            client 3 >> GET http://h/3 HTTP/1.1
            << connect h:80
            server 3 << GET /3 HTTP/1.1
            server 3 >> HTTP/1.1 401 Unauthorized
                        WWW-Authenticate: Basic realm="x"
            after 4900ms
            after 100ms
            server 2 << GET /2 HTTP/1.1
                        Authorization: Basic base64(u:p)
            after 5s
            client 3 << HTTP/1.1 401 Unauthorized
                        WWW-Authenticate: Basic realm="x"
                        Proxy-Status: *
            """)
    }

    @Test func `a password that the space accepted before holds nobody`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a; preempt no }
                """,
            """
            client >> GET http://h/1 HTTP/1.1
            << connect h:80
            server << GET /1 HTTP/1.1
            server >> HTTP/1.1 401 Unauthorized
                      WWW-Authenticate: Basic realm="x"
            server << GET /1 HTTP/1.1
                      Authorization: Basic base64(u:p)
            server >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            client >> GET http://h/1 HTTP/1.1
            server << GET /1 HTTP/1.1
            server >> HTTP/1.1 401 Unauthorized
                      WWW-Authenticate: Basic realm="x"
            server << GET /1 HTTP/1.1
                      Authorization: Basic base64(u:p)
            client 2 >> GET http://h/2 HTTP/1.1
            << connect h:80
            server 2 << GET /2 HTTP/1.1
            server 2 >> HTTP/1.1 401 Unauthorized
                        WWW-Authenticate: Basic realm="x"
            server 2 << GET /2 HTTP/1.1
                        Authorization: Basic base64(u:p)
            """)
    }

    @Test func `a leader that leaves hands its turn to the next`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            client >> GET http://h/1 HTTP/1.1
            << connect h:80
            server << GET /1 HTTP/1.1
            server >> HTTP/1.1 401 Unauthorized
                      WWW-Authenticate: Basic realm="x"
            server << GET /1 HTTP/1.1
                      Authorization: Basic base64(u:p)
            client 2 >> GET http://h/2 HTTP/1.1
            after 1s
            << connect h:80
            server 2 << GET /2 HTTP/1.1
            server 2 >> HTTP/1.1 401 Unauthorized
                        WWW-Authenticate: Basic realm="x"
            client >> close
            server 2 << GET /2 HTTP/1.1
                        Authorization: Basic base64(u:p)
            """)
    }
}
