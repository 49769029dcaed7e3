import Testing

/// Challenges that a rule says `ask` about: a request is held until an operator answers.
struct AskConversations {
    private static let rules = """
        credential a { user u; password p }
        challenge "people" { host h; ask }
        """
    private static let challenged = """
        challenged GET http://h/
        report question *: h:80 asks for a login (basic) for realm "x", and rule "people" (proxy.conf:*) asks: *
        """

    @Test func `an operator names a credential, and later requests need no operator`() async {
        await play(
            rules: Self.rules,
            """
            \(Self.challenged)
            after 20s
            metric attache_questions_open 1
            metric attache_questions_total 1
            journal basic h:80 waiting
                rule: "people" (proxy.conf:*)
                reason: question 1 waits for an operator: 'attache ask answer 1 user NAME'
            answer 1 use a
            metric attache_questions_open 0
            metric attache_questions_answered_total{disposition="use"} 1
            metric attache_questions_unanswered_total{reason="timeout"} 0
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://h/2 HTTP/1.1
            << GET /2 HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `an operator gives a user and a password, for one request`() async {
        await play(
            rules: Self.rules,
            """
            \(Self.challenged)
            answer 1 user v q none
            << GET / HTTP/1.1
               Authorization: Basic base64(v:q)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://h/ HTTP/1.1
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            report question 2: *
            answer 2 cancel none
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *rule \\"people\\" (proxy.conf:*) asks the operator, who refused"

               *
            server << close
            """)
    }

    @Test func `a password for the session goes with the client's later requests`() async {
        await play(
            rules: Self.rules,
            """
            \(Self.challenged)
            answer 1 user v q
            << GET / HTTP/1.1
               Authorization: Basic base64(v:q)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://h/2 HTTP/1.1
            << GET /2 HTTP/1.1
               Authorization: Basic base64(v:q)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `nobody answers in time`() async {
        await play(
            rules: Self.rules,
            """
            \(Self.challenged)
            after 59s
            after 1s
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *asks the operator, who did not answer within 60 s"

               *
            server << close
            metric attache_questions_unanswered_total{reason="timeout"} 1
            """)
    }

    @Test func `a refused password is asked for again, three times at most`() async {
        let again = """
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            report credential * was refused by h:80*
            """
        await play(
            rules: Self.rules,
            """
            \(Self.challenged)
            answer 1 user v 1
            << GET / HTTP/1.1
               Authorization: Basic base64(v:1)
            \(again)
            report question 2: *user v'
            answer 2 user v 2
            << GET / HTTP/1.1
               Authorization: Basic base64(v:2)
            \(again)
            report question 3: *
            answer 3 user v 3
            << GET / HTTP/1.1
               Authorization: Basic base64(v:3)
            \(again)
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: attache; details="credential ask:v was refused by the origin"
            """)
    }

    @Test func `requests to one space wait with one question, and one tells the password first`() async {
        await play(
            rules: Self.rules,
            """
            \(Self.challenged)
            client 2 >> GET http://h/2 HTTP/1.1
            after 1s
            << connect h:80
            server 2 << GET /2 HTTP/1.1
            server 2 >> HTTP/1.1 401 Unauthorized
                        WWW-Authenticate: Basic realm="x"
            report nothing
            answer 1 user v q
            server << GET / HTTP/1.1
                      Authorization: Basic base64(v:q)
            server >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            server 2 << GET /2 HTTP/1.1
                        Authorization: Basic base64(v:q)
            server 2 >> HTTP/1.1 200 OK
            client 2 << HTTP/1.1 200 OK
            """)
    }

    @Test func `the question ends with the client that leaves`() async {
        await play(
            rules: Self.rules,
            """
            \(Self.challenged)
            client >> reset
            server << close
            metric attache_questions_unanswered_total{reason="abandoned"} 1
            metric attache_questions_unanswered_total{reason="timeout"} 0
            client 2 >> GET http://h/ HTTP/1.1
            << connect h:80
            server 2 << GET / HTTP/1.1
            server 2 >> HTTP/1.1 401 Unauthorized
                        WWW-Authenticate: Basic realm="x"
            report question 2: *
            answer 2 reject none
            client 2 << HTTP/1.1 401 Unauthorized
                        WWW-Authenticate: Basic realm="x"
                        Proxy-Status: *
            """)
    }

    @Test func `the credential in a URL answers without an operator`() async {
        await play(
            rules: Self.rules,
            """
            >> GET http://v:q@h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << GET / HTTP/1.1
               Authorization: Basic base64(v:q)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            report nothing
            """)
    }

    @Test func `one question too many cancels the oldest`() async {
        await play(
            rules: """
                limits { questions 1 }
                challenge "people" { host h i; ask }
                """,
            """
            \(Self.challenged)
            client 2 >> GET http://i/ HTTP/1.1
            << connect i:80
            server 2 << GET / HTTP/1.1
            server 2 >> HTTP/1.1 401 Unauthorized
                        WWW-Authenticate: Basic realm="x"
            report question 2: i:80 *
            client << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *asks the operator, but too many challenges wait"

               *
            server << close
            answer 2 cancel
            client 2 << HTTP/1.1 502 Bad Gateway
                        Proxy-Status: *

                        *
            server 2 << close
            """)
    }

    @Test func `an operator gives the password of a parent, for a tunnel`() async {
        await play(
            rules: """
                parent p { http p:8080 }
                route * { via p }
                challenge "people" { host p; proxy yes; ask }
                """,
            """
            >> CONNECT h:443 HTTP/1.1
            << connect p:8080
            server << CONNECT h:443 HTTP/1.1
            server >> HTTP/1.1 407 Proxy Authentication Required
                      Proxy-Authenticate: Basic realm="corp"
            report question 1: the proxy p:8080 asks for a login (basic) for realm "corp", and rule "people" *
            answer 1 user v q
            server << CONNECT h:443 HTTP/1.1
                      Proxy-Authorization: Basic base64(v:q)
            server >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 Connection established
            """)
    }

    @Test func `an operator gives the password of a SOCKS server`() async {
        await play(
            rules: """
                parent p { socks5 p:1080 }
                route * { via p }
                challenge "people" { host p; proxy yes; ask }
                """,
            #"""
            >> GET http://h/ HTTP/1.1
            report question 1: the proxy p:1080 asks for a login (basic), and rule "people" (proxy.conf:*
            answer 1 user v q
            << connect p:1080
            server << "\x05\x02\x00\x02"
            server >> "\x05\x02"
            server << "\x01\x01v\x01q"
            server >> "\x01\x01"
            report credential ask:v was refused by p:1080*
            server << close
            report question 2: *
            question 2
                failures: 1
            answer 2 user v r
            << connect p:1080
            server 2 << "\x05\x02\x00\x02"
            server 2 >> "\x05\x02"
            server 2 << "\x01\x01v\x01r"
            server 2 >> "\x01\x00"
            server 2 << "\x05\x01\x00\x03\x01h\x00\x50"
            server 2 >> "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00"
            server 2 << GET / HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            journal username/password p:1080 answered
                credential: ask:v
                failures: 1
            """#)
    }

    // MARK: - TLS

    @Test func `a certificate is trusted by an operator, and from then on by the exception`() async {
        await play(
            rules: """
                challenge "ours" { host g; method server-trust; anchor FILES/ca.pem only; trust }
                challenge "people" { host h; method server-trust; ask }
                """,
            """
            >> GET https://h/ HTTP/1.1
            << connect h:443
            and server >> tls h
            server << close
            report question 1: the certificate of h:443 is not trusted (*), and rule "people" (proxy.conf:*) asks: 'attache ask answer 1 trust'
            answer 1 trust
            << connect h:443
            and server 2 >> tls h
            server 2 << GET / HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            client 2 >> GET https://h/2 HTTP/1.1
            server 2 << GET /2 HTTP/1.1
            server 2 >> HTTP/1.1 200 OK
            client 2 << HTTP/1.1 200 OK
            report nothing
            """)
    }

    @Test func `a certificate that an operator does not trust is refused`() async {
        await play(
            rules: """
                challenge "people" { host h; method server-trust; ask }
                """,
            """
            >> GET https://h/ HTTP/1.1
            << connect h:443
            and server >> tls h
            server << close
            report question 1: *
            answer 1 cancel
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *is not trusted: *: the operator said cancel"

               *
            >> GET https://h/ HTTP/1.1
            << connect h:443
            and server 2 >> tls h
            server 2 << close
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *is not trusted: *

               *
            report nothing
            """)
    }

    @Test func `an operator chooses the certificate that a server is shown, for all later connections`() async {
        await play(
            rules: Self.identities,
            """
            >> GET https://h/ HTTP/1.1
            << connect h:443
            and server >> tls h accepting new
            server << close
            report question 1: h:443 asks for a client certificate*
            answer 1 use new
            << connect h:443
            and server 2 >> tls h accepting new
            server 2 << GET / HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            server 2 << close
            >> GET https://h/2 HTTP/1.1
            << connect h:443
            and server 3 >> tls h accepting new
            server 3 << GET /2 HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `where the server refuses the operator's certificate, the operator is asked again`() async {
        await play(
            rules: Self.identities,
            """
            >> GET https://h/ HTTP/1.1
            << connect h:443
            and server >> tls h accepting new
            server << close
            report question 1: *
            answer 1 use old
            << connect h:443
            and server 2 >> tls h accepting new
            server 2 << close
            report credential old was refused by h:443*
            report question 2: *
            answer 2 use new
            << connect h:443
            and server 3 >> tls h accepting new
            server 3 << GET / HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            server 3 << close
            """)
    }

    @Test func `where a page refuses the operator's certificate, the next question has its text`() async {
        await play(
            rules: Self.identities,
            """
            >> GET https://h/ HTTP/1.1
            << connect h:443
            and server >> tls h accepting old
            server << close
            report question 1: *
            answer 1 use old
            << connect h:443
            and server 2 >> tls h accepting old
            server 2 << GET / HTTP/1.1
            >> HTTP/1.1 400 Bad Request
               Content-Type: text/html
               Connection: close

               <html><head><title>400 The SSL certificate error</title></head><body>for staff only</body></html>
            report credential old was refused by h:443 (4*
            report question 2: *
            question 2
                failures: 1
                status: 400
                text: *for staff only*
            answer 2 use new
            server 2 << close
            << connect h:443
            and server 3 >> tls h accepting new
            server 3 << GET / HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            server 3 << close
            """)
    }

    private static let identities = """
        challenge "ours" { method server-trust; anchor FILES/ca.pem only; trust }
        credential old { certificate FILES/old.pem; key FILES/old.key }
        credential new { certificate FILES/new.pem; key FILES/new.key }
        challenge "people" { host h; method client-certificate; ask }
        """
}
