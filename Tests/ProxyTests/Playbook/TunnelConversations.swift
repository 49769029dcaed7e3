import Testing

/// CONNECT: bytes that pass unseen, and requests in clear inside.
struct TunnelConversations {
    @Test func `a tunnel passes what each side says, and one side's end as that`() async {
        await play(
            """
            >> CONNECT h:443 HTTP/1.1
            << connect h:443
            << HTTP/1.1 200 Connection established
            client >> "hello"
            server << "hello"
            journal * h:443 tunnelled
                reason: no route decrypts the tunnel to h:443, and no rule names this server
                count: 1
            client >> end
            server << end
            server >> "more"
            client << "more"
            server >> close
            client << close
            """)
    }

    @Test func `bytes that come with the CONNECT are for its host`() async {
        await play(
            #"""
            client >> "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\nhello"
            << connect h:443
            << HTTP/1.1 200 Connection established
            server << "hello"
            """#)
    }

    @Test func `a tunnel to a port that the rules do not name is refused`() async {
        await play(
            rules: "egress { connect-ports 443 }",
            """
            >> CONNECT h:25 HTTP/1.1
            << HTTP/1.1 403 Forbidden
               Proxy-Status: *

               *
            """)
    }

    @Test func `a tunnel to a host that refuses is a 502`() async {
        await play(
            """
            >> CONNECT h:443 HTTP/1.1
            << connect h:443 refused
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *
            """)
    }

    @Test func `a silent tunnel ends after the idle time`() async {
        await play(
            rules: "timeouts { idle 60s }",
            """
            >> CONNECT h:443 HTTP/1.1
            << connect h:443
            << HTTP/1.1 200 Connection established
            after 30s
            client >> "x"
            server << "x"
            after 59s
            after 1s
            server << close
            client << close
            """)
    }

    @Test func `a client that leaves its tunnel takes the server's side along`() async {
        await play(
            """
            >> CONNECT h:443 HTTP/1.1
            << connect h:443
            << HTTP/1.1 200 Connection established
            client >> reset
            server << close
            """)
    }

    @Test func `in a tunnel that is looked into, plain requests are answered as outside`() async {
        await play(
            rules: """
                route * { intercept }
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            >> CONNECT h:80 HTTP/1.1
            << HTTP/1.1 200 Connection established
            >> GET / HTTP/1.1
               Host: h
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a request in a tunnel for another host is misdirected`() async {
        await play(
            rules: "route * { intercept }",
            """
            >> CONNECT h:80 HTTP/1.1
            << HTTP/1.1 200 Connection established
            >> GET / HTTP/1.1
               Host: i
            << HTTP/1.1 421 Misdirected Request
               Proxy-Status: *

               *
            """)
    }

    @Test func `a parent that sends interim responses without end has the time of a response for all of them`() async {
        await play(
            rules: """
                timeouts { response 30s }
                parent corp { http proxy:3128 }
                route * { via corp }
                """,
            #"""
            >> CONNECT h:443 HTTP/1.1
            << connect proxy:3128
            << CONNECT h:443 HTTP/1.1
            server >> "HTTP/1.1 102 Processing\r\n\r\n"
            after 14s
            server >> "HTTP/1.1 102 Processing\r\n\r\n"
            after 14s
            server >> "HTTP/1.1 102 Processing\r\n\r\n"
            after 2s
            server << close
            client << HTTP/1.1 504 Gateway Timeout
                      Proxy-Status: *error=http_response_timeout*

                      *
            """#)
    }
}
