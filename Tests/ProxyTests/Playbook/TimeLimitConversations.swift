import Testing

/// The times of `timeouts`, on a clock that the conversation moves.
struct TimeLimitConversations {
    @Test func `an origin that does not answer in time is given up`() async {
        await play(
            rules: "timeouts { response 30s }",
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            after 29s
            after 1s
            server << close
            client << HTTP/1.1 504 Gateway Timeout
                      Proxy-Status: *error=http_response_timeout*

                      *
            """)
    }

    @Test func `a host that accepts no connection in time is given up`() async {
        await play(
            rules: "timeouts { connect 5s }",
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80 pending
            after 4s
            after 1s
            server << close
            << HTTP/1.1 504 Gateway Timeout
               Proxy-Status: *error=connection_timeout*

               *
            """)
    }

    @Test func `a host whose address is known, and that accepts no connection in time, is given up`() async {
        await play(
            rules: "timeouts { connect 5s }",
            """
            >> GET http://h.known/ HTTP/1.1
            << connect h.known:80 pending
            after 4s
            after 1s
            server << close
            << HTTP/1.1 504 Gateway Timeout
               Proxy-Status: *error=connection_timeout*

               *
            """)
    }

    @Test func `the time to connect is over once there is a connection`() async {
        await play(
            rules: "timeouts { connect 5s; response 30s }",
            """
            >> GET http://h.known/ HTTP/1.1
            << connect h.known:80 pending
            after 4s
            server >> accept
            << GET / HTTP/1.1
            after 20s
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a connection to an origin is kept for half a minute, the client's for the idle time`() async {
        await play(
            rules: "timeouts { idle 60s }",
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            after 29s
            after 1s
            server << close
            after 29s
            after 1s
            client << close
            """)
    }

    @Test func `a client that says nothing has the time of a head`() async {
        await play(
            rules: "timeouts { head 10s; idle 60s }",
            """
            client >> ""
            after 9s
            after 1s
            client << close
            """)
    }

    @Test func `a client that does not end its head in time is told so`() async {
        await play(
            rules: "timeouts { head 10s }",
            #"""
            client >> "GET http://h/ HTTP/1.1\r\n"
            after 9s
            client >> "Host: h\r\n"
            after 1s
            client << HTTP/1.1 408 Request Timeout
                      Proxy-Status: *

                      *
            client << end
            """#)
    }
}
