import Testing

/// Responses that come before the content of their request has ended.
struct EarlyResponseConversations {
    @Test func `an early response reaches the client at once, and the rest of the body its origin`() async {
        await play(
            """
            >> POST http://h/ HTTP/1.1
               Content-Length: 10
            << connect h:80
            << POST / HTTP/1.1
            client >> 5 bytes
            server << 5 bytes
            >> HTTP/1.1 200 OK

               early
            << HTTP/1.1 200 OK

               early
            client >> 5 bytes
            server << 5 bytes
            >> GET http://h/2 HTTP/1.1
            << GET /2 HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a response and a body pass at once, piece by piece`() async {
        await play(
            """
            >> POST http://h/ HTTP/1.1
               Transfer-Encoding: chunked
            and client >> 10 bytes
            << connect h:80
            << POST / HTTP/1.1
               Transfer-Encoding: chunked
            server << 10 bytes
            >> HTTP/1.1 200 OK
               Transfer-Encoding: chunked
            << HTTP/1.1 200 OK
            server >> 10 bytes
            client << 10 bytes
            client >> 10 bytes
            server << 10 bytes
            server >> 10 bytes
            client << 10 bytes
            client >> end of body
            server << end of body
            server >> end of body
            client << end of body
            """)
    }

    @Test func `a refusal that ends the connection ends the upload`() async {
        await play(
            """
            >> POST http://h/ HTTP/1.1
               Content-Length: 10
            << connect h:80
            << POST / HTTP/1.1
            client >> 5 bytes
            server << 5 bytes
            >> HTTP/1.1 413 Content Too Large
               Connection: close
            << HTTP/1.1 413 Content Too Large
               Connection: close
            client << end
            server << close
            """)
    }

    @Test func `content with a bad chunk ends the response that had begun`() async {
        await play(
            #"""
            >> POST http://h/ HTTP/1.1
               Transfer-Encoding: chunked
            and client >> 3 bytes
            << connect h:80
            << POST / HTTP/1.1
               Transfer-Encoding: chunked
            server << 3 bytes
            >> HTTP/1.1 200 OK
               Transfer-Encoding: chunked
            << HTTP/1.1 200 OK
            client >> "zz\r\n"
            server << close
            client << close
            """#)
    }

    @Test func `a client that never ends its content has the whole answer, and the idle time for the rest`() async {
        await play(
            rules: "timeouts { idle 60s }",
            """
            >> POST http://h/ HTTP/1.1
               Content-Length: 100
            and client >> 4 bytes
            << connect h:80
            << POST / HTTP/1.1
            server << 4 bytes
            >> HTTP/1.1 200 OK

               answer
            << HTTP/1.1 200 OK

               answer
            after 59s
            after 1s
            server << close
            client << end
            """)
    }

    @Test func `content may come more slowly than a response is awaited`() async {
        await play(
            rules: "timeouts { response 2s; idle 60s }",
            """
            >> POST http://h/ HTTP/1.1
               Content-Length: 10
            << connect h:80
            << POST / HTTP/1.1
            after 30s
            client >> 5 bytes
            server << 5 bytes
            after 30s
            client >> 5 bytes
            server << 5 bytes
            after 1900ms
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `content that the origin did not take is not the client's next request`() async {
        await play(
            """
            >> POST http://h/upload HTTP/1.1
               Content-Length: 38
            << connect h:80
            << POST /upload HTTP/1.1
            >> HTTP/1.1 413 Content Too Large
            << HTTP/1.1 413 Content Too Large
            client << end
            server << close
            # which would be answered with 400
            client >> 38 bytes
            """)
    }
}
