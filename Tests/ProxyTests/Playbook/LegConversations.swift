import Testing

/// The steps between a challenge and the request that answers it: the body that is read and dropped, and the
/// connection.
struct LegConversations {
    @Test func `the body of a challenge is read away, and its connection serves the next leg`() async {
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
               Content-Length: 30000
            server >> 20000 bytes
            server >> 10000 bytes
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a challenge whose body is too long to read costs its connection`() async {
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
               Content-Length: 300000
            and server >> 299999 bytes
            server << close
            << connect h:80
            server 2 << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a challenge whose body does not come costs its connection after five seconds`() async {
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
            after 4s
            after 1s
            server << close
            << connect h:80
            server 2 << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a challenge that ends its connection is answered on another`() async {
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
               Connection: close
            server << close
            << connect h:80
            server 2 << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `HEAD is answered as HEAD`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            >> HEAD http://h/ HTTP/1.1
            << connect h:80
            << HEAD / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Content-Length: 7
            << HEAD / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
               Content-Length: 7
            << HTTP/1.1 200 OK
               Content-Length: 7
            """)
    }
}
