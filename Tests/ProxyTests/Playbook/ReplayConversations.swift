import Testing

/// Content that may have to be sent again, at each limit of what is kept.
struct ReplayConversations {
    @Test func `a small body goes out with the request, and again with the answer`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                limits { replay-memory 1k; replay-disk 10k }
                """,
            """
            >> POST http://h/ HTTP/1.1
               Content-Length: 1024
            and client >> 1024 bytes
            << connect h:80
            << POST / HTTP/1.1
            server << 1024 bytes
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << POST / HTTP/1.1
               Authorization: Basic base64(u:p)
            server << 1024 bytes
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a body over replay-memory is asked for first, and a challenge costs no second transfer`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                limits { replay-memory 1k; replay-disk 10k }
                """,
            """
            >> POST http://h/ HTTP/1.1
               Content-Length: 1025
            and client >> 1025 bytes
            << connect h:80
            << POST / HTTP/1.1
               Expect: 100-continue
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            server << close
            << connect h:80
            server 2 << POST / HTTP/1.1
               Authorization: Basic base64(u:p)
               Expect: 100-continue
            server 2 >> HTTP/1.1 100 Continue
            server 2 << 1025 bytes
            server 2 >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `an origin that ignores Expect gets the body after a second, and from the copy again`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                limits { replay-memory 1k; replay-disk 10k }
                """,
            """
            >> POST http://h/ HTTP/1.1
               Content-Length: 8000
            and client >> 8000 bytes
            << connect h:80
            << POST / HTTP/1.1
               Expect: 100-continue
            after 900ms
            after 100ms
            server << 8000 bytes
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            # it is not asked in vain again
            << POST / HTTP/1.1
               Authorization: Basic base64(u:p)
            server << 8000 bytes
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a body over all that may be kept is passed with its challenge`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                limits { replay-memory 1k; replay-disk 1k }
                """,
            """
            >> POST http://h/ HTTP/1.1
               Content-Length: 8000
            and client >> 8000 bytes
            << connect h:80
            << POST / HTTP/1.1
               Expect: 100-continue
            after 1s
            server << 8000 bytes
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: *replay-memory*
            """)
    }

    @Test func `a body over all that may be kept is still sent where the origin asks for an answer first`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                limits { replay-memory 1k; replay-disk 1k }
                """,
            """
            >> POST http://h/ HTTP/1.1
               Content-Length: 8000
            and client >> 8000 bytes
            << connect h:80
            << POST / HTTP/1.1
               Expect: 100-continue
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            server << close
            << connect h:80
            server 2 << POST / HTTP/1.1
               Authorization: Basic base64(u:p)
               Expect: 100-continue
            server 2 >> HTTP/1.1 100 Continue
            server 2 << 8000 bytes
            server 2 >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `chunks are kept and sent again`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            >> POST http://h/ HTTP/1.1
               Transfer-Encoding: chunked
            and client >> 500 bytes
            and client >> 500 bytes
            and client >> end of body
            << connect h:80
            << POST / HTTP/1.1
               Transfer-Encoding: chunked
               Expect: 100-continue
            server >> HTTP/1.1 100 Continue
            server << 1000 bytes
            server << end of body
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << POST / HTTP/1.1
               Transfer-Encoding: chunked
               Authorization: Basic base64(u:p)
               Expect: 100-continue
            server >> HTTP/1.1 100 Continue
            server << 1000 bytes
            server << end of body
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `an origin that refuses the proxy's own Expect gets the request without`() async {
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
            >> HTTP/1.1 417 Expectation Failed
            server << close
            << connect h:80
            server 2 << POST / HTTP/1.1
            server 2 << 2000 bytes
            server 2 >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a body without a rule for its host is not kept, and goes through as it comes`() async {
        await play(
            rules: "limits { replay-memory 1k; replay-disk 1k }",
            """
            >> POST http://h/ HTTP/1.1
               Content-Length: 8000
            << connect h:80
            << POST / HTTP/1.1
            client >> 5000 bytes
            server << 5000 bytes
            client >> 3000 bytes
            server << 3000 bytes
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: attache; details="no rule is for h:80"
            """)
    }

    @Test func `a word that comes late is no sign of an origin that ignores Expect`() async {
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
            after 1s
            server << 2000 bytes
            >> HTTP/1.1 100 Continue
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> POST http://h/ HTTP/1.1
               Content-Length: 2000
            and client >> 2000 bytes
            << POST / HTTP/1.1
               Expect: 100-continue
            """)
    }

    @Test func `the copies of all requests together are bounded`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                limits { replay-memory 1k; replay-disk 1m; replay-disk-total 100k }
                """,
            """
            client >> POST http://h/1 HTTP/1.1
               Content-Length: 80000
            << connect h:80
            server << POST /1 HTTP/1.1
               Expect: 100-continue
            server >> HTTP/1.1 100 Continue
            client >> 10 bytes
            server << 10 bytes
            client 2 >> POST http://h/2 HTTP/1.1
               Content-Length: 80000
            and client 2 >> 80000 bytes
            after 1s
            << connect h:80
            server 2 << POST /2 HTTP/1.1
               Expect: 100-continue
            server 2 >> HTTP/1.1 100 Continue
            server 2 << 80000 bytes
            server 2 >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            client 2 << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: *replay-disk-total*
            """)
    }
}
