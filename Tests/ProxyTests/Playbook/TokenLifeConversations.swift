import Testing

/// Tokens over several of their lives, and while their endpoint is down. A token lives for five minutes, and is renewed
/// when it has been used for three and a half.
struct TokenLifeConversations {
    private static let rules = """
        credential mcp { issuer http://127.0.0.1:9; client-id c; client-secret s; resource none }
        challenge "api" { host h; use mcp }
        timeouts { connect 10s; response 30s }
        """

    private static let form = """
           Authorization: Basic base64(c:s)

           grant_type=client_credentials
        """

    /// A request whose token the issuer gives at once.
    private static func first(_ path: String) -> String {
        """
        client >> GET http://h/\(path) HTTP/1.1
        << connect h:80
        server << GET /\(path) HTTP/1.1
        server >> HTTP/1.1 401 Unauthorized
           WWW-Authenticate: Bearer
        << connect 127.0.0.1:9
        server 2 << GET /.well-known/oauth-authorization-server HTTP/1.1
        server 2 >> HTTP/1.1 200 OK

           {"issuer":"http://127.0.0.1:9","token_endpoint":"http://127.0.0.1:9/token"}
        server 2 << close
        << connect 127.0.0.1:9
        server 3 << POST /token HTTP/1.1
        \(form)
        \(given(1, server: 3))
        server << GET /\(path) HTTP/1.1
           Authorization: Bearer t1

        """
    }

    private static func given(_ number: Int, server: Int) -> String {
        """
        server \(server) >> HTTP/1.1 200 OK

           {"access_token":"t\(number)","token_type":"Bearer","expires_in":300}
        server \(server) << close
        """
    }

    /// A request of a client, with the token of that number.
    ///
    /// - Parameter connects: whether it needs a new connection.
    private static func ask(_ client: Int, server: Int, token: Int, connects: Bool = false) -> String {
        """
        client \(client) >> GET http://h/page HTTP/1.1
        \(connects ? "<< connect h:80" : "")
        server \(server) << GET /page HTTP/1.1
           Authorization: Bearer t\(token)

        """
    }

    /// Half a minute without a request.
    private static let rest = """
        after 30s
        server << close
        and client >> close

        """

    private static func answered(_ client: Int, server: Int) -> String {
        """
        server \(server) >> HTTP/1.1 200 OK
        client \(client) << HTTP/1.1 200 OK

        """
    }

    @Test func `a response that lasts for three lives of a token is not touched, and each life has one token request`()
        async
    {
        var script = Self.first("stream")
        script += """
            server >> HTTP/1.1 200 OK
               Content-Length: 3700
            client << HTTP/1.1 200 OK
               Content-Length: 3700
            client 2 >> GET http://h/page HTTP/1.1
            << connect h:80
            server 4 << GET /page HTTP/1.1
               Authorization: Bearer t1

            """
        script += Self.answered(2, server: 4)
        for step in 1...36 {
            script += "after 25s\nserver >> 100 bytes\nclient << 100 bytes\n"
            // Beside each ninth request the token is renewed.
            let (token, renewals) = (1 + (step - 1) / 9, step / 9)
            script += Self.ask(2, server: 4, token: token)
            if step % 9 == 0 {
                script += """
                    << connect 127.0.0.1:9
                    server \(4 + renewals) << POST /token HTTP/1.1
                    \(Self.form)
                    \(Self.given(token + 1, server: 4 + renewals))

                    """
            }
            script += Self.answered(2, server: 4)
        }
        await play(rules: Self.rules, script)
    }

    @Test func `while the endpoint is down for a minute each request has the token that is held`() async {
        var script = Self.first("page") + Self.answered(1, server: 1) + Self.rest
        script += "after 3min\n"
        for moment in 0..<12 {
            script += Self.ask(1, server: 4, token: 1, connects: moment == 0)
            script += "<< connect 127.0.0.1:9 refused\nreport cannot get a token for credential mcp: *\n"
            script += Self.answered(1, server: 4)
            // No other request asks the endpoint for five seconds.
            if moment % 4 == 0 {
                script += "after 4s\n" + Self.ask(1, server: 4, token: 1) + Self.answered(1, server: 4) + "after 1s\n"
            } else {
                script += "after 5s\n"
            }
        }
        script += Self.ask(1, server: 4, token: 1)
        script += """
            << connect 127.0.0.1:9
            server 17 << POST /token HTTP/1.1
            \(Self.form)
            \(Self.given(2, server: 17))

            """
        script += Self.answered(1, server: 4) + Self.ask(1, server: 4, token: 2) + Self.answered(1, server: 4)
        await play(rules: Self.rules, script)
    }

    @Test func `an issuer that is down beyond the token's end gives the client the 401, and recovers by itself`() async
    {
        var script = Self.first("page") + Self.answered(1, server: 1) + Self.rest
        script += """
            after 5min
            client >> GET http://h/page HTTP/1.1
            << connect 127.0.0.1:9 refused
            report cannot get a token for credential mcp: *
            << connect h:80
            server 5 << GET /page HTTP/1.1
            server 5 >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer
            client << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer
               Proxy-Status: *credential mcp has no token: *
            after 25s
            client >> GET http://h/page HTTP/1.1
            << connect 127.0.0.1:9
            server 6 << POST /token HTTP/1.1
            \(Self.form)
            \(Self.given(2, server: 6))
            server 5 << GET /page HTTP/1.1
               Authorization: Bearer t2

            """
        await play(rules: Self.rules, script + Self.answered(1, server: 5))
    }
}
