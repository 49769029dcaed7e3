import Testing

/// Servers that announce the tokens that they want (RFC 9728, RFC 8707, RFC 6750 section 3.1). The rule names the issuer
/// and the scopes that may be asked for.
struct AnnouncedTokenConversations {
    private static let rules = """
        credential mcp { issuer http://127.0.0.1:9; client-id c; client-secret s; scope read write }
        challenge "api" { host h; use mcp }
        timeouts { connect 10s; response 30s }
        """

    private static let metadata = """
        {"resource":"http://h/mcp","authorization_servers":["http://127.0.0.1:9/"],"scopes_supported":["read"]}
        """

    /// The request until the server's metadata is read, with these parameters of the challenge.
    private static func challenged(_ parameters: String, place: String = "/meta") -> String {
        """
        client >> GET http://h/mcp HTTP/1.1
        << connect h:80
        << GET /mcp HTTP/1.1
        server >> HTTP/1.1 401 Unauthorized
           WWW-Authenticate: Bearer \(parameters)
        << connect h:80
        server 2 << GET \(place) HTTP/1.1
           Host: h
           Accept: application/json
        """
    }

    /// The reading of the issuer's metadata on that connection, and a token on the next.
    private static func token(_ token: String, server: Int, form: String) -> String {
        """
        << connect 127.0.0.1:9
        server \(server) << GET /.well-known/oauth-authorization-server HTTP/1.1
           Host: 127.0.0.1:9
           Accept: application/json
        server \(server) >> HTTP/1.1 200 OK

           {"issuer":"http://127.0.0.1:9","token_endpoint":"http://127.0.0.1:9/token"}
        server \(server) << close
        \(fetched(token, server: server + 1, form: form))
        """
    }

    private static func fetched(_ token: String, server: Int, form: String) -> String {
        """
        << connect 127.0.0.1:9
        server \(server) << POST /token HTTP/1.1
           Host: 127.0.0.1:9
           Authorization: Basic base64(c:s)

           grant_type=client_credentials\(form)
        server \(server) >> HTTP/1.1 200 OK

           {"access_token":"\(token)","token_type":"Bearer","expires_in":3600}
        server \(server) << close
        """
    }

    private static let announced = "resource_metadata=\"http://h/meta\""
    private static let resource = "&resource=http%3A%2F%2Fh%2Fmcp"

    private static let first = """
        \(challenged(announced))
        server 2 >> HTTP/1.1 200 OK

           \(metadata)
        server 2 << close
        \(token("one", server: 3, form: "&scope=read" + resource))
        server << GET /mcp HTTP/1.1
           Authorization: Bearer one
        server >> HTTP/1.1 200 OK
        client << HTTP/1.1 200 OK
        """

    @Test func `the token is for the resource and the scopes that the server announces, and goes along below it`() async
    {
        await play(
            rules: Self.rules,
            """
            \(Self.first)
            client >> GET http://h/mcp/a HTTP/1.1
            server << GET /mcp/a HTTP/1.1
               Authorization: Bearer one
            server >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            client >> GET http://h/other HTTP/1.1
            server << GET /other HTTP/1.1
            server >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            """)
    }

    @Test func `the scopes of the challenge count more than those of the metadata`() async {
        await play(
            rules: Self.rules,
            """
            \(Self.challenged(Self.announced + ", scope=\"write admin\""))
            server 2 >> HTTP/1.1 200 OK

               \(Self.metadata)
            server 2 << close
            \(Self.token("one", server: 3, form: "&scope=write" + Self.resource))
            server << GET /mcp HTTP/1.1
               Authorization: Bearer one
            server >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            """)
    }

