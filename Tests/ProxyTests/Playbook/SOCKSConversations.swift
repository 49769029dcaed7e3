import Testing

/// Parents that speak SOCKS (RFC 1928, RFC 1929).
struct SOCKSConversations {
    private static let rules = """
        credential c { user u; password p }
        parent corp { socks5 proxy:1080 }
        route * { via corp }
        challenge "gate" { proxy yes; protocol socks; use c }
        """

    @Test func `a user and a password open the way, and the origin is asked as directly`() async {
        await play(
            rules: Self.rules,
            #"""
            >> GET http://h/ HTTP/1.1
            << connect proxy:1080
            server << "\x05\x02\x00\x02"
            server >> "\x05\x02"
            server << "\x01\x01u\x01p"
            server >> "\x01\x00"
            server << "\x05\x01\x00\x03\x01h\x00\x50"
            server >> "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00"
            server << GET / HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            log GET http://h/ 200
                parent: corp proxy:1080
                parent_scheme: basic
                parent_credential: c
                rule: gate
            # the connection is the origin's
            >> GET http://h/ HTTP/1.1
            << GET / HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            log GET http://h/ 200
                parent: corp proxy:1080
                upstream: reused
            """#)
    }

    @Test func `a server that wants no password gets none`() async {
        await play(
            rules: Self.rules,
            #"""
            >> CONNECT h:443 HTTP/1.1
            << connect proxy:1080
            server << "\x05\x02\x00\x02"
            server >> "\x05\x00"
            server << "\x05\x01\x00\x03\x01h\x01\xbb"
            server >> "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00early"
            << HTTP/1.1 200 Connection established
            client << "early"
            client >> "hello"
            server << "hello"
            """#)
    }

    @Test func `a password that is refused is not sent again`() async {
        await play(
            rules: Self.rules,
            #"""
            >> GET http://h/ HTTP/1.1
            << connect proxy:1080
            server << "\x05\x02\x00\x02"
            server >> "\x05\x02"
            server << "\x01\x01u\x01p"
            server >> "\x01\x01"
            server << close
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *refused*
            report credential c was refused by proxy:1080 and is on hold for 30 minutes: *
            log GET http://h/ 502
                parent: corp proxy:1080
                parent_scheme: basic
                parent_credential: c
                rule: gate
                error: http_request_denied
            >> GET http://h/ HTTP/1.1
            << connect proxy:1080
            server 2 << "\x05\x01\x00"
            server 2 >> "\x05\xff"
            server 2 << close
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *on hold*
            log GET http://h/ 502
                parent: corp proxy:1080
                rule: gate
                error: http_request_denied
            """#)
    }

    @Test func `a server that closes before its verdict has refused nothing`() async {
        await play(
            rules: Self.rules,
            #"""
            >> GET http://h/ HTTP/1.1
            << connect proxy:1080
            server << "\x05\x02\x00\x02"
            server >> "\x05\x02"
            server << "\x01\x01u\x01p"
            server >> close
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *
            >> GET http://h/ HTTP/1.1
            << connect proxy:1080
            server 2 << "\x05\x02\x00\x02"
            """#)
    }

    @Test func `where one closes in between the next one is asked`() async {
        await play(
            rules: """
                credential c { user u; password p }
                parent corp { socks5 one:1080 two:1080 }
                route * { via corp }
                challenge "gate" { proxy yes; protocol socks; use c }
                """,
            #"""
            >> GET http://h/ HTTP/1.1
            << connect one:1080
            server << "\x05\x02\x00\x02"
            server >> close
            << connect two:1080
            server 2 << "\x05\x02\x00\x02"
            """#)
    }

    @Test func `a host that the server cannot reach is the server's word`() async {
        await play(
            rules: "parent corp { socks5 proxy:1080 }\nroute * { via corp }",
            #"""
            >> GET http://h/ HTTP/1.1
            << connect proxy:1080
            server << "\x05\x01\x00"
            server >> "\x05\x00"
            server << "\x05\x01\x00\x03\x01h\x00\x50"
            server >> "\x05\x04"
            server << close
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *
            """#)
    }

    @Test func `a server that says nothing has the time of a response`() async {
        await play(
            rules: "parent corp { socks5 proxy:1080 }\nroute * { via corp }\ntimeouts { response 30s }",
            #"""
            >> GET http://h/ HTTP/1.1
            << connect proxy:1080
            server << "\x05\x01\x00"
            after 29s
            after 1s
            server << close
            << HTTP/1.1 504 Gateway Timeout
               Proxy-Status: *

               *
            """#)
    }

    @Test func `SOCKS 4a knows no password, and its server looks names up`() async {
        await play(
            rules: "parent corp { socks4a proxy:1080 }\nroute * { via corp }",
            #"""
            >> GET http://h/ HTTP/1.1
            << connect proxy:1080
            server << "\x04\x01\x00\x50\x00\x00\x00\x01\x00h\x00"
            server >> "\x00\x5a\x00\x00\x00\x00\x00\x00"
            server << GET / HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """#)
    }

    @Test func `that no password was asked for says nothing about the password`() async {
        await play(
            rules: Self.rules,
            #"""
            >> CONNECT h:443 HTTP/1.1
            << connect proxy:1080
            server << "\x05\x02\x00\x02"
            server >> "\x05\x00"
            server << "\x05\x01\x00\x03\x01h\x01\xbb"
            server >> "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00"
            << HTTP/1.1 200 Connection established
            # now it asks, and of two requests one shows the password
            client 2 >> CONNECT h:443 HTTP/1.1
            << connect proxy:1080
            server 2 << "\x05\x02\x00\x02"
            client 3 >> CONNECT h:443 HTTP/1.1
            server 2 >> "\x05\x02"
            server 2 << "\x01\x01u\x01p"
            server 2 >> "\x01\x01"
            server 2 << close
            client 2 << HTTP/1.1 502 Bad Gateway
                        Proxy-Status: *

                        *refused*
            report credential c was refused *
            << connect proxy:1080
            server 3 << "\x05\x01\x00"
            server 3 >> "\x05\xff"
            server 3 << close
            client 3 << HTTP/1.1 502 Bad Gateway
                        Proxy-Status: *

                        *on hold*
            """#)
    }

    // MARK: - Probes

    /// The password is accepted, and then refused once.
    private static let doubted = #"""
        >> CONNECT h:443 HTTP/1.1
        << connect proxy:1080
        server << "\x05\x02\x00\x02"
        server >> "\x05\x02"
        server << "\x01\x01u\x01p"
        server >> "\x01\x00"
        server << "\x05\x01\x00\x03\x01h\x01\xbb"
        server >> "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00"
        << HTTP/1.1 200 Connection established
        client 2 >> CONNECT h:443 HTTP/1.1
        << connect proxy:1080
        server 2 << "\x05\x02\x00\x02"
        server 2 >> "\x05\x02"
        server 2 << "\x01\x01u\x01p"
        server 2 >> "\x01\x01"
        server 2 << close
        client 2 << HTTP/1.1 502 Bad Gateway
                    Proxy-Status: *

                    *refused*

        """#

    @Test func `a password that was refused once is asked about by a login alone, and is good again`() async {
        await play(
            rules: Self.rules,
            Self.doubted + #"""
                client 3 >> CONNECT h:443 HTTP/1.1
                << connect proxy:1080
                server 3 << "\x05\x02\x00\x02"
                server 3 >> "\x05\x02"
                server 3 << "\x01\x01u\x01p"
                server 3 >> "\x01\x00"
                server 3 << close
                << connect proxy:1080
                server 4 << "\x05\x02\x00\x02"
                server 4 >> "\x05\x02"
                server 4 << "\x01\x01u\x01p"
                server 4 >> "\x01\x00"
                server 4 << "\x05\x01\x00\x03\x01h\x01\xbb"
                server 4 >> "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00"
                client 3 << HTTP/1.1 200 Connection established
                """#)
    }

    @Test func `a password that is refused when the proxy asks is tried again by the proxy, 30 seconds later`() async {
        await play(
            rules: Self.rules,
            Self.doubted + #"""
                client 3 >> CONNECT h:443 HTTP/1.1
                << connect proxy:1080
                server 3 << "\x05\x02\x00\x02"
                server 3 >> "\x05\x02"
                server 3 << "\x01\x01u\x01p"
                server 3 >> "\x01\x01"
                server 3 << close
                report credential c was refused by proxy:1080, which accepted it before, and is on hold. The next try is in 30 seconds*
                << connect proxy:1080
                server 4 << "\x05\x01\x00"
                server 4 >> "\x05\xff"
                server 4 << close
                client 3 << HTTP/1.1 502 Bad Gateway
                            Proxy-Status: *

                            *on hold*
                after 30s
                << connect proxy:1080
                server 5 << "\x05\x02\x00\x02"
                server 5 >> "\x05\x02"
                server 5 << "\x01\x01u\x01p"
                server 5 >> "\x01\x00"
                server 5 << close
                """#)
    }

    // MARK: - Refusals

    private static let two = """
        credential a { user u; password p }
        credential b { user v; password q }
        parent corp { socks5 proxy:1080 }
        route * { via corp }

        """

    /// The server refuses the first password, and takes the second.
    private static let secondIsTaken = #"""
        >> GET http://h/ HTTP/1.1
        << connect proxy:1080
        server << "\x05\x02\x00\x02"
        server >> "\x05\x02"
        server << "\x01\x01u\x01p"
        server >> "\x01\x01"
        server << close
        report credential a was refused by proxy:1080*
        << connect proxy:1080
        server 2 << "\x05\x02\x00\x02"
        server 2 >> "\x05\x02"
        server 2 << "\x01\x01v\x01q"
        server 2 >> "\x01\x00"
        server 2 << "\x05\x01\x00\x03\x01h\x00\x50"
        server 2 >> "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00"
        server 2 << GET / HTTP/1.1
        >> HTTP/1.1 200 OK
        << HTTP/1.1 200 OK

        """#

    @Test func `behind a password that is refused the rule's next one is shown, within the same request`() async {
        await play(
            rules: Self.two + #"challenge "gate" { proxy yes; protocol socks; use a b }"#,
            Self.secondIsTaken + #"""
                log GET http://h/ 200
                    parent_scheme: basic
                    parent_credential: b
                    rule: gate
                journal username/password proxy:1080 answered
                    rule: "gate" (proxy.conf:*)
                    disposition: use a b
                    credential: b
                    failures: 1
                    count: 1
                """#)
    }

    @Test func `a rule about refusals answers the next time, within the same request`() async {
        await play(
            rules: Self.two + """
                challenge "second" { proxy yes; failures 1; use b }
                challenge "first" { proxy yes; use a }
                """,
            Self.secondIsTaken + #"""
                journal username/password proxy:1080 answered
                    rule: "second" (proxy.conf:*)
                    disposition: use b
                    credential: b
                    failures: 1
                """#)
    }

    @Test func `a server whose password no rule has is noted as a parent's challenge, with the lines to write`() async {
        await play(
            rules: "parent corp { socks5 proxy:1080 }\nroute * { via corp }",
            #"""
            >> GET http://h/ HTTP/1.1
            << connect proxy:1080
            server << "\x05\x01\x00"
            server >> "\x05\xff"
            server << close
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *challenge "proxy" { proxy yes; host proxy; port 1080; use parent }*
            report a challenge of proxy:1080 (username/password) got no answer: no rule is for proxy:1080; to answer it, add: credential parent { user NAME; password file /path/to/password } challenge "proxy" { proxy yes; host proxy; port 1080; use parent }*
            journal username/password proxy:1080 cancelled
                disposition: default
                failures: 0
                reason: no rule is for proxy:1080
            """#)
    }

    @Test func `a password that is refused at last is noted with its reason`() async {
        await play(
            rules: Self.rules,
            #"""
            >> GET http://h/ HTTP/1.1
            << connect proxy:1080
            server << "\x05\x02\x00\x02"
            server >> "\x05\x02"
            server << "\x01\x01u\x01p"
            server >> "\x01\x01"
            server << close
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *refused*
            report credential c was refused *
            report a challenge of proxy:1080 (username/password) got no answer: *
            journal username/password proxy:1080 cancelled
                rule: "gate" (proxy.conf:*)
                disposition: use c
                credential: c
                failures: 1
            """#)
    }

    @Test func `a login that an operator rejects is told as that`() async {
        await play(
            rules: """
                parent corp { socks5 proxy:1080 }
                route * { via corp }
                challenge "people" { proxy yes; ask }
                """,
            #"""
            >> GET http://h/ HTTP/1.1
            report question 1: *
            answer 1 reject
            << connect proxy:1080
            server << "\x05\x01\x00"
            server >> "\x05\xff"
            server << close
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *rule "people" asks the operator, who rejected the challenge*
            report a challenge of proxy:1080 (username/password) got no answer: rule "people" asks the operator, who rejected the challenge
            journal username/password proxy:1080 cancelled
                rule: "people" (proxy.conf:*)
                reason: rule "people" asks the operator, who rejected the challenge
            """#)
    }

    @Test func `a server that takes none of the ways to log in has refused no password`() async {
        await play(
            rules: Self.rules,
            #"""
            >> GET http://h/ HTTP/1.1
            << connect proxy:1080
            server << "\x05\x02\x00\x02"
            server >> "\x05\xff"
            server << close
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *takes neither*
            report a challenge of proxy:1080 (username/password) got no answer: *takes neither*
            >> GET http://h/ HTTP/1.1
            << connect proxy:1080
            server 2 << "\x05\x02\x00\x02"
            """#)
    }

    @Test func `a password that RFC 1929 has no room for is not sent cut off`() async {
        let long = String(repeating: "x", count: 256)
        await play(
            rules: """
                credential c { user u; password \(long) }
                parent corp { socks5 proxy:1080 }
                route * { via corp }
                challenge "gate" { proxy yes; use c }
                """,
            #"""
            >> GET http://h/ HTTP/1.1
            << connect proxy:1080
            server << "\x05\x01\x00"
            server >> "\x05\xff"
            server << close
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *credential c is too long*
            report a challenge of proxy:1080 (username/password) got no answer: *
            """#)
    }
}
