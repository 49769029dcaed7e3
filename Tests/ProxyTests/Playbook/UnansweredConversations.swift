import Testing

/// The reason of a challenge that a client gets: in the response, in the log, and with the lines to paste for the operator.
struct UnansweredConversations {
    private static let credential = "credential a { user u; password p }"

    @Test func `a host that is nearly a rule's is told to the client, and the operator has the line to paste`() async {
        await play(
            rules: """
                \(Self.credential)
                challenge "ci" { host ci.example; use a }
                """,
            """
            >> GET http://cl.example/ HTTP/1.1
            << connect cl.example:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: attache; details="rule \\"ci\\" is for host ci.example; the request is for cl.example"
            report a challenge of cl.example:80 (basic realm "x") got no answer: rule "ci" is for host ci.example; the request is for cl.example; to answer it, add: challenge "cl.example" { host cl.example; port 80; realm "x"; use … }*
            log GET http://cl.example/ 401
                challenge: basic
                realm: x
                details: rule "ci" is for host ci.example; the request is for cl.example
            """)
    }

    @Test func `a host that no rule means is told as such, with the line to paste`() async {
        await play(
            rules: """
                \(Self.credential)
                challenge "ci" { host ci.example; use a }
                """,
            """
            >> GET http://elsewhere.test/ HTTP/1.1
            << connect elsewhere.test:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: attache; details="no rule is for elsewhere.test:80"
            report a challenge of elsewhere.test:80 (basic realm "x") got no answer: no rule is for elsewhere.test:80; to answer it, add: credential origin { user NAME; password file /path/to/password } challenge "elsewhere.test" { host elsewhere.test; port 80; realm "x"; use origin }*
            log GET http://elsewhere.test/ 401
                challenge: basic
                realm: x
                details: no rule is for elsewhere.test:80
            """)
    }

    @Test func `a client that logs in by itself gets the reason, and the operator hears nothing`() async {
        await play(
            """
            >> GET http://elsewhere.test/ HTTP/1.1
               Authorization: Basic base64(v:q)
            << connect elsewhere.test:80
            << GET / HTTP/1.1
               Authorization: Basic base64(v:q)
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: attache; details="no rule is for elsewhere.test:80"
            report nothing
            """)
    }

    @Test func `a realm that no rule names is told with the realm that the nearest one wants`() async {
        await play(
            rules: """
                \(Self.credential)
                challenge "build server" { host h; realm "Jenkins"; use a }
                challenge "mail" { host h; port 25; use a }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="a \\"b\\"", nonce="n", qop="auth"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest *
               Proxy-Status: attache; details="rule \\"build server\\" is for realm \\"Jenkins\\"; the origin sends \\"a \\"b\\"\\""
            report *to answer it, add: challenge "h" { host h; port 80; realm "a \\"b\\""; use … }*
            log GET http://h/ 401
                challenge: digest
                realm: a "b"
                details: rule "build server" is for realm "Jenkins"; the origin sends "a "b""
            """)
    }

    @Test func `a realm in another case is told, and the lines to paste have it answered`() async {
        await play(
            rules: """
                \(Self.credential)
                challenge "build server" { host h; realm "Jenkins"; use a }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="jenkins"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="jenkins"
               Proxy-Status: attache; details="rule \\"build server\\" is for realm \\"Jenkins\\"; the origin sends \\"jenkins\\""
            reload
                \(Self.credential)
                challenge "h" { host h; port 80; realm "jenkins"; use a }
            server << close
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="jenkins"
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `'secure yes' is told to a client that asks in clear`() async {
        await play(
            rules: """
                \(Self.credential)
                challenge "safe" { host h; secure yes; use a }
                """,
            """
            challenged GET http://h/
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: attache; details="rule \\"safe\\" says 'secure yes'; basic over http would send the credential unencrypted"
            report *says 'secure yes'; basic over http would send the credential unencrypted
            log GET http://h/ 401
                challenge: basic
                realm: x
                details: rule "safe" says 'secure yes'*
            """)
    }

    @Test func `a rule that rejects before another is asked is told`() async {
        await play(
            rules: """
                \(Self.credential)
                challenge "never Basic" { method basic; reject }
                challenge "ci" { host h; use a }
                """,
            """
            challenged GET http://h/
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: attache; details="rule \\"never Basic\\" rejects the challenge before rule \\"ci\\" is tried"
            """)
    }

    @Test func `a refused credential of the URL is told by its name`() async {
        await play(
            """
            >> GET http://u:p@h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: attache; details="credential url:u was refused by the origin"
            log GET http://h/ 401
                challenge: basic
                scheme: basic
                credential: url:u
                attempts: 1
                details: credential url:u was refused by the origin
            """)
    }

    @Test func `a scheme that nobody here speaks is named`() async {
        await play(
            rules: """
                \(Self.credential)
                challenge "ci" { host h; use a }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Hawk realm="x"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Hawk realm="x"
               Proxy-Status: attache; details="the origin asks for hawk, which this proxy does not know"
            report a challenge of h:80 (hawk realm "x") got no answer: *does not know
            log GET http://h/ 401
                challenge: hawk
                realm: x
                details: the origin asks for hawk, which this proxy does not know
            """)
    }

    @Test func `a client's own answer is told to be in the way`() async {
        await play(
            rules: """
                \(Self.credential)
                challenge "ci" { host h; use a }
                """,
            """
            >> GET http://h/ HTTP/1.1
               Authorization: Basic base64(v:q)
            << connect h:80
            << GET / HTTP/1.1
               Authorization: Basic base64(v:q)
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: *which is kept: rule \\"ci\\" replaces it with 'authorization replace'"
            report *challenge "h" { host h; port 80; realm "x"; authorization replace; use a }*
            """)
    }

    @Test func `a tunnel to a host that a rule names is told to the operator once, and to the log each time`() async {
        await play(
            rules: """
                \(Self.credential)
                challenge "any" { method ntlm; use a }
                challenge "ci" { host ci.example; use a }
                """,
            """
            >> CONNECT ci.example:443 HTTP/1.1
            << connect ci.example:443
            << HTTP/1.1 200 Connection established
            report no route decrypts the tunnel to ci.example:443, so rule "ci" is not used; to decrypt it, add: route ci.example { intercept }
            server >> close
            client << end
            client >> close
            log CONNECT ci.example:443 200
                details: no route decrypts the tunnel to ci.example:443, so rule "ci" is not used
            client 2 >> CONNECT elsewhere.test:443 HTTP/1.1
            << connect elsewhere.test:443
            client 2 << HTTP/1.1 200 Connection established
            server 2 >> close
            client 2 << end
            client 2 >> close
            log CONNECT elsewhere.test:443 200
                details: -
            """)
    }

    @Test func `an address of IPv6 has its brackets in front of a port`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge "ci" { host "2001:db8::1"; use a }
                """,
            """
            >> CONNECT [2001:db8::1]:443 HTTP/1.1
            << connect 2001:db8::1:443
            << HTTP/1.1 200 Connection established
            report no route decrypts the tunnel to [2001:db8::1]:443, so rule "ci" is not used*
            """)
    }
}
