import Testing

/// Logins that belong to a connection.
struct LoginConversations {
    /// A server's message of type 2 ([MS-NLMP] section 2.2.1.2), for the domain CORP.
    private static let challenge =
        "TlRMTVNTUAACAAAACAAIADAAAAAFgokAASNFZ4mrze8AAAAAAAAAABAAEAA4AAAA"
        + "QwBPAFIAUAACAAgAQwBPAFIAUAAAAAAA"

    @Test func `an NTLM login belongs to the connection, and its later requests need none`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            >> GET http://h/1 HTTP/1.1
            << connect h:80
            << GET /1 HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: NTLM
            << GET /1 HTTP/1.1
               Authorization: NTLM TlRMTVNTUAAB*
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: NTLM \(Self.challenge)
            << GET /1 HTTP/1.1
               Authorization: NTLM TlRMTVNTUAAD*
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://h/2 HTTP/1.1
            << GET /2 HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    /// The login that client 1 makes on the first connection to `h`.
    private static let login = """
        >> GET http://h/1 HTTP/1.1
        << connect h:80
        << GET /1 HTTP/1.1
        >> HTTP/1.1 401 Unauthorized
           WWW-Authenticate: NTLM
        << GET /1 HTTP/1.1
           Authorization: NTLM TlRMTVNTUAAB*
        >> HTTP/1.1 401 Unauthorized
           WWW-Authenticate: NTLM \(challenge)
        << GET /1 HTTP/1.1
           Authorization: NTLM TlRMTVNTUAAD*
        >> HTTP/1.1 200 OK
        << HTTP/1.1 200 OK

        """

