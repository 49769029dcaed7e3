import Testing

/// Interim responses, `Expect` (RFC 9110 sections 10.1.1 and 15.2) and a change of protocol.
struct InterimConversations {
    @Test func `early hints reach a client of HTTP/1.1 before the final response`() async {
        await play(
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 103 Early Hints
               Link: </a.css>
            << HTTP/1.1 103 Early Hints
               Link: </a.css>
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `interim responses give the origin no more time for the final one`() async {
        await play(
            rules: "timeouts { response 30s }",
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            after 20s
            >> HTTP/1.1 102 Processing
            << HTTP/1.1 102 Processing
            after 9s
            >> HTTP/1.1 102 Processing
            << HTTP/1.1 102 Processing
            after 1s
            server << close
            << HTTP/1.1 504 Gateway Timeout
               Proxy-Status: *error=http_response_timeout*

               *
            """)
    }

    @Test func `a client of HTTP/1.0 gets no interim response`() async {
        await play(
            """
            >> GET http://h/ HTTP/1.0
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 103 Early Hints
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            client << close
            """)
    }

    @Test func `a client's own Expect is passed on, and so is the word that it waits for`() async {
        await play(
            """
            >> POST http://h/ HTTP/1.1
               Content-Length: 10
               Expect: 100-continue
            << connect h:80
            << POST / HTTP/1.1
               Expect: 100-continue
            >> HTTP/1.1 100 Continue
            << HTTP/1.1 100 Continue
            client >> 10 bytes
            server << 10 bytes
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a final response in the place of 100 leaves the client its content`() async {
        await play(
            """
            >> POST http://h/ HTTP/1.1
               Content-Length: 7000000
               Expect: 100-continue
            << connect h:80
            << POST / HTTP/1.1
               Expect: 100-continue
            >> HTTP/1.1 413 Content Too Large
               Connection: close
            << HTTP/1.1 413 Content Too Large
            server << close
            client << end
            """)
    }

    @Test func `an expectation that nobody knows is refused with 417`() async {
        await play(
            """
            >> POST http://h/ HTTP/1.1
               Content-Length: 0
               Expect: miracles
            << HTTP/1.1 417 Expectation Failed
               Proxy-Status: *

               *
            client << end
            """)
    }

    @Test func `a client that waits for its word is challenged at no cost`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            >> POST http://h/ HTTP/1.1
               Content-Length: 10
               Expect: 100-continue
            << connect h:80
            << POST / HTTP/1.1
               Expect: 100-continue
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            server << close
            << connect h:80
            server 2 << POST / HTTP/1.1
                        Expect: 100-continue
                        Authorization: Basic base64(u:p)
            server 2 >> HTTP/1.1 100 Continue
            << HTTP/1.1 100 Continue
            client >> 10 bytes
            server 2 << 10 bytes
            server 2 >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a challenge behind 100 is answered with the content that came`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            >> POST http://h/ HTTP/1.1
               Content-Length: 10
               Expect: 100-continue
            << connect h:80
            << POST / HTTP/1.1
               Expect: 100-continue
            >> HTTP/1.1 100 Continue
            << HTTP/1.1 100 Continue
            client >> 10 bytes
            server << 10 bytes
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << POST / HTTP/1.1
               Authorization: Basic base64(u:p)
            server << 10 bytes
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a word that comes late does not stop content that is on its way`() async {
        await play(
            """
            >> POST http://h/ HTTP/1.1
               Content-Length: 10
               Expect: 100-continue
            and client >> 3 bytes
            << connect h:80
            << POST / HTTP/1.1
               Expect: 100-continue
            server << 3 bytes
            >> HTTP/1.1 100 Continue
            client >> 7 bytes
            server << 7 bytes
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a word that comes late does not stop content that is kept for a challenge`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            >> POST http://h/ HTTP/1.1
               Content-Length: 10
               Expect: 100-continue
            and client >> 3 bytes
            << connect h:80
            << POST / HTTP/1.1
               Expect: 100-continue
            server << 3 bytes
            >> HTTP/1.1 100 Continue
            client >> 7 bytes
            server << 7 bytes
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a protocol that both sides change to passes unseen`() async {
        await play(
            """
            >> GET http://h/ HTTP/1.1
               Connection: Upgrade
               Upgrade: websocket
               Sec-WebSocket-Key: AAAA
            << connect h:80
            << GET / HTTP/1.1
               Connection: Upgrade
               Upgrade: websocket
            >> HTTP/1.1 101 Switching Protocols
               Connection: Upgrade
               Upgrade: websocket
            << HTTP/1.1 101 Switching Protocols
               Upgrade: websocket
            server >> "frame"
            client << "frame"
            client >> "answer"
            server << "answer"
            """)
    }
}
