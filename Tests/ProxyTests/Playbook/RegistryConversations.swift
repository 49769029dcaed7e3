import Testing

/// Container registries, whose challenges name a token server and scopes. The rule says who gets user and password.
struct RegistryConversations {
    /// A token server with a URL in the rule file.
    private static let named = """
        credential ci { user u; password p; registry http://127.0.0.1:9/token }
        challenge "images" { host h; use ci }
        timeouts { connect 10s; response 30s }
        """

    /// The token server on the registry's own host.
    private static let own = """
        credential ci { user u; password p; registry }
        challenge "ours" { method server-trust; anchor FILES/ca.pem only; trust }
        challenge "images" { host h; use ci }
        timeouts { connect 10s; response 30s }
        """

    private static let realm = "realm=\"http://127.0.0.1:9/token\""

    /// A request that the registry challenges, on the connection `server`.
    private static func asked(
        _ request: String, _ challenge: String, connects: Bool = true, token: String? = nil
    ) -> String {
        let (method, path) = (request.prefix { $0 != " " }, request.drop { $0 != " " }.dropFirst())
        return """
            client >> \(method) http://h\(path) HTTP/1.1\(connects ? "\n<< connect h:80" : "")
            server << \(method) \(path) HTTP/1.1\(token.map { "\n   Authorization: Bearer \($0)" } ?? "")
            server >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: \(challenge)
            """
    }

    /// The request for a token, on its own connection, and the response.
    private static func fetched(
        _ query: String, _ response: String, server: Int, login: String? = "base64(u:p)"
    ) -> String {
        """
        << connect 127.0.0.1:9
        server \(server) << GET /token\(query) HTTP/1.1
           Host: 127.0.0.1:9
           Accept: application/json\(login.map { "\n   Authorization: Basic \($0)" } ?? "")
        server \(server) >> HTTP/1.1 200 OK

           \(response)
        server \(server) << close
        """
    }

    /// The request goes to the registry again, and the client gets its response.
    private static func answered(_ request: String, _ authorization: String) -> String {
        let (method, path) = (request.prefix { $0 != " " }, request.drop { $0 != " " }.dropFirst())
        return """
            server << \(method) \(path) HTTP/1.1
               Authorization: \(authorization)
            server >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            """
    }

    /// A request that goes out with the token at once.
    private static func known(_ request: String, _ token: String) -> String {
        let (method, path) = (request.prefix { $0 != " " }, request.drop { $0 != " " }.dropFirst())
        return "client >> \(method) http://h\(path) HTTP/1.1\n\(answered(request, "Bearer \(token)"))"
    }

    private static let pull = "Bearer \(realm),service=\"reg\",scope=\"repository:team/app:pull\""
    private static let pullQuery = "?service=reg&scope=repository%3Ateam%2Fapp%3Apull"
    private static let manifest = "GET /v2/team/app/manifests/1"

    private static let first = """
        \(asked(manifest, pull))
        \(fetched(pullQuery, #"{"token":"one","expires_in":300}"#, server: 2))
        \(answered(manifest, "Bearer one"))
        """

    // MARK: - Servers

