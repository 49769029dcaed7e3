import Testing

/// Answers that are sent before they are asked for, and those that are not.
struct KnownSpaceConversations {
    @Test func `the answer of a known space is not sent outside of it`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            accepted GET http://h/in/x
            >> GET http://h/in/y HTTP/1.1
            << GET /in/y HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://h/out HTTP/1.1
            << GET /out HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://h/in/../out HTTP/1.1
            << GET /in/../out HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a path that a server may resolve elsewhere is answered only when it asks`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            accepted GET http://h/in/x
            >> GET http://h/in/a%2f..%2f..%2fpub HTTP/1.1
            << GET /in/a%2f..%2f..%2fpub HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `preempt no waits for each challenge`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a; preempt no }
                """,
            """
            accepted GET http://h/
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

    @Test func `an unasked answer that another realm turns down is no refusal`() async {
        await play(
            rules: """
                credential a { user u; password p }
                credential b { user v; password q }
                challenge { host h; realm x; use a }
                challenge { host h; realm y; use b }
                """,
            """
            accepted GET http://h/
            >> GET http://h/z HTTP/1.1
            << GET /z HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="y"
            << GET /z HTTP/1.1
               Authorization: Basic base64(v:q)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `the next client is answered from what the first has learned`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            accepted GET http://h/
            client 2 >> GET http://h/ HTTP/1.1
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            client 2 << HTTP/1.1 200 OK
            """)
    }

    @Test func `a password that changes is proven anew before it is sent unasked`() async {
        await play(
            rules: """
                credential a { user u; password file FILES/p }
                challenge { host h; use a }
                """,
            """
            file p one
            challenged GET http://h/
            << GET / HTTP/1.1
               Authorization: Basic base64(u:one)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            file p two
            refresh
            >> GET http://h/ HTTP/1.1
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << GET / HTTP/1.1
               Authorization: Basic base64(u:two)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }
}
