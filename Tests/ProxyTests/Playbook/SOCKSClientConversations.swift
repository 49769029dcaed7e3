import Testing

/// `listen … socks`: clients that speak SOCKS (RFC 1928, RFC 1929).
struct SOCKSClientConversations {
    private static let rules = "listen 127.0.0.1:3128 socks\negress { connect-ports any }\n"
    private static let users =
        "listen 127.0.0.1:3128 socks\nclients { allow 127.0.0.0/8; authenticate basic; users file FILES/users }\n"

    @Test(arguments: [
        (#""\x05\x01\x00\x03\x01h\x01\xbb""#, "h:443"),
        (#""\x05\x01\x00\x01\x0a\x00\x00\x07\x01\xbb""#, "10.0.0.7:443"),
        (#""\x05\x01\x00\x03\x0810.0.0.7\x01\xbb""#, "10.0.0.7:443"),
        (
            #""\x05\x01\x00\x04\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x05\x01\xbb""#,
            "[2001:db8::5]:443"
        ),
    ])
    func `a client of SOCKS 5 gets a tunnel, as by CONNECT`(request: String, place: String) async {
        await play(
            rules: Self.rules,
            #"""
            client >> "\x05\x01\x00"
            client << "\x05\x00"
            client >> \#(request)
            << connect \#(place.filter { !"[]".contains($0) })
            client << "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00"
            client >> "hello"
            server << "hello"
            server >> "welcome"
            client << "welcome"
            client >> close
            server << end
            server >> close
            log CONNECT \#(place) 200
                socks: 5
            """#)
    }

    @Test func `all in one piece, and what the client sends before the reply reaches the server`() async {
        await play(
            rules: Self.rules,
            #"""
            client >> "\x05\x02\x00\x01\x05\x01\x00\x03\x01h\x00\x16SSH-2.0"
            << connect h:22
            client << "\x05\x00\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00"
            server << "SSH-2.0"
            """#)
    }

    @Test func `a client of SOCKS 4 names an address, one of 4a a name`() async {
        await play(
            rules: Self.rules,
            #"""
            client >> "\x04\x01\x01\xbb\x0a\x00\x00\x07user\x00"
            << connect 10.0.0.7:443
            client << "\x00\x5a\x00\x00\x00\x00\x00\x00"
            client >> close
            server << end
            server >> close
            client 2 >> "\x04\x01\x01\xbb\x00\x00\x00\x01\x00h\x00"
            << connect h:443
            client 2 << "\x00\x5a\x00\x00\x00\x00\x00\x00"
            client 2 >> close
            server 2 << end
            server 2 >> close
            log CONNECT 10.0.0.7:443 200
                socks: 4
            log CONNECT h:443 200
                socks: 4a
            """#)
    }

    @Test func `the same port still speaks HTTP`() async {
        await play(
            rules: Self.rules,
            """
            client >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test(arguments: [
        ("route h { deny }", "02", "403"), ("egress { connect-ports 22 }", "02", "403"),
        ("route h { tunnel }", "05", "502"),
    ])
    func `what CONNECT may not reach, SOCKS may not either`(rule: String, reply: String, status: String) async {
        await play(
            rules: "listen 127.0.0.1:3128 socks\n\(rule)",
            status == "502"
                ? #"""
                client >> "\x05\x01\x00\x05\x01\x00\x03\x01h\x01\xbb"
                << connect h:443 refused
                client << "\x05\x00\x05\x05\x00\x01\x00\x00\x00\x00\x00\x00"
                client << end
                log CONNECT h:443 502
                    socks: 5
                    error: connection_refused
                    details: *
                """#
                : #"""
                client >> "\x05\x01\x00\x05\x01\x00\x03\x01h\x01\xbb"
                client << "\x05\x00\x05\x\#(reply)\x00\x01\x00\x00\x00\x00\x00\x00"
                client << end
                log CONNECT h:443 \#(status)
                    socks: 5
                    error: *
                    details: *
                """#)
    }

    @Test(arguments: [
        // BIND, UDP ASSOCIATE, an unknown type of address, a name with a line end.
        (#"\x05\x02\x00\x03\x01h\x01\xbb"#, "07"), (#"\x05\x03\x00\x03\x01h\x01\xbb"#, "07"),
        (#"\x05\x01\x00\x02\x01h\x01\xbb"#, "08"), (#"\x05\x01\x00\x03\x03h\r\n\x01\xbb"#, "01"),
        (#"\x05\x01\x00\x03\x00\x01\xbb"#, "01"), (#"\x04\x01\x00\x03\x01h\x01\xbb"#, "01"),
    ])
    func `what is no CONNECT of SOCKS 5 is refused by its code`(request: String, code: String) async {
        await play(
            rules: Self.rules,
            #"""
            client >> "\x05\x01\x00\#(request)"
            client << "\x05\x00\x05\x\#(code)\x00\x01\x00\x00\x00\x00\x00\x00"
            client << end
            """#)
    }

    @Test func `no method in common ends the connection`() async {
        await play(
            rules: Self.rules,
            #"""
            client >> "\x05\x01\x01"
            client << "\x05\xff"
            client << end
            """#)
    }

    @Test func `a silent greeting ends with the time of a head, however slowly it comes`() async {
        await play(
            rules: Self.rules + "timeouts { head 10s }",
            #"""
            client >> "\x05"
            after 6s
            client >> "\x01"
            after 3s
            client >> "\x00"
            client << "\x05\x00"
            after 2s
            client << close
            """#)
    }

    // MARK: - Logins

    @Test func `a user logs in by a password, and rules know the name`() async {
        await play(
            rules: Self.users + "route * { intercept }\ncredential a { user u; password p }\n"
                + "egress { connect-ports 80 }\nchallenge { host h; client bob; use a }",
            #"""
            file users bob:$apr1$jyZwaDFl$p13pbvN0SE2ayWpCL4gMY1
            client >> "\x05\x02\x00\x02"
            client << "\x05\x02"
            client >> "\x01\x03bob\x06secret"
            client << "\x01\x00"
            client >> "\x05\x01\x00\x03\x01h\x00\x50"
            client << "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00"
            client >> GET / HTTP/1.1
               Host: h
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            """#)
    }

    @Test func `a wrong password is refused, and counted as one of HTTP is`() async {
        await play(
            rules: Self.users,
            #"""
            file users bob:$apr1$jyZwaDFl$p13pbvN0SE2ayWpCL4gMY1
            client >> "\x05\x01\x02"
            client << "\x05\x02"
            client >> "\x01\x03bob\x05wrong"
            client << "\x01\x01"
            client << end
            metric attache_client_logins_total{result="refused",method="basic"} 1
            """#)
    }

    @Test(arguments: [#"\x05\x01\x00"#, #"\x05\x02\x00\x01"#])
    func `a client that offers no password does not get in`(greeting: String) async {
        await play(
            rules: Self.users,
            #"""
            file users bob:$apr1$jyZwaDFl$p13pbvN0SE2ayWpCL4gMY1
            client >> "\#(greeting)"
            client << "\x05\xff"
            client << end
            client 2 >> "\x04\x01\x01\xbb\x0a\x00\x00\x07bob\x00"
            client 2 << "\x00\x5b\x00\x00\x00\x00\x00\x00"
            client 2 << end
            """#)
    }

    @Test func `where clients log in by tokens alone, SOCKS has no method`() async {
        await play(
            rules: "listen 127.0.0.1:3128 socks\n"
                + "clients { allow 127.0.0.0/8; authenticate bearer; tokens file FILES/tokens }",
            #"""
            file tokens bob:2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b
            client >> "\x05\x02\x00\x02"
            client << "\x05\xff"
            client << end
            """#)
    }

    @Test func `a client that its listener names needs no password, and may offer one`() async {
        await play(
            rules: "listen 127.0.0.1:3128 socks as batch\n"
                + "clients { allow 127.0.0.0/8; authenticate basic; users file FILES/users }",
            #"""
            file users bob:$apr1$jyZwaDFl$p13pbvN0SE2ayWpCL4gMY1
            client >> "\x05\x01\x02"
            client << "\x05\x02"
            client >> "\x01\x03eve\x03any"
            client << "\x01\x00"
            client >> "\x05\x01\x00\x03\x01h\x01\xbb"
            << connect h:443
            client << "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00"
            client >> close
            server << end
            server >> close
            log CONNECT h:443 200
                socks: 5
                user: batch
            client 2 >> GET http://i/ HTTP/1.1
            << connect i:80
            << GET / HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            log GET http://i/ 200
                user: batch
            """#)
    }
}
