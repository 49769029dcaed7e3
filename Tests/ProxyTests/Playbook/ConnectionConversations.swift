import Testing

/// Connections that end early, say too much, or are not made.
struct ConnectionConversations {
    @Test func `a kept connection that its origin closes is not used again`() async {
        await play(
            """
            >> GET http://h/1 HTTP/1.1
            << connect h:80
            << GET /1 HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            server >> close
            >> GET http://h/2 HTTP/1.1
            << connect h:80
            server 2 << GET /2 HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a GET on a kept connection that closes under it goes out again, once`() async {
        await play(
            """
            >> GET http://h/1 HTTP/1.1
            << connect h:80
            << GET /1 HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://h/2 HTTP/1.1
            << GET /2 HTTP/1.1
            server >> reset
            << connect h:80
            server 2 << GET /2 HTTP/1.1
            server 2 >> reset
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *
            """)
    }

    @Test func `a connection to a known address, on which the next request goes too`() async {
        await play(
            """
            >> POST http://h.known/1 HTTP/1.1

               x
            << connect h.known:80
            << POST /1 HTTP/1.1

               x
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://h.known/2 HTTP/1.1
            << GET /2 HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a host at a known address that takes no connection is told of, and is tried again by the next request`()
        async
    {
        await play(
            """
            >> GET http://h.known/1 HTTP/1.1
            << connect h.known:80 refused
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *error=destination_unavailable*

               *
            >> GET http://h.known/2 HTTP/1.1
            << connect h.known:80
            server 2 << GET /2 HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a known address that the rules forbid is not connected to`() async {
        await play(
            rules: "egress { deny 192.0.2.0/24 }",
            """
            >> GET http://h.known/ HTTP/1.1
            << HTTP/1.1 403 Forbidden
               Proxy-Status: *error=destination_ip_prohibited*

               *
            """)
    }

    @Test func `a POST on a kept connection that closes under it does not go out again`() async {
        await play(
            """
            >> GET http://h/1 HTTP/1.1
            << connect h:80
            << GET /1 HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> POST http://h/2 HTTP/1.1

               x
            << POST /2 HTTP/1.1

               x
            server >> close
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *
            """)
    }

    @Test func `a POST without content does not go out again either`() async {
        await play(
            """
            >> GET http://h/1 HTTP/1.1
            << connect h:80
            << GET /1 HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> POST http://h/2 HTTP/1.1
               Content-Length: 0
            << POST /2 HTTP/1.1
            server >> reset
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *
            """)
    }

    @Test func `a PUT on a kept connection that is reset goes out again with its body`() async {
        await play(
            """
            >> GET http://h/1 HTTP/1.1
            << connect h:80
            << GET /1 HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> PUT http://h/2 HTTP/1.1
               Content-Length: 900
            and client >> 900 bytes
            << PUT /2 HTTP/1.1
            server << 900 bytes
            server >> reset
            << connect h:80
            server 2 << PUT /2 HTTP/1.1
            server 2 << 900 bytes
            server 2 >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a new connection that closes before its response is a 502, also to a GET`() async {
        await play(
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            server >> close
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *error=connection_terminated*

               *
            """)
    }

    @Test func `bytes that nobody asked for end a kept connection`() async {
        await play(
            #"""
            >> GET http://h/1 HTTP/1.1
            << connect h:80
            << GET /1 HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            server >> "HTTP/1.1 200 OK\r\n\r\n"
            server << close
            """#)
    }

    @Test func `a response that ends with its connection ends the client's too`() async {
        await play(
            """
            >> GET http://h/ HTTP/1.0
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 200 OK
               Content-Length: -
            and server >> "until the end"
            and server >> close
            << HTTP/1.1 200 OK
            client << "until the end"
            client << close
            """)
    }

    @Test func `a response that breaks off before its end breaks off for the client`() async {
        await play(
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 200 OK
               Content-Length: 10
            and server >> 5 bytes
            and server >> close
            << HTTP/1.1 200 OK
            client << 5 bytes
            client << close
            """)
    }

    @Test func `a response with two lengths reaches nobody`() async {
        await play(
            #"""
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            server >> "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"
            server << close
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *
            """#)
    }

    @Test func `a request with two framings is refused, and its connection ends`() async {
        await play(
            #"""
            client >> "POST http://h/ HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"
            << HTTP/1.1 400 Bad Request
               Proxy-Status: *

               *
            client << end
            """#)
    }

    @Test func `a name that does not exist is a 502`() async {
        await play(
            """
            >> GET http://nobody.invalid/ HTTP/1.1
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *error=dns_error*

               *
            """)
    }

    @Test func `an address that the rules forbid is not dialled`() async {
        await play(
            rules: "egress { deny 192.0.2.0/24 }",
            """
            >> GET http://h/ HTTP/1.1
            << HTTP/1.1 403 Forbidden
               Proxy-Status: *error=destination_ip_prohibited*

               *
            """)
    }

    @Test func `bytes behind a response end its connection, and are nobody's response`() async {
        await play(
            #"""
            >> GET http://h/1 HTTP/1.1
            << connect h:80
            << GET /1 HTTP/1.1
            server >> "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"
            << HTTP/1.1 200 OK

               ok
            server << close
            >> GET http://h/2 HTTP/1.1
            << connect h:80
            server 2 << GET /2 HTTP/1.1
            """#)
    }

    @Test func `bytes behind a challenge are not the response to the next leg`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            server >> HTTP/1.1 401 Unauthorized
                      WWW-Authenticate: Basic realm="x"
            and server >> HTTP/1.1 200 OK

                      forged
            server << close
            << connect h:80
            server 2 << GET / HTTP/1.1
                        Authorization: Basic base64(u:p)
            """)
    }

    @Test func `a response that had begun on a kept connection is not asked for again`() async {
        await play(
            """
            >> GET http://h/1 HTTP/1.1
            << connect h:80
            << GET /1 HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://h/2 HTTP/1.1
            << GET /2 HTTP/1.1
            server >> "HTTP/1.1 20"
            server >> reset
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *
            """)
    }

    @Test func `a response on a kept connection has its time once`() async {
        await play(
            rules: "timeouts { response 30s }",
            """
            >> GET http://h/1 HTTP/1.1
            << connect h:80
            << GET /1 HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://h/2 HTTP/1.1
            << GET /2 HTTP/1.1
            after 30s
            server << close
            << HTTP/1.1 504 Gateway Timeout
               Proxy-Status: *

               *
            """)
    }

    @Test func `a request that goes out again carries the rule's answer alone`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a; authorization replace }
                """,
            """
            accepted GET http://h/
            >> GET http://h/ HTTP/1.1
               Authorization: Bearer mine
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            server >> reset
            << connect h:80
            server 2 << GET / HTTP/1.1
                        Authorization: Basic base64(u:p)
            """)
    }

    @Test func `a route may deny a host`() async {
        await play(
            rules: "route h { deny }",
            """
            >> GET http://h/ HTTP/1.1
            << HTTP/1.1 403 Forbidden
               Proxy-Status: *error=http_request_denied*

               *
            """)
    }

    @Test func `a request in origin form is told of the proxy's own`() async {
        await play(
            """
            >> GET / HTTP/1.1
               Host: h
            << HTTP/1.1 400 Bad Request
               Proxy-Status: *

               *
            """)
    }
}
