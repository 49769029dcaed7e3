import Testing

/// The line that each exchange leaves in the access log. That it is one, every conversation checks.
struct LogConversations {
    private static let rules = """
        credential a { user u; password p }
        challenge "crm" { host h; use a }
        """

    @Test func `an exchange leaves its request, its status and its bytes`() async {
        await play(
            """
            >> POST http://h/a?b HTTP/1.1

               hello
            << connect h:80
            << POST /a?b HTTP/1.1

               hello
            after 2s
            >> HTTP/1.1 201 Created

               answer
            << HTTP/1.1 201 Created

               answer
            log POST http://h/a?b 201
                client: 127.0.0.1
                upstream: opened
                bytes_in: 5
                bytes_out: 6
                ms: 2000
                wait_ms: 2000
                connect_ms: 0
            >> GET http://h/ HTTP/1.1
            << GET / HTTP/1.1
            >> HTTP/1.1 204 No Content
            << HTTP/1.1 204 No Content
            log GET http://h/ 204
                upstream: reused
                wait_ms: 0
                connect_ms: -
            """)
    }

    @Test func `a challenge that is answered leaves one line, with the answer`() async {
        await play(
            rules: Self.rules,
            """
            accepted GET http://h/
            log GET http://h/ 200
                rule: crm
                scheme: basic
                credential: a
                attempts: 1
            # known from now on
            >> GET http://h/ HTTP/1.1
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            log GET http://h/ 200
                rule: crm
                scheme: basic
                credential: a
                attempts: 1
                upstream: reused
            """)
    }

    @Test func `a refused credential is in the line, and the one behind it says that it is parked`() async {
        await play(
            rules: Self.rules,
            """
            answered GET http://h/
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: *
            report credential a was refused *
            log GET http://h/ 401
                rule: crm
                scheme: basic
                credential: a
                attempts: 1
                details: *refused*
            >> GET http://h/ HTTP/1.1
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: *on hold*
            log GET http://h/ 401
                rule: crm
                details: *on hold*
            """)
    }

    @Test func `a server that leaves under its response`() async {
        await play(
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 200 OK
               Content-Length: 100
            << HTTP/1.1 200 OK
            server >> 10 bytes
            client << 10 bytes
            server >> close
            client << close
            log GET http://h/ 200
                error: http_response_incomplete
                bytes_out: 10
            """)
    }

    @Test func `a time that is over`() async {
        await play(
            rules: "timeouts { response 30s }",
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            after 30s
            server << close
            client << HTTP/1.1 504 Gateway Timeout
                      Proxy-Status: *error=http_response_timeout*

                      *
            log GET http://h/ 504
                error: http_response_timeout
                upstream: opened
                ms: 30000
            """)
    }

    @Test func `a head that does not come in time`() async {
        await play(
            rules: "timeouts { head 10s }",
            #"""
            client >> "GET http://h/ HTTP/1.1\r\n"
            after 10s
            client << HTTP/1.1 408 Request Timeout
                      Proxy-Status: *

                      *
            client << end
            log - - 408
                error: http_request_error
            """#)
    }

    @Test func `a connection that a client leaves without a request has no line`() async {
        await play(
            rules: "timeouts { head 10s }",
            """
            client >> ""
            client >> close
            client 2 >> ""
            after 10s
            client 2 << close
            client 3 >> GET http://h/ HTTP/1.1
            << connect h:80 refused
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *
            log GET http://h/ 502
                error: connection_refused
            """)
    }

    @Test func `a client that has not said who it is, and then does`() async {
        await play(
            rules: "clients { allow 127.0.0.0/8; authenticate basic; users file FILES/users }",
            """
            file users bob:$apr1$jyZwaDFl$p13pbvN0SE2ayWpCL4gMY1
            >> GET http://h/ HTTP/1.1
            << HTTP/1.1 407 Proxy Authentication Required
               Proxy-Authenticate: Basic *
               Proxy-Status: *

               *
            log GET http://h/ 407
                error: http_request_denied
            >> GET http://h/ HTTP/1.1
               Proxy-Authorization: Basic base64(bob:secret)
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            log GET http://h/ 200
                user: bob
            """)
    }

    @Test func `a host that the rules deny`() async {
        await play(
            rules: "route h { deny }",
            """
            >> GET http://h/ HTTP/1.1
            << HTTP/1.1 403 Forbidden
               Proxy-Status: *

               *
            log GET http://h/ 403
                route: h
                error: http_request_denied
            """)
    }

    @Test func `a user in the URL is not in the line`() async {
        await play(
            """
            >> GET http://u:p@nowhere.invalid/ HTTP/1.1
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *
            log GET http://nowhere.invalid/ 502
                error: dns_error
            """)
    }

    @Test func `the parent and its answer`() async {
        await play(
            rules: """
                credential c { user u; password p }
                parent corp { http proxy:8080 }
                route * { via corp }
                challenge "gate" { proxy yes; use c }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect proxy:8080
            << GET http://h/ HTTP/1.1
            >> HTTP/1.1 407 Proxy Authentication Required
               Proxy-Authenticate: Basic realm="corp"
            << GET http://h/ HTTP/1.1
               Proxy-Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            log GET http://h/ 200
                route: *
                parent: corp proxy:8080
                parent_scheme: basic
                parent_credential: c
                rule: gate
            """)
    }

    @Test func `a tunnel leaves its line when it ends, with the bytes of both sides`() async {
        await play(
            #"""
            >> CONNECT h:443 HTTP/1.1
            << connect h:443
            << HTTP/1.1 200 Connection established
            client >> "hello"
            server << "hello"
            server >> "world!"
            client << "world!"
            after 3s
            client >> close
            server << end
            server >> close
            log CONNECT h:443 200
                bytes_in: 5
                bytes_out: 6
                upstream: opened
                ms: 3000
            """#)
    }

    @Test func `a tunnel that cannot be opened`() async {
        await play(
            """
            >> CONNECT h:443 HTTP/1.1
            << connect h:443 unreachable
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *
            log CONNECT h:443 502
                error: destination_ip_unroutable
            """)
    }
}
