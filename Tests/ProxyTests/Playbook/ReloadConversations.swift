import Testing

/// Rules that change while requests are under way.
struct ReloadConversations {
    @Test func `a request keeps to the rules that it began with, between two legs too`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            client >> GET http://h/ HTTP/1.1
            << connect h:80
            server << GET / HTTP/1.1
            reload
               egress { deny any }
            server >> HTTP/1.1 401 Unauthorized
                      WWW-Authenticate: Basic realm="x"
            server << GET / HTTP/1.1
                      Authorization: Basic base64(u:p)
            server >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            server << close
            client >> GET http://h/ HTTP/1.1
            client << HTTP/1.1 403 Forbidden
                      Proxy-Status: *

                      *
            """)
    }

    @Test func `connections that rest are closed when the rules change`() async {
        await play(
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            reload
            server << close
            >> GET http://h/ HTTP/1.1
            << connect h:80
            server 2 << GET / HTTP/1.1
            server 2 >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a credential that new rules take away is sent no more`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            accepted GET http://h/
            reload
            server << close
            >> GET http://h/ HTTP/1.1
            << connect h:80
            server 2 << GET / HTTP/1.1
            server 2 >> HTTP/1.1 401 Unauthorized
                        WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: attache; details="no rule is for h:80"
            """)
    }

    @Test func `a password that new rules state anew is tried, though the one before is parked`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            answered GET http://h/
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: *
            reload
               credential a { user u; password new }
               challenge { host h; use a }
            server << close
            >> GET http://h/ HTTP/1.1
            << connect h:80
            server 2 << GET / HTTP/1.1
            server 2 >> HTTP/1.1 401 Unauthorized
                        WWW-Authenticate: Basic realm="x"
            server 2 << GET / HTTP/1.1
                        Authorization: Basic base64(u:new)
            server 2 >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a tunnel outlives the rules that allowed it`() async {
        await play(
            """
            >> CONNECT h:443 HTTP/1.1
            << connect h:443
            << HTTP/1.1 200 Connection established
            reload
               egress { deny any }
            client >> "x"
            server << "x"
            """)
    }

    @Test func `a request that waited behind another follows the rules of its own time`() async {
        await play(
            """
            client >> GET http://h/held HTTP/1.1
            and client >> GET http://h/behind HTTP/1.1
            << connect h:80
            server << GET /held HTTP/1.1
            reload
               egress { deny any }
            server >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            server << close
            client << HTTP/1.1 403 Forbidden
                      Proxy-Status: *

                      *
            """)
    }
}
