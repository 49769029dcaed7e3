import Testing

/// Parents between the proxy and the origin: their challenges, and others in their place.
struct ParentConversations {
    @Test func `a parent's challenge is answered before the origin is heard`() async {
        await play(
            rules: """
                credential c { user u; password p }
                parent corp { http proxy:8080 }
                route * { via corp }
                challenge { proxy yes; use c }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect proxy:8080
            << GET http://h/ HTTP/1.1
               Host: h
            >> HTTP/1.1 407 Proxy Authentication Required
               Proxy-Authenticate: Basic realm="corp"
            << GET http://h/ HTTP/1.1
               Proxy-Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            # known from now on
            >> GET http://i/ HTTP/1.1
            << GET http://i/ HTTP/1.1
               Proxy-Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `parent and origin are answered with their own credentials, the parent first`() async {
        await play(
            rules: """
                credential c { user u; password p }
                credential o { user v; password q }
                parent corp { http proxy:8080 }
                route * { via corp }
                challenge { proxy yes; use c }
                challenge { host h; proxy no; use o }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect proxy:8080
            << GET http://h/ HTTP/1.1
            >> HTTP/1.1 407 Proxy Authentication Required
               Proxy-Authenticate: Basic realm="corp"
            << GET http://h/ HTTP/1.1
               Proxy-Authorization: Basic base64(u:p)
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            # the parent's password was never accepted: does the 401 refuse it?
            << connect proxy:8080
            server 2 << CONNECT h:80 HTTP/1.1
            server 2 >> HTTP/1.1 407 Proxy Authentication Required
               Proxy-Authenticate: Basic realm="corp"
            server 2 << CONNECT h:80 HTTP/1.1
               Proxy-Authorization: Basic base64(u:p)
            server 2 >> HTTP/1.1 200 OK
            server 2 << close
            server 1 << GET http://h/ HTTP/1.1
               Proxy-Authorization: Basic base64(u:p)
               Authorization: Basic base64(v:q)
            server 1 >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a parent's challenge that is not answered is a 502, and no 407`() async {
        await play(
            rules: """
                parent corp { http proxy:8080 }
                route * { via corp }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect proxy:8080
            << GET http://h/ HTTP/1.1
            >> HTTP/1.1 407 Proxy Authentication Required
               Proxy-Authenticate: Basic realm="corp"
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *
            server << close
            """)
    }

    @Test func `a rule for origins does not answer a parent`() async {
        await play(
            rules: """
                credential o { user v; password q }
                parent corp { http proxy:8080 }
                route * { via corp }
                challenge { proxy no; use o }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect proxy:8080
            << GET http://h/ HTTP/1.1
            >> HTTP/1.1 407 Proxy Authentication Required
               Proxy-Authenticate: Basic realm="corp"
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *
            server << close
            """)
    }

    @Test func `a tunnel through a parent answers the parent, and nobody else`() async {
        await play(
            rules: """
                credential c { user u; password p }
                parent corp { http proxy:8080 }
                route * { via corp }
                challenge { proxy yes; use c }
                """,
            #"""
            >> CONNECT h:443 HTTP/1.1
            << connect proxy:8080
            << CONNECT h:443 HTTP/1.1
               Host: h:443
            >> HTTP/1.1 407 Proxy Authentication Required
               Proxy-Authenticate: Basic realm="corp"
            << CONNECT h:443 HTTP/1.1
               Proxy-Authorization: Basic base64(u:p)
            server >> "HTTP/1.1 200 OK\r\n\r\n"
            << HTTP/1.1 200 Connection established
            client >> "hello"
            server << "hello"
            server >> "world"
            client << "world"
            """#)
    }

    @Test func `the second parent is tried where the first refuses connections`() async {
        await play(
            rules: """
                parent corp { http one:8080 two:8080 }
                route * { via corp }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect one:8080 refused
            << connect two:8080
            server 2 << GET http://h/ HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            # and the first is looked after
            after 10s
            << connect one:8080
            server 3 << close
            """)
    }

    @Test func `a host in except is asked directly`() async {
        await play(
            rules: """
                parent corp { http proxy:8080; except h }
                route * { via corp }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a large body does not meet a parent's challenge twice`() async {
        await play(
            rules: """
                credential c { user u; password p }
                parent corp { http proxy:8080 }
                route * { via corp }
                challenge { proxy yes; use c }
                """,
            """
            >> POST http://h/ HTTP/1.1
               Content-Length: 100000
            << connect proxy:8080
            << POST http://h/ HTTP/1.1
               Expect: 100-continue
            client >> 50000 bytes
            >> HTTP/1.1 407 Proxy Authentication Required
               Proxy-Authenticate: Basic realm="corp"
            server << close
            << connect proxy:8080
            server 2 << POST http://h/ HTTP/1.1
               Expect: 100-continue
               Proxy-Authorization: Basic base64(u:p)
            server 2 >> HTTP/1.1 100 Continue
            server 2 << 50000 bytes
            client >> 50000 bytes
            server 2 << 50000 bytes
            server 2 >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `where no parent works the client learns of the last`() async {
        await play(
            rules: """
                parent one { http one:8080 }
                parent two { http two:8080 }
                route * { via one two }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect one:8080 refused
            << connect two:8080 refused
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *error=connection_refused*

               *the parent two (two:8080) cannot be used*
            """)
    }

    @Test func `a route may end directly`() async {
        await play(
            rules: """
                parent one { http one:8080 }
                route * { via one direct }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect one:8080 refused
            << connect h:80
            server 2 << GET / HTTP/1.1
            server 2 >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a request that may have acted is not sent to another parent`() async {
        await play(
            rules: """
                parent corp { http one:8080 two:8080 }
                route * { via corp }
                """,
            """
            >> POST http://h/ HTTP/1.1

               x
            << connect one:8080
            << POST http://h/ HTTP/1.1

               x
            server >> close
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *the parent corp (one:8080) closed the connection*
            """)
    }

    @Test func `a password that two parents refused is sent to no third`() async {
        await play(
            rules: """
                credential c { user u; password p }
                parent corp { http one:8080 two:8080 three:8080 }
                route * { via corp }
                challenge { proxy yes; use c }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect one:8080
            << GET http://h/ HTTP/1.1
            >> HTTP/1.1 407 Proxy Authentication Required
               Proxy-Authenticate: Basic realm="p"
            << GET http://h/ HTTP/1.1
               Proxy-Authorization: Basic base64(u:p)
            >> HTTP/1.1 407 Proxy Authentication Required
               Proxy-Authenticate: Basic realm="p"
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *
            server << close
            report credential c was refused *
            >> GET http://h/ HTTP/1.1
            << connect one:8080 refused
            << connect two:8080
            server 3 << GET http://h/ HTTP/1.1
            server 3 >> HTTP/1.1 407 Proxy Authentication Required
                        Proxy-Authenticate: Basic realm="p"
            server 3 << GET http://h/ HTTP/1.1
                        Proxy-Authorization: Basic base64(u:p)
            server 3 >> HTTP/1.1 407 Proxy Authentication Required
                        Proxy-Authenticate: Basic realm="p"
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *was refused*

               *
            report credential c was refused by two:8080 and is on hold for 30 minutes*
            server 3 << close
            >> GET http://h/ HTTP/1.1
            << connect two:8080 refused
            << connect three:8080
            server 5 << GET http://h/ HTTP/1.1
            server 5 >> HTTP/1.1 407 Proxy Authentication Required
                        Proxy-Authenticate: Basic realm="p"
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *on hold*

               *
            server 5 << close
            """)
    }
}