    /// The server's metadata, and the reason; no token is asked for. The first is the control.
    @Test(arguments: [
        (metadata, ""),
        (
            #"{"resource":"http://h/mcp","authorization_servers":["http://evil.example"]}"#,
            "*served by http://evil.example*"
        ),
        (#"{"resource":"http://h/mcp","authorization_servers":["http://127.0.0.1:9/a"]}"#, "*is served by*"),
        (#"{"resource":"http://h/mcp","authorization_servers":["http://127.0.0.1:90"]}"#, "*is served by*"),
        (#"{"resource":"http://h/mcp"}"#, "*names no issuer*"),
        (
            #"{"resource":"http://evil.example/mcp","authorization_servers":["http://127.0.0.1:9"]}"#,
            "*another resource*"
        ),
        (#"{"resource":"http://h/admin","authorization_servers":["http://127.0.0.1:9"]}"#, "*another resource*"),
        (#"{"authorization_servers":["http://127.0.0.1:9"]}"#, "*another resource*"),
        (
            #"{"resource":"http://h/mcp","authorization_servers":["http://127.0.0.1:9"],"scopes_supported":["admin"]}"#,
            "*wants the scope 'admin'*"
        ),
        ("<html>", "*is not a JSON object*"),
        (String(repeating: "x", count: 66_000), "*is too large*"),
    ])
    func `metadata that does not fit the rule gets no token`(document: String, reason: String) async {
        let end =
            reason.isEmpty
            ? """
            \(Self.token("one", server: 3, form: "&scope=read" + Self.resource))
            server << GET /mcp HTTP/1.1
               Authorization: Bearer one
            server >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            """
            : """
            client << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer \(Self.announced)
               Proxy-Status: *credential mcp has no token\(reason)
            """
        await play(
            rules: Self.rules,
            """
            \(Self.challenged(Self.announced))
            server 2 >> HTTP/1.1 200 OK

               \(document)
            server 2 << close
            \(end)
            """)
    }

    /// The metadata with this resource.
    private static func document(for resource: String) -> String {
        "{\"resource\":\"\(resource)\",\"authorization_servers\":[\"http://127.0.0.1:9\"]}"
    }

    /// No token is requested, and nothing is sent to another server.
    @Test(arguments: [
        "https://h/mcp", "http://h:81/mcp", "http://h/mcp?x", "http://u@h/mcp", "http://h/mcp#f", "http://h/mc",
        "http://h/mcp/a", "//h/mcp", "/mcp", "http://h.evil.example/mcp", "http://127.0.0.1:9/mcp", "",
    ])
    func `a resource that is not on the server, or does not cover the request, gets no token`(resource: String) async {
        await expectNoToken(for: Self.document(for: resource), because: "*another resource*")
    }

    /// The value of `authorization_servers`. The identifier of the issuer is compared byte by byte.
    @Test(arguments: [
        #"["http://127.0.0.1:9//"]"#, #"["http://127.0.0.1:9?x"]"#, #"["http://127.0.0.1:9/?x"]"#,
        #"["http://127.0.0.1:9#x"]"#, #"["http://u@127.0.0.1:9"]"#, #"["HTTP://127.0.0.1:9"]"#,
        #"["https://127.0.0.1:9"]"#, #"["http://127.0.0.1"]"#, #"["http://127.0.0.1:9.evil.example"]"#,
        #"["http://127.0.0.1:9@evil.example"]"#, #"["http://localhost:9"]"#, #"["http://127.1:9"]"#,
        #"["http://127.0.0.1:9/.."]"#, #"["a http://127.0.0.1:9"]"#, #""http://127.0.0.1:9""#,
        #"{"0":"http://127.0.0.1:9"}"#, #"[["http://127.0.0.1:9"]]"#, "[]", "[null,9]",
    ])
    func `a server that does not list the issuer gets no token`(servers: String) async {
        await expectNoToken(
            for: "{\"resource\":\"http://h/mcp\",\"authorization_servers\":\(servers)}", because: "*")
    }

    private func expectNoToken(for document: String, because reason: String) async {
        await play(
            rules: Self.rules,
            """
            \(Self.challenged(Self.announced))
            server 2 >> HTTP/1.1 200 OK

               \(document)
            server 2 << close
            client << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer \(Self.announced)
               Proxy-Status: *credential mcp has no token\(reason)
            journal bearer h:80 passed
                reason: credential mcp has no token\(reason)
            """)
    }

    @Test(arguments: [
        "302 Found\n   Location: http://127.0.0.1:8/meta", "404 Not Found", "500 Oops", "401 Unauthorized",
        "301 Moved Permanently\n   Location: http://h/other", "303 See Other\n   Location: http://evil.example/",
        "307 Temporary Redirect\n   Location: http://evil.example/",
        "308 Permanent Redirect\n   Location: //evil.example",
        "201 Created",
    ])
    func `metadata that was announced and is not there gets no token`(status: String) async {
        await play(
            rules: Self.rules,
            """
            \(Self.challenged(Self.announced))
            server 2 >> HTTP/1.1 \(status)
            server 2 << close
            client << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer \(Self.announced)
               Proxy-Status: *credential mcp has no token: the server's metadata has status*
            """)
    }

    /// No request goes to the place that the server names.
    @Test(arguments: [
        "http://evil.example/meta", "http://h:81/meta", "https://h/meta", "http://127.0.0.1:8/meta",
        "http://u:p@h/meta", "http://h/meta#x", "http://h@evil.example/meta", "ftp://h/meta", "/meta",
        "http://169.254.169.254/latest", "http://h.evil.example/meta", "http://evil.example:80/h", "http://h:0/meta",
        "http://h:65536/meta", "http://h:80@evil.example/meta", "http://h:/@evil.example", "http://[::1]/meta",
        "http://localhost/meta", "http://127.1/meta", "http://0.0.0.0/meta", "http:///meta", "http:/h/meta", "//h/meta",
        "file:///etc/passwd", "http://h%2eevil.example/meta", "http://h%00.evil.example/meta", "http://h /meta",
        "http://",
    ])
    func `an announcement on another origin counts as absent`(url: String) async {
        await play(
            rules: Self.rules,
            """
            \(Self.challenged("resource_metadata=\"\(url)\"", place: "/.well-known/oauth-protected-resource/mcp"))
            server 2 >> HTTP/1.1 404 Not Found
            server 2 << close
            << connect h:80
            server 3 << GET /.well-known/oauth-protected-resource HTTP/1.1
            server 3 >> HTTP/1.1 200 OK

               \(Self.metadata)
            server 3 << close
            \(Self.token("one", server: 4, form: "&scope=read" + Self.resource))
            server << GET /mcp HTTP/1.1
               Authorization: Bearer one
            server >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            """)
    }

    @Test(arguments: [("404 Not Found", "401 Unauthorized"), ("403 Forbidden", "405 Method Not Allowed")])
    func `a server without metadata gets a token with all scopes of the rule file, and no resource`(
        first: String, second: String
    ) async {
        await play(
            rules: Self.rules,
            """
            \(Self.challenged("realm=\"x\"", place: "/.well-known/oauth-protected-resource/mcp"))
            server 2 >> HTTP/1.1 \(first)
            server 2 << close
            << connect h:80
            server 3 << GET /.well-known/oauth-protected-resource HTTP/1.1
            server 3 >> HTTP/1.1 \(second)
            server 3 << close
            \(Self.token("one", server: 4, form: "&scope=read%20write"))
            server << GET /mcp HTTP/1.1
               Authorization: Bearer one
            server >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            """)
    }

    @Test(arguments: ["403 Forbidden", "401 Unauthorized"])
    func `a response that wants more scopes gets a token with all of them, and later requests have it`(
        status: String
    ) async {
        await play(
            rules: Self.rules,
            """
            \(Self.first)
            client >> GET http://h/mcp HTTP/1.1
            server << GET /mcp HTTP/1.1
               Authorization: Bearer one
            server >> HTTP/1.1 \(status)
               WWW-Authenticate: Bearer error="insufficient_scope", scope="write"
            \(Self.fetched("two", server: 5, form: "&scope=read%20write" + Self.resource))
            server << GET /mcp HTTP/1.1
               Authorization: Bearer two
            server >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            client >> GET http://h/mcp HTTP/1.1
            server << GET /mcp HTTP/1.1
               Authorization: Bearer two
            server >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            """)
    }

    @Test func `a request that is too large to be sent again gets the response, and the next one has all scopes`() async
    {
        await play(
            rules: Self.rules + "\nlimits { replay-memory 1k; replay-disk 1k }",
            """
            \(Self.first)
            client >> POST http://h/mcp HTTP/1.1
               Content-Length: 8000
            and client >> 8000 bytes
            server << POST /mcp HTTP/1.1
               Authorization: Bearer one
               Expect: 100-continue
            after 1s
            server << 8000 bytes
            server >> HTTP/1.1 403 Forbidden
               WWW-Authenticate: Bearer error="insufficient_scope", scope="write"
            \(Self.fetched("two", server: 5, form: "&scope=read%20write" + Self.resource))
            client << HTTP/1.1 403 Forbidden
               WWW-Authenticate: Bearer error="insufficient_scope", scope="write"
               Proxy-Status: *replay-memory*
            client >> GET http://h/mcp HTTP/1.1
            server << GET /mcp HTTP/1.1
               Authorization: Bearer two
            server >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            """)
    }

    @Test(arguments: [
        (#"error="insufficient_scope", scope="admin""#, "*wants the scope 'admin'*"),
        (#"error="insufficient_scope""#, "*does not name it*"),
        (#"error="insufficient_scope", scope="read""#, "*already has the scopes*"),
    ])
    func `scopes that the rule file does not allow are not asked for`(parameters: String, reason: String) async {
        for status in ["403 Forbidden", "401 Unauthorized"] {
            await play(
                rules: Self.rules,
                """
                \(Self.first)
                client >> GET http://h/mcp HTTP/1.1
                server << GET /mcp HTTP/1.1
                   Authorization: Bearer one
                server >> HTTP/1.1 \(status)
                   WWW-Authenticate: Bearer \(parameters)
                client << HTTP/1.1 \(status)
                   WWW-Authenticate: Bearer \(parameters)
                   Proxy-Status: *lacks the scope\(reason)
                journal bearer h:80 passed
                    reason: *lacks the scope\(reason)
                client >> GET http://h/mcp HTTP/1.1
                server << GET /mcp HTTP/1.1
                   Authorization: Bearer one
                server >> HTTP/1.1 200 OK
                client << HTTP/1.1 200 OK
                """)
        }
    }

    @Test func `a request steps up twice at most`() async {
        await play(
            rules: Self.rules.replacing("scope read write", with: "scope read write admin root"),
            """
            \(Self.first)
            client >> GET http://h/mcp HTTP/1.1
            server << GET /mcp HTTP/1.1
               Authorization: Bearer one
            server >> HTTP/1.1 403 Forbidden
               WWW-Authenticate: Bearer error="insufficient_scope", scope="write"
            \(Self.fetched("two", server: 5, form: "&scope=read%20write" + Self.resource))
            server << GET /mcp HTTP/1.1
               Authorization: Bearer two
            server >> HTTP/1.1 403 Forbidden
               WWW-Authenticate: Bearer error="insufficient_scope", scope="admin"
            \(Self.fetched("three", server: 6, form: "&scope=admin%20read%20write" + Self.resource))
            server << GET /mcp HTTP/1.1
               Authorization: Bearer three
            server >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer error="insufficient_scope", scope="root"
            client << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer error="insufficient_scope", scope="root"
               Proxy-Status: *lacks the scope*replaced 2 times for this request*
            """)
    }

    // MARK: - Servers that send no challenge

    /// The first request to a server that sends no challenge, until it has a token.
    private static func unchallenged(_ answer: String) -> String {
        """
        client >> GET http://h/mcp HTTP/1.1
        << connect h:80
        << GET /mcp HTTP/1.1
        server >> HTTP/1.1 401 Unauthorized
        << connect h:80
        server 2 << GET /.well-known/oauth-protected-resource/mcp HTTP/1.1
        server 2 >> HTTP/1.1 200 OK

           \(metadata)
        server 2 << close
        \(token("one", server: 3, form: "&scope=read" + resource).replacing("3600", with: "10"))
        server << GET /mcp HTTP/1.1
           Authorization: Bearer one
        server >> HTTP/1.1 \(answer)
        client << HTTP/1.1 \(answer)
        """
    }

    @Test func `a server that sends no challenge gets a token, and from then on at once`() async {
        await play(
            rules: Self.rules,
            """
            \(Self.unchallenged("200 OK"))
            client >> GET http://h/mcp HTTP/1.1
            server << GET /mcp HTTP/1.1
               Authorization: Bearer one
            server >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            """)
    }

    @Test func `a server that refuses the token without a challenge is asked no second time`() async {
        await play(
            rules: Self.rules,
            Self.unchallenged("401 Unauthorized") + "\n   Proxy-Status: *credential mcp was refused by the origin*")
    }

    @Test(arguments: [
        """
        credential mcp { issuer http://127.0.0.1:9; client-id c; client-secret s }
        challenge { host other; use mcp }
        credential u { user a; password b }
        challenge { host h; use u }
        """,
        """
        credential mcp { oauth2 http://127.0.0.1:9/token; client-id c; client-secret s }
        challenge { host h; use mcp }
        """,
        """
        credential mcp { token t }
        challenge { host h; use mcp }
        """,
    ])
    func `a rule without an issuer assumes no challenge`(rules: String) async {
        await play(
            rules: rules,
            """
            >> GET http://h/mcp HTTP/1.1
            << connect h:80
            << GET /mcp HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
            << HTTP/1.1 401 Unauthorized
               Proxy-Status: *the origin answers 401 without a challenge*
            """)
    }

    @Test func `a valid token that is refused without a challenge is not replaced`() async {
        await play(
            rules: Self.rules,
            """
            \(Self.first)
            client >> GET http://h/mcp HTTP/1.1
            server << GET /mcp HTTP/1.1
               Authorization: Bearer one
            server >> HTTP/1.1 401 Unauthorized
            server << GET /mcp HTTP/1.1
            server >> HTTP/1.1 401 Unauthorized
            client << HTTP/1.1 401 Unauthorized
               Proxy-Status: *refuses the token of credential mcp without a challenge*while it is valid*
            """)
    }

    @Test func `a token that expires under way, and is refused without a challenge, is replaced`() async {
        await play(
            rules: Self.rules,
            """
            \(Self.unchallenged("200 OK"))
            client >> GET http://h/mcp HTTP/1.1
            server << GET /mcp HTTP/1.1
               Authorization: Bearer one
            after 10s
            server >> HTTP/1.1 401 Unauthorized
            \(Self.fetched("two", server: 5, form: "&scope=read" + Self.resource))
            server << GET /mcp HTTP/1.1
               Authorization: Bearer two
            server >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            """)
    }
}