    @Test func `a login with a rule's credential serves every client`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            Self.login + """
                client 2 >> GET http://h/2 HTTP/1.1
                server << GET /2 HTTP/1.1
                client 3 >> GET http://h/3 HTTP/1.1
                << connect h:80
                server 2 << GET /3 HTTP/1.1
                            Authorization: NTLM TlRMTVNTUAAB*
                server >> HTTP/1.1 200 OK
                client 2 << HTTP/1.1 200 OK
                >> GET http://h/4 HTTP/1.1
                server << GET /4 HTTP/1.1
                """)
    }

    @Test func `a second login waits for a probe where another server has refused the credential`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h x; use a }
                """,
            Self.login + """
                client 4 >> GET http://x/ HTTP/1.1
                << connect x:80
                server 2 << GET / HTTP/1.1
                server 2 >> HTTP/1.1 401 Unauthorized
                            WWW-Authenticate: Basic realm="x"
                server 2 << GET / HTTP/1.1
                            Authorization: Basic base64(u:p)
                server 2 >> HTTP/1.1 401 Unauthorized
                            WWW-Authenticate: Basic realm="x"
                client 4 << HTTP/1.1 401 Unauthorized
                            WWW-Authenticate: Basic realm="x"
                            Proxy-Status: *was refused*
                # the login of the first client serves this one
                client 2 >> GET http://h/2 HTTP/1.1
                server << GET /2 HTTP/1.1
                # and is busy
                client 3 >> GET http://h/3 HTTP/1.1
                << connect h:80
                << connect h:80
                server 4 << GET /1 HTTP/1.1
                """)
    }

    @Test func `a connection that was logged in before proves nothing of a credential that another server refused`()
        async
    {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a; probe no }
                challenge { host x; use a }
                """,
            Self.login + """
                client 4 >> GET http://x/ HTTP/1.1
                << connect x:80
                server 2 << GET / HTTP/1.1
                server 2 >> HTTP/1.1 401 Unauthorized
                            WWW-Authenticate: Basic realm="x"
                server 2 << GET / HTTP/1.1
                            Authorization: Basic base64(u:p)
                server 2 >> HTTP/1.1 401 Unauthorized
                            WWW-Authenticate: Basic realm="x"
                client 4 << HTTP/1.1 401 Unauthorized
                            WWW-Authenticate: Basic realm="x"
                            Proxy-Status: *was refused*
                client 2 >> GET http://h/2 HTTP/1.1
                server << GET /2 HTTP/1.1
                # the login of this request leads, and the next request waits for its verdict
                client 3 >> GET http://h/3 HTTP/1.1
                << connect h:80
                server 3 << GET /3 HTTP/1.1
                            Authorization: NTLM TlRMTVNTUAAB*
                client 5 >> GET http://h/5 HTTP/1.1
                server >> HTTP/1.1 200 OK
                client 2 << HTTP/1.1 200 OK
                server 3 >> HTTP/1.1 503 Service Unavailable
                client 3 << HTTP/1.1 503 Service Unavailable
                server 3 << close
                # now that one leads, on the connection that is logged in
                server << GET /5 HTTP/1.1
                          Authorization: -
                server >> HTTP/1.1 200 OK
                client 5 << HTTP/1.1 200 OK
                client 6 >> GET http://h/6 HTTP/1.1
                server << GET /6 HTTP/1.1
                client 7 >> GET http://h/7 HTTP/1.1
                << connect h:80
                server 4 << GET /7 HTTP/1.1
                            Authorization: NTLM TlRMTVNTUAAB*
                # this one waits again
                client 8 >> GET http://h/8 HTTP/1.1
                server >> HTTP/1.1 200 OK
                client 6 << HTTP/1.1 200 OK
                """)
    }

    @Test func `a login outlives the client that it was made for`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            Self.login + """
                client >> close
                client 2 >> GET http://h/2 HTTP/1.1
                server << GET /2 HTTP/1.1
                """)
    }

    @Test(arguments: ["client 127.0.0.1", "client bob; use a }\nchallenge { host h"])
    func `a login serves one client where a rule looks at who asks, and ends with it`(_ condition: String) async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; \(condition); use a }
                """,
            Self.login + """
                client 2 >> GET http://h/2 HTTP/1.1
                << connect h:80
                server 2 << GET /2 HTTP/1.1
                            Authorization: NTLM TlRMTVNTUAAB*
                client >> close
                server << close
                """)
    }

    @Test func `a login that is not to be kept serves one request`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; persistence none; use a }
                """,
            Self.login + """
                server << close
                client 2 >> GET http://h/2 HTTP/1.1
                << connect h:80
                server 2 << GET /2 HTTP/1.1
                """)
    }

    @Test func `a login with the credential of a client's own URL serves its connection alone`() async {
        await play(
            rules: "challenge { host h; default }",
            Self.login.replacing("http://h/1", with: "http://u:p@h/1") + """
                client 2 >> GET http://h/2 HTTP/1.1
                << connect h:80
                server 2 << GET /2 HTTP/1.1
                            Authorization: NTLM TlRMTVNTUAAB*
                """)
    }

    @Test func `the legs of a login go without the body, which follows with the last`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            >> POST http://h/ HTTP/1.1

               hello
            << connect h:80
            << POST / HTTP/1.1

               hello
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: NTLM
            << POST / HTTP/1.1
               Content-Length: 0
               Authorization: NTLM TlRMTVNTUAAB*
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: NTLM \(Self.challenge)
            << POST / HTTP/1.1
               Authorization: NTLM TlRMTVNTUAAD*

               hello
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a login whose server closes under it begins anew on another connection`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            >> GET http://h/1 HTTP/1.1
            << connect h:80
            << GET /1 HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: NTLM
            << GET /1 HTTP/1.1
               Authorization: NTLM TlRMTVNTUAAB*
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: NTLM \(Self.challenge)
               Connection: close
            server << close
            << connect h:80
            server 2 << GET /1 HTTP/1.1
                        Authorization: NTLM TlRMTVNTUAAB*
            """)
    }

    @Test func `a login that is refused parks the password`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            >> GET http://h/1 HTTP/1.1
            << connect h:80
            << GET /1 HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: NTLM
            << GET /1 HTTP/1.1
               Authorization: NTLM TlRMTVNTUAAB*
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: NTLM \(Self.challenge)
            << GET /1 HTTP/1.1
               Authorization: NTLM TlRMTVNTUAAD*
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: NTLM
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: NTLM
               Proxy-Status: *
            server << close
            report credential a was refused *
            """)
    }

    @Test func `Negotiate without a ticket gives way to what else was offered`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            >> GET http://h/1 HTTP/1.1
            << connect h:80
            << GET /1 HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Negotiate
               WWW-Authenticate: Basic realm="x"
            << GET /1 HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a secret that changes closes the connections that are logged in with its old value`() async {
        await play(
            rules: """
                credential a { user u; password file FILES/p }
                challenge { host h; use a }
                """,
            """
            file p one
            >> GET http://h/1 HTTP/1.1
            << connect h:80
            << GET /1 HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: NTLM
            << GET /1 HTTP/1.1
               Authorization: NTLM TlRMTVNTUAAB*
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: NTLM \(Self.challenge)
            << GET /1 HTTP/1.1
               Authorization: NTLM TlRMTVNTUAAD*
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            file p two
            refresh
            server << close
            """)
    }

    @Test func `content that comes behind its head stays on the connection of the login`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            Self.login + """
                client 2 >> GET http://h/2 HTTP/1.1
                server << GET /2 HTTP/1.1
                server >> HTTP/1.1 200 OK
                          Content-Length: 4
                client 2 << HTTP/1.1 200 OK
                            Content-Length: 4
                server >> "late"
                client 2 << "late"
                client >> GET http://h/3 HTTP/1.1
                server << GET /3 HTTP/1.1
                """)
    }
}