    /// The challenge, the query of the token request, and the response of the token server, as the servers have them.
    @Test(arguments: [
        // Docker Hub, GitLab, distribution.
        (pull, pullQuery, #"{"token":"one","access_token":"one","expires_in":300,"issued_at":"2026-11-27T00:00:00Z"}"#),
        // Quay.
        (pull, pullQuery, #"{"token":"one"}"#),
        // Gitea.
        ("Bearer \(realm)\n   WWW-Authenticate: Basic", "", #"{"token":"one"}"#),
        // Google.
        ("Bearer \(realm),service=reg", "?service=reg", #"{"token":"one","expires_in":43200}"#),
        // Azure.
        (pull, pullQuery, #"{"access_token":"one"}"#),
        // NVIDIA.
        (
            "Bearer \(realm),scope=repository:team/app:pull", "?scope=repository%3Ateam%2Fapp%3Apull",
            #"{"token":"one"}"#
        ),
        (
            "Bearer realm=http://127.0.0.1:9/token,service=reg,scope=repository:team/app:pull", pullQuery,
            #"{"token":"one"}"#
        ),
        // The query of the realm is not for the token server.
        ("Bearer realm=\"http://127.0.0.1:9/token?account=x\",service=\"reg\"", "?service=reg", #"{"token":"one"}"#),
        // Scopes of another grammar are left out.
        (
            "Bearer \(realm),service=\"a&b\",scope=\"repository:a&x=1:pull repository:team/app:pull\"",
            "?service=a%26b&scope=repository%3Ateam%2Fapp%3Apull", #"{"token":"one"}"#
        ),
    ])
    func `a token is fetched as the registry wants it, and goes along from then on`(
        challenge: String, query: String, response: String
    ) async {
        await play(
            rules: Self.named,
            """
            \(Self.asked(Self.manifest, challenge))
            \(Self.fetched(query, response, server: 2))
            \(Self.answered(Self.manifest, "Bearer one"))
            \(Self.known("GET /v2/team/app/blobs/sha256:0", "one"))
            \(Self.known("HEAD /v2/team/app/manifests/2", "one"))
            """)
    }

    @Test func `a registry without tokens gets user and password`() async {
        await play(
            rules: "credential ci { user AWS; password p; registry }\nchallenge \"images\" { host h; use ci }",
            """
            \(Self.asked(Self.manifest, "Basic realm=\"https://ecr.example/\",service=\"ecr\""))
            \(Self.answered(Self.manifest, "Basic base64(AWS:p)"))
            client >> GET http://h/v2/team/app/manifests/2 HTTP/1.1
            \(Self.answered("GET /v2/team/app/manifests/2", "Basic base64(AWS:p)"))
            """)
    }

    /// Harbor challenges a request with an unknown token by Basic alone.
    @Test func `a registry that answers a token with Basic is asked again without it`() async {
        await play(
            rules: Self.named,
            """
            \(Self.first)
            \(Self.asked(Self.manifest, "Basic realm=\"harbor\"", connects: false, token: "one"))
            server << GET /v2/team/app/manifests/1 HTTP/1.1
            server >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: \(Self.pull)
            \(Self.fetched(Self.pullQuery, #"{"token":"two","expires_in":300}"#, server: 3))
            \(Self.answered(Self.manifest, "Bearer two"))
            """)
    }

    @Test func `user and password go to no registry whose token server is on another host`() async {
        await play(
            rules: Self.named,
            """
            \(Self.asked(Self.manifest, "Basic realm=\"x\""))
            client << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: *user and password of credential ci are for http://127.0.0.1:9/token*
            """)
    }

    @Test func `a credential without a user fetches the tokens that anyone gets`() async {
        await play(
            rules: "credential open { registry http://127.0.0.1:9/token }\nchallenge \"images\" { host h; use open }",
            """
            \(Self.asked(Self.manifest, Self.pull))
            \(Self.fetched(Self.pullQuery, #"{"token":"one","expires_in":300}"#, server: 2, login: nil))
            \(Self.answered(Self.manifest, "Bearer one"))
            \(Self.known(Self.manifest, "one"))
            """)
    }

    // MARK: - The token server that the rule names

    @Test(arguments: [
        ("https://auth.example/token?x=1", #"registry "https://auth.example/token""#),
        ("https://h:80/token", "registry"),
    ])
    func `a registry without a rule is told with the lines to add`(realm: String, directive: String) async {
        await play(
            """
            client >> GET http://h/v2/a/manifests/1 HTTP/1.1
            << connect h:80
            server << GET /v2/a/manifests/1 HTTP/1.1
            server >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer realm="\(realm)",service="reg"
            client << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: *
               Proxy-Status: *
            report *credential origin { user NAME; password file /path/to/password; \(directive) } challenge "h" { host h; port 80; use origin }*
            """)
    }

    /// The first is the control.
    @Test(arguments: [
        "https://h/token", "https://other.example/token", "https://h:8443/token", "http://h/token",
        "http://h:443/token",
        "https://x@h/token", "https://h@other.example/token", "https://h/token#x", "https://h/to ken",
        "https://h\\\\@other.example/token", "https://127.0.0.1/token", "http://127.0.0.1:9/token",
        "http://localhost/token", "https://[::1]/token", "https://169.254.169.254/latest", "/token", "//h/token",
        "https://h/{token}", "https://h.other.example/token", "ftp://h/token", "https://h/\u{e9}", "https://H@h/", "",
    ])
    func `without a URL only a token server on the registry's own host and port is asked`(realm: String) async {
        let challenge = "Bearer realm=\"\(realm)\",service=\"reg\",scope=\"repository:team/app:pull\""
        let end =
            realm == "https://h/token"
            ? """
            << connect h:443
            and server 2 >> tls h
            server 2 << GET /token\(Self.pullQuery) HTTP/1.1
               Host: h
               Authorization: Basic base64(u:p)
            server 2 >> HTTP/1.1 200 OK

               {"token":"one"}
            server 2 << close
            \(Self.answered(Self.manifest, "Bearer one"))
            """
            : """
            client << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: *
               Proxy-Status: *credential ci has no token: h names*token server*
            """
        await play(
            rules: Self.own,
            """
            client >> \(Self.manifest.replacing(" /", with: " https://h/")) HTTP/1.1
               X-Forwarded-Proto: http
            << connect h:443
            and server >> tls h
            server << \(Self.manifest) HTTP/1.1
               X-Forwarded-Proto: http
            server >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: \(challenge)
            \(end.replacing("<< GET /v2/team/app/manifests/1 HTTP/1.1", with: "<< GET /v2/team/app/manifests/1 HTTP/1.1\n   X-Forwarded-Proto: http"))
            """)
    }

    @Test(arguments: [
        "http://127.0.0.1:9/tokens", "http://127.0.0.1:90/token", "https://127.0.0.1:9/token",
        "http://localhost:9/token",
        "http://127.0.0.1:9/token/", "http://u@127.0.0.1:9/token", "http://127.0.0.1:9/token#", "https://h/token",
    ])
    func `with a URL no other token server is asked`(realm: String) async {
        await play(
            rules: Self.named,
            """
            \(Self.asked(Self.manifest, "Bearer realm=\"\(realm)\",scope=\"repository:team/app:pull\""))
            client << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: *
               Proxy-Status: *credential ci has no token: h names the token server*
            """)
    }

    @Test func `a service of more than 256 bytes asks for nothing`() async {
        let service = String(repeating: "s", count: 257)
        await play(
            rules: Self.named,
            """
            \(Self.asked(Self.manifest, "Bearer \(Self.realm),service=\"\(service)\""))
            client << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: *
               Proxy-Status: *more than 256 bytes*
            """)
    }

    // MARK: - Scopes

    private static let push = "Bearer \(realm),service=\"reg\",scope=\"repository:team/app:push,pull\""
    private static let pushQuery = "?service=reg&scope=repository%3Ateam%2Fapp%3Apull%2Cpush"
    private static let upload = "POST /v2/team/app/blobs/uploads/"

    /// The order of the actions changes from response to response.
    @Test func `a push gets its own token, which serves later pulls of the repository, too`() async {
        await play(
            rules: Self.named,
            """
            \(Self.asked(Self.upload, Self.push))
            \(Self.fetched(Self.pushQuery, #"{"token":"one","expires_in":300}"#, server: 2))
            \(Self.answered(Self.upload, "Bearer one"))
            \(Self.asked(Self.manifest, Self.pull, connects: false))
            \(Self.answered(Self.manifest, "Bearer one"))
            \(Self.known("PUT /v2/team/app/manifests/1", "one"))
            \(Self.known(Self.manifest, "one"))
            """)
    }

    @Test func `a token for a pull is not refused by a push, which gets another one`() async {
        let error = Self.push + ",error=\"insufficient_scope\""
        await play(
            rules: Self.named,
            """
            \(Self.first)
            \(Self.asked(Self.upload, Self.push, connects: false))
            \(Self.fetched(Self.pushQuery, #"{"token":"two","expires_in":300}"#, server: 3))
            \(Self.answered(Self.upload, "Bearer two"))
            \(Self.asked(Self.manifest, error, connects: false, token: "one"))
            \(Self.answered(Self.manifest, "Bearer two"))
            \(Self.known(Self.manifest, "two"))
            """)
    }

    @Test func `a mount from another repository asks for both`() async {
        let path = "POST /v2/team/app/blobs/uploads/?mount=sha256:0&from=other/repo"
        await play(
            rules: Self.named,
            """
            \(Self.asked(
                path, "Bearer \(Self.realm),service=\"reg\",scope=\"repository:team/app:pull,push repository:other/repo:pull\""))
            \(Self.fetched(
                "?service=reg&scope=repository%3Aother%2Frepo%3Apull&scope=repository%3Ateam%2Fapp%3Apull%2Cpush",
                #"{"token":"one","expires_in":300}"#, server: 2))
            \(Self.answered(path, "Bearer one"))
            \(Self.known(path, "one"))
            """)
    }

    @Test func `a token server that grants less leaves the client the 401, with the reason, and nothing is on hold`()
        async
    {
        let error = Self.push + ",error=\"insufficient_scope\""
        await play(
            rules: Self.named,
            """
            \(Self.asked(Self.upload, Self.push))
            \(Self.fetched(Self.pushQuery, #"{"token":"one","expires_in":300}"#, server: 2))
            server << POST /v2/team/app/blobs/uploads/ HTTP/1.1
               Authorization: Bearer one
            server >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: \(error)
            client << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: *
               Proxy-Status: *the registry gives credential ci no push on team/app*
            \(Self.asked(Self.manifest, Self.pull, connects: false))
            \(Self.answered(Self.manifest, "Bearer one"))
            """)
    }

    @Test func `scopes beyond the rule file are not asked for`() async {
        await play(
            rules: Self.named.replacing("/token }", with: "/token; scope repository:team/*:pull }"),
            """
            \(Self.asked(Self.upload, Self.push))
            \(Self.fetched(Self.pullQuery, #"{"token":"one","expires_in":300}"#, server: 2))
            server << POST /v2/team/app/blobs/uploads/ HTTP/1.1
               Authorization: Bearer one
            server >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: \(Self.push),error="insufficient_scope"
            client << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: *
               Proxy-Status: *the registry wants push on team/app, which the rule file does not allow*
            \(Self.asked("GET /v2/other/manifests/1", "Bearer \(Self.realm),scope=\"repository:other:pull\"", connects: false))
            client << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: *
               Proxy-Status: *wants pull on other, which the rule file does not allow: write 'scope repository:other:pull'*
            """)
    }

    @Test func `a token that is refused is replaced once`() async {
        await play(
            rules: Self.named,
            """
            \(Self.first)
            \(Self.asked(Self.manifest, Self.pull + ",error=\"invalid_token\"", connects: false, token: "one"))
            \(Self.fetched(Self.pullQuery, #"{"token":"two","expires_in":300}"#, server: 3))
            server << GET /v2/team/app/manifests/1 HTTP/1.1
               Authorization: Bearer two
            server >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: \(Self.pull),error="invalid_token"
            client << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: *
               Proxy-Status: *
            """)
    }

    // MARK: - The token server's answers

    @Test func `user and password that the token server refuses are on hold there, and are sent once`() async {
        await play(
            rules: Self.named,
            """
            \(Self.asked(Self.manifest, Self.pull))
            << connect 127.0.0.1:9
            server 2 << GET /token\(Self.pullQuery) HTTP/1.1
               Authorization: Basic base64(u:p)
            server 2 >> HTTP/1.1 401 Unauthorized

               {"errors":[{"code":"UNAUTHORIZED","message":"wrong password"}]}
            server 2 << close
            client << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: *
               Proxy-Status: *was refused by http://127.0.0.1:9/token (status 401: wrong password)*
            \(Self.asked(Self.upload, Self.push, connects: false))
            client << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: *
               Proxy-Status: *credential ci*on hold*
            """)
    }

    @Test(arguments: ["429 Too Many Requests", "503 Service Unavailable"])
    func `a token server that is busy is asked again when it says so, for no repository before`(status: String) async {
        await play(
            rules: Self.named,
            """
            \(Self.asked(Self.manifest, Self.pull))
            << connect 127.0.0.1:9
            server 2 << GET /token\(Self.pullQuery) HTTP/1.1
               Authorization: Basic base64(u:p)
            server 2 >> HTTP/1.1 \(status)
               Retry-After: 20
            server 2 << close
            report cannot get a token for credential ci: *
            client << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: *
               Proxy-Status: *answered with status \(status.prefix(3))*
            after 15s
            \(Self.asked(Self.manifest, Self.pull, connects: false))
            client << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: *
               Proxy-Status: *answered with status \(status.prefix(3))*
            \(Self.asked(Self.upload, Self.push, connects: false))
            report cannot get a token for credential ci: *
            client << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: *
               Proxy-Status: *answered with status \(status.prefix(3))*
            after 5s
            \(Self.asked(Self.manifest, Self.pull, connects: false))
            \(Self.fetched(Self.pullQuery, #"{"token":"one"}"#, server: 3))
            \(Self.answered(Self.manifest, "Bearer one"))
            client >> POST http://h/v2/team/app/blobs/uploads/ HTTP/1.1
            \(Self.fetched(Self.pushQuery, #"{"token":"two"}"#, server: 4))
            \(Self.answered(Self.upload, "Bearer two"))
            """)
    }

    @Test(arguments: [
        ("302 Found\n   Location: http://127.0.0.1:8/", "*answered with status 302*"),
        ("200 OK", "*is not a JSON object*"),
        ("200 OK\n\n   {\"token\":\"\"}", "*has no usable token*"),
        ("200 OK\n\n   {\"token\":\"\(String(repeating: "x", count: 66_000))\"}", "*is too large*"),
    ])
    func `a redirect and an unusable response give no token`(response: String, reason: String) async {
        await play(
            rules: Self.named,
            """
            \(Self.asked(Self.manifest, Self.pull))
            << connect 127.0.0.1:9
            server 2 << GET /token\(Self.pullQuery) HTTP/1.1
               Authorization: Basic base64(u:p)
            server 2 >> HTTP/1.1 \(response)
            server 2 << close
            client << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: *
               Proxy-Status: *credential ci has no token: \(reason)
            """)
    }

    @Test func `a token is renewed before it ends, while requests still have the former one`() async {
        await play(
            rules: Self.named,
            """
            \(Self.asked(Self.manifest, Self.pull))
            \(Self.fetched(Self.pullQuery, #"{"token":"one","expires_in":300}"#, server: 2))
            \(Self.answered(Self.manifest, "Bearer one"))
            after 30s
            server << close
            and client >> close
            after 4min
            client >> GET http://h/v2/team/app/manifests/1 HTTP/1.1
            << connect h:80
            server 3 << GET /v2/team/app/manifests/1 HTTP/1.1
               Authorization: Bearer one
            \(Self.fetched(Self.pullQuery, #"{"token":"two","expires_in":300}"#, server: 4))
            server 3 >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            client >> GET http://h/v2/team/app/manifests/1 HTTP/1.1
            server 3 << GET /v2/team/app/manifests/1 HTTP/1.1
               Authorization: Bearer two
            server 3 >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            """)
    }

    @Test func `while the token server is down the held token serves until it ends, and then it is asked again`() async
    {
        let failed = { (server: Int) in
            """
            << connect 127.0.0.1:9
            server \(server) << GET /token\(Self.pullQuery) HTTP/1.1
               Authorization: Basic base64(u:p)
            server \(server) >> HTTP/1.1 503 Service Unavailable
            server \(server) << close
            """
        }
        await play(
            rules: Self.named,
            """
            \(Self.first)
            after 30s
            server << close
            and client >> close
            after 4min
            client >> GET http://h/v2/team/app/manifests/1 HTTP/1.1
            << connect h:80
            server 3 << GET /v2/team/app/manifests/1 HTTP/1.1
               Authorization: Bearer one
            \(failed(4))
            report cannot get a token for credential ci: *answered with status 503*
            server 3 >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            after 30s
            server 3 << close
            and client >> close
            after 1min
            client >> GET http://h/v2/team/app/manifests/1 HTTP/1.1
            \(failed(5))
            report cannot get a token for credential ci: *answered with status 503*
            << connect h:80
            server 6 << GET /v2/team/app/manifests/1 HTTP/1.1
            server 6 >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: \(Self.pull)
            client << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: *
               Proxy-Status: *credential ci has no token: *answered with status 503*
            after 5s
            client >> GET http://h/v2/team/app/manifests/1 HTTP/1.1
            \(Self.fetched(Self.pullQuery, #"{"token":"two","expires_in":300}"#, server: 7))
            server 6 << GET /v2/team/app/manifests/1 HTTP/1.1
               Authorization: Bearer two
            server 6 >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            """)
    }

    @Test(arguments: [
        "?scope=repository:team/other:push", "?service=x&account=y", "?x=http://127.0.0.1:9/token", "/../x", "%2e%2e/x",
    ])
    func `nothing of the realm but the rule file's URL is sent to the token server`(end: String) async {
        let isNamed = end.hasPrefix("?")
        let challenge = Self.pull.replacing("/token", with: "/token\(end)")
        let rest =
            isNamed
            ? """
            \(Self.fetched(Self.pullQuery, #"{"token":"one"}"#, server: 2))
            \(Self.answered(Self.manifest, "Bearer one"))
            """
            : """
            client << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: *
               Proxy-Status: *names the token server*the rule file names*
            """
        await play(
            rules: Self.named,
            """
            \(Self.asked(Self.manifest, challenge))
            \(rest)
            """)
    }

    @Test func `a client's own answer is kept`() async {
        await play(
            rules: Self.named,
            """
            client >> GET http://h/v2/team/app/manifests/1 HTTP/1.1
               Authorization: Bearer own
            << connect h:80
            server << GET /v2/team/app/manifests/1 HTTP/1.1
               Authorization: Bearer own
            server >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: \(Self.pull)
            client << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: *
               Proxy-Status: *
            """)
    }
}
