import Testing

/// The limits of the requests of one client.
struct ClientLimitConversations {
    private static let users = """
        file users bob:$apr1$jyZwaDFl$p13pbvN0SE2ayWpCL4gMY1\\neve:$apr1$jyZwaDFl$p13pbvN0SE2ayWpCL4gMY1
        """
    private static let login = "clients { allow 127.0.0.0/8; authenticate basic; users file FILES/users }"

    private static let served = """
        << GET / HTTP/1.1
        >> HTTP/1.1 200 OK
        << HTTP/1.1 200 OK
        """

    @Test func `beyond the rate a request is a 429 that says when to come again, and no server is asked`() async {
        await play(
            rules: "limits { requests-per-client 1/m burst 2 }",
            """
            client >> GET http://h/ HTTP/1.1
            << connect h:80
            \(Self.served)
            client >> GET http://h/ HTTP/1.1
            \(Self.served)
            client >> GET http://h/ HTTP/1.1
            << HTTP/1.1 429 Too Many Requests
               Retry-After: 60
               Proxy-Status: *error=http_request_denied*requests-per-client 1/m burst 2*

               *
            metric attache_requests_limited_total{reason="rate"} 1
            metric attache_requests_limited_total{reason="concurrent"} 0
            report *127.0.0.1 has reached the limit 'requests-per-client 1/m burst 2'*
            after 30s
            server << close
            client >> POST http://h/ HTTP/1.1
               Content-Length: 4

               body
            << HTTP/1.1 429 Too Many Requests
               Retry-After: 30
               Proxy-Status: *

               *
            after 30s
            client >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            server 2 >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            log GET http://h/ 200
            log GET http://h/ 200
            log GET http://h/ 429
                error: http_request_denied
                details: *has reached the limit 'requests-per-client 1/m burst 2'*
            log POST http://h/ 429
                error: http_request_denied
                details: *
            log GET http://h/ 200
            """)
    }

    @Test func `a second connection is the same client`() async {
        await play(
            rules: "limits { requests-per-client 1/s }",
            """
            client >> GET http://h/ HTTP/1.1
            << connect h:80
            \(Self.served)
            client 2 >> GET http://h/ HTTP/1.1
            << HTTP/1.1 429 Too Many Requests
               Retry-After: 1
               Proxy-Status: *

               *
            """)
    }

    @Test func `each user has a rate, and a login that is refused takes nothing from it`() async {
        await play(
            rules: "\(Self.login)\nlimits { requests-per-client 1/h }",
            """
            \(Self.users)
            client >> GET http://h/ HTTP/1.1
               Proxy-Authorization: Basic base64(bob:wrong)
            << HTTP/1.1 407 Proxy Authentication Required
               Proxy-Authenticate: *
               Proxy-Status: *

               *
            client >> GET http://h/ HTTP/1.1
               Proxy-Authorization: Basic base64(bob:secret)
            << connect h:80
            \(Self.served)
            client >> GET http://h/ HTTP/1.1
               Proxy-Authorization: Basic base64(bob:secret)
            << HTTP/1.1 429 Too Many Requests
               Retry-After: 3600
               Proxy-Status: *

               *
            report *user bob has reached the limit*
            client >> GET http://h/ HTTP/1.1
               Proxy-Authorization: Basic base64(eve:secret)
            \(Self.served)
            """)
    }

    @Test func `requests in progress are counted over all connections, and each end makes room`() async {
        await play(
            rules: "limits { concurrent-requests-per-client 1 }",
            """
            client >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            client 2 >> GET http://h/ HTTP/1.1
            << HTTP/1.1 429 Too Many Requests
               Retry-After: 1
               Proxy-Status: *concurrent-requests-per-client 1*

               *
            metric attache_requests_limited_total{reason="concurrent"} 1
            server >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            client 2 >> GET http://h/ HTTP/1.1
            \(Self.served)
            """)
    }

    @Test func `a client that leaves gives its place back`() async {
        await play(
            rules: "limits { concurrent-requests-per-client 1 }",
            """
            client >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            client >> close
            server << close
            client 2 >> GET http://h/ HTTP/1.1
            << connect h:80
            \(Self.served)
            """)
    }

    @Test func `a failed request gives its place back`() async {
        await play(
            rules: "limits { concurrent-requests-per-client 1 }",
            """
            client >> GET http://h/ HTTP/1.1
            << connect h:80 refused
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *
            client >> GET http://i/ HTTP/1.1
            << connect i:80
            \(Self.served)
            """)
    }

    @Test func `a tunnel is in progress until it ends`() async {
        await play(
            rules: "limits { concurrent-requests-per-client 1 }",
            """
            client >> CONNECT h:443 HTTP/1.1
            << connect h:443
            << HTTP/1.1 200 Connection established
            client >> "hello"
            server << "hello"
            client 2 >> GET http://h/ HTTP/1.1
            << HTTP/1.1 429 Too Many Requests
               Retry-After: 1
               Proxy-Status: *

               *
            client >> close
            server << end
            server >> close
            client 2 >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            server 2 >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `in an intercepted tunnel each request counts, and the tunnel does not`() async {
        await play(
            rules: """
                route * { intercept }
                limits { requests-per-client 2/h; concurrent-requests-per-client 1 }
                """,
            """
            client >> CONNECT h:80 HTTP/1.1
            << HTTP/1.1 200 Connection established
            client >> GET / HTTP/1.1
               Host: h
            << connect h:80
            \(Self.served)
            client >> GET / HTTP/1.1
               Host: h
            << HTTP/1.1 429 Too Many Requests
               Retry-After: 1800
               Proxy-Status: *

               *
            """)
    }

    @Test func `a reload without limits forgets no request in progress`() async {
        await play(
            rules: "limits { concurrent-requests-per-client 1 }",
            """
            client >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            reload
            client 2 >> GET http://i/ HTTP/1.1
            << connect i:80
            << GET / HTTP/1.1
            server 2 >> HTTP/1.1 200 OK
            client 2 << HTTP/1.1 200 OK
            reload limits { concurrent-requests-per-client 1 }
            server 2 << close
            client 2 >> GET http://h/ HTTP/1.1
            << HTTP/1.1 429 Too Many Requests
               Retry-After: 1
               Proxy-Status: *

               *
            server >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            server << close
            """)
    }
}
