import Testing

/// Endpoints that give another refresh token with each token, and take the one before no more (RFC 6749 section 6).
struct RefreshTokenConversations {
    private static let rules = """
        credential crm { oauth2 http://127.0.0.1:9/token; client-id c; refresh-token own }
        challenge "api" { host h; use crm }
        """

    /// A request and the token for it. The origin's connection is number `server`, the endpoint's the next.
    private static func fetch(_ path: String, server: Int, sent: String, answer: String) -> String {
        """
        client >> GET http://h\(path) HTTP/1.1
        << connect h:80
        server \(server) << GET \(path) HTTP/1.1
        server \(server) >> HTTP/1.1 401 Unauthorized
           WWW-Authenticate: Bearer
        << connect 127.0.0.1:9
        server \(server + 1) << POST /token HTTP/1.1

           grant_type=refresh_token&refresh_token=\(sent)&client_id=c
        server \(server + 1) >> \(answer)
        server \(server + 1) << close
        """
    }

    private static func token(_ token: String, refresh: String?, seconds: Int = 3600) -> String {
        let refresh = refresh.map { ",\"refresh_token\":\"\($0)\"" } ?? ""
        return """
            HTTP/1.1 200 OK

               {"access_token":"\(token)","token_type":"Bearer","expires_in":\(seconds)\(refresh)}
            """
    }

    private static let refusal = """
        HTTP/1.1 400 Bad Request

           {"error":"invalid_grant"}
        """

    private static func served(_ path: String, with token: String, server: Int) -> String {
        """
        server \(server) << GET \(path) HTTP/1.1
           Authorization: Bearer \(token)
        server \(server) >> HTTP/1.1 200 OK
        client << HTTP/1.1 200 OK
        """
    }

    /// The token is used until it ends, and all connections are closed meanwhile.
    private static func anHourLater(server: Int) -> String {
        """
        after 30s
        server \(server) << close
        and client >> close
        after 60min
        """
    }

    @Test func `each renewal sends the refresh token that the endpoint gave last`() async {
        await play(
            rules: Self.rules,
            """
            \(Self.fetch("/1", server: 1, sent: "own", answer: Self.token("one", refresh: "r1")))
            \(Self.served("/1", with: "one", server: 1))
            \(Self.anHourLater(server: 1))
            client 2 >> GET http://h/2 HTTP/1.1
            << connect 127.0.0.1:9
            server 3 << POST /token HTTP/1.1

               grant_type=refresh_token&refresh_token=r1&client_id=c
            server 3 >> \(Self.token("two", refresh: nil))
            server 3 << close
            << connect h:80
            server 4 << GET /2 HTTP/1.1
               Authorization: Bearer two
            server 4 >> HTTP/1.1 200 OK
            client 2 << HTTP/1.1 200 OK
            after 30s
            server 4 << close
            and client 2 >> close
            after 60min
            client 3 >> GET http://h/3 HTTP/1.1
            << connect 127.0.0.1:9
            server 5 << POST /token HTTP/1.1

               grant_type=refresh_token&refresh_token=r1&client_id=c
            """)
    }

    @Test func `a known token is sent until it is to be renewed, and the new one from then on`() async {
        await play(
            rules: Self.rules,
            """
            \(Self.fetch("/1", server: 1, sent: "own", answer: Self.token("one", refresh: nil, seconds: 40)))
            \(Self.served("/1", with: "one", server: 1))
            client >> GET http://h/2 HTTP/1.1
            \(Self.served("/2", with: "one", server: 1))
            after 19s
            client >> GET http://h/3 HTTP/1.1
            \(Self.served("/3", with: "one", server: 1))
            after 2s
            client >> GET http://h/4 HTTP/1.1
            << connect 127.0.0.1:9
            server 1 << GET /4 HTTP/1.1
               Authorization: Bearer one
            server 3 << POST /token HTTP/1.1

               grant_type=refresh_token&refresh_token=own&client_id=c
            server 3 >> \(Self.token("two", refresh: nil))
            server 3 << close
            server 1 >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            client >> GET http://h/5 HTTP/1.1
            \(Self.served("/5", with: "two", server: 1))
            """)
    }

    @Test func `one that the endpoint refuses gives way to the configured one, once`() async {
        await play(
            rules: Self.rules,
            """
            \(Self.fetch("/1", server: 1, sent: "own", answer: Self.token("one", refresh: "r1")))
            \(Self.served("/1", with: "one", server: 1))
            \(Self.anHourLater(server: 1))
            client 2 >> GET http://h/2 HTTP/1.1
            << connect 127.0.0.1:9
            server 3 << POST /token HTTP/1.1

               grant_type=refresh_token&refresh_token=r1&client_id=c
            server 3 >> \(Self.refusal)
            server 3 << close
            << connect 127.0.0.1:9
            server 4 << POST /token HTTP/1.1

               grant_type=refresh_token&refresh_token=own&client_id=c
            server 4 >> \(Self.refusal)
            server 4 << close
            << connect h:80
            server 5 << GET /2 HTTP/1.1
            server 5 >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer
            server 5 << close
            client 2 << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *invalid_grant*
            report credential crm: the latest refresh token is refused; the configured one is tried
            """)
    }
}
