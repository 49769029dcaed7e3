import Testing

/// A request and its response, and the connections that they go over.
struct ForwardingConversations {
    @Test func `a request goes out in origin form, and hop by hop fields stay behind`() async {
        await play(
            """
            client >> GET http://h/a?b HTTP/1.1
                      Accept: x
                      Connection: X-Hop, keep-alive
                      X-Hop: 1
                      Proxy-Connection: keep-alive
            << connect h:80
            server << GET /a?b HTTP/1.1
                      Host: h
                      Accept: x
                      X-Hop: -
                      Proxy-Connection: -
                      Via: 1.1 *
            server >> HTTP/1.1 200 OK
                      Connection: X-Back
                      X-Back: 1

                      hello
            client << HTTP/1.1 200 OK
                      X-Back: -
                      Content-Length: 5

                      hello
            """)
    }

    @Test func `both connections are kept for the next request`() async {
        await play(
            """
            >> GET http://h/1 HTTP/1.1
            << connect h:80
            << GET /1 HTTP/1.1
            >> HTTP/1.1 204 No Content
            << HTTP/1.1 204 No Content
            >> GET http://h/2 HTTP/1.1
            << GET /2 HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `requests that come before the first is answered go out and are answered in their order`() async {
        await play(
            """
            client >> GET http://h/1 HTTP/1.1
            << connect h:80
            << GET /1 HTTP/1.1
            client >> GET http://i/2 HTTP/1.1
            client >> GET http://h/3 HTTP/1.1
            server >> HTTP/1.1 200 OK

                      one
            client << HTTP/1.1 200 OK

                      one
            << connect i:80
            server 2 << GET /2 HTTP/1.1
            server 2 >> HTTP/1.1 200 OK

                        two
            client << HTTP/1.1 200 OK

                      two
            server << GET /3 HTTP/1.1
            server >> HTTP/1.1 200 OK

                      three
            client << HTTP/1.1 200 OK

                      three
            """)
    }

    @Test func `requests that come together with a body between them are told apart`() async {
        await play(
            #"""
            client >> "POST http://h/1 HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\noneGET http://h/2 HTTP/1.1\r\nHost: h\r\n\r\n"
            << connect h:80
            server << POST /1 HTTP/1.1

                      one
            server >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            server << GET /2 HTTP/1.1
            server >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            """#)
    }

    @Test func `a Basic challenge is answered, and later requests are answered before they are challenged`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            accepted GET http://h/a/b
            >> GET http://h/a/c HTTP/1.1
            << GET /a/c HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            # another path may be another space
            >> GET http://h/d HTTP/1.1
            << GET /d HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }
}
