import Testing

/// `placeholder`: a text of a client that a credential replaces.
struct PlaceholderConversations {
    private static let key = "sk-attache-ai-5f0c3d2e9b7a4168"
    private static let git = "ghp_attache.5f0c3d2e9b7a4168"

    private static let rules = """
        credential ai { token abc; header X-Api-Key; placeholder \(key) }
        credential git { user u; password p; placeholder \(git) }
        challenge "model" { host localhost; port 80; use ai }
        challenge "git" { host localhost; port 8080; use git }

        """

    private static let refused = """
        << HTTP/1.1 403 Forbidden
           Proxy-Status: *

           *
        """

    private static let served = """
        >> HTTP/1.1 200 OK
        << HTTP/1.1 200 OK
        """

    @Test(arguments: [
        ("Authorization: Bearer KEY", "Authorization: Bearer abc"), ("authorization: KEY", "authorization: abc"),
        ("Authorization: token  KEY  more", "Authorization: token  abc  more"), ("X-Api-Key: KEY", "X-Api-Key: abc"),
        ("x-api-key:\tKEY ", "x-api-key: abc"),
        ("Authorization: Basic base64(KEY:)", "Authorization: Basic base64(abc:)"),
        ("Authorization: basic  base64(KEY:x-oauth)", "Authorization: Basic base64(abc:x-oauth)"),
        ("Authorization: Basic base64(me:KEY)", "Authorization: Basic base64(me:abc)"),
    ])
    func `a client's placeholder is replaced, and nothing else`(written: String, sent: String) async {
        let written = written.replacing("KEY", with: Self.key)
        await play(
            rules: Self.rules,
            """
            >> GET http://localhost/v1 HTTP/1.1
               \(written)
               User-Agent: x
            << connect localhost:80
            << GET /v1 HTTP/1.1
               \(sent)
               User-Agent: x
            \(Self.served)
            log GET http://localhost/v1 200
                credential: ai
                scheme: placed
                attempts: 1
                rule: model
            """)
    }

    @Test func `a password replaces it as git and docker send it`() async {
        await play(
            rules: Self.rules,
            """
            >> GET http://localhost:8080/v2/ HTTP/1.1
               Authorization: Basic base64(builder:\(Self.git))
            << connect localhost:8080
            << GET /v2/ HTTP/1.1
               Authorization: Basic base64(builder:p)
            \(Self.served)
            """)
    }

    @Test func `nothing goes with a request without it, and the server's challenge goes to the client`() async {
        await play(
            rules: Self.rules,
            """
            >> GET http://localhost:8080/repo HTTP/1.1
            << connect localhost:8080
            << GET /repo HTTP/1.1
               Authorization: -
               X-Api-Key: -
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: *
            >> GET http://localhost:8080/repo HTTP/1.1
               Authorization: Basic base64(me:\(Self.git))
            << GET /repo HTTP/1.1
               Authorization: Basic base64(me:p)
            \(Self.served)
            """)
    }

    /// Each is a 403, and no server is asked.
    static let misplacements = [
        // Another host, another rule, another credential's rule.
        "GET http://other/ HTTP/1.1\n   Authorization: Bearer KEY",
        "GET http://localhost:8080/ HTTP/1.1\n   Authorization: Bearer KEY",
        "GET http://localhost/ HTTP/1.1\n   Authorization: Basic base64(x:GIT)",
        // Another field.
        "GET http://localhost/ HTTP/1.1\n   User-Agent: KEY", "GET http://localhost/ HTTP/1.1\n   Cookie: a=KEY",
        "GET http://localhost/ HTTP/1.1\n   X_Api_Key: KEY",
        "GET http://localhost/ HTTP/1.1\n   Proxy-Authorization: Bearer KEY",
        "GET http://localhost/ HTTP/1.1\n   KEY: a",
        "GET http://localhost:8080/ HTTP/1.1\n   X-Api-Key: GIT",
        // The URL.
        "GET http://localhost/?key=KEY HTTP/1.1", "GET http://localhost/KEY HTTP/1.1",
        "GET http://u:KEY@localhost/ HTTP/1.1",
        "GET http://KEY/ HTTP/1.1",
        // Not the whole word.
        "GET http://localhost/ HTTP/1.1\n   Authorization: Bearer KEYx",
        "GET http://localhost/ HTTP/1.1\n   Authorization: Bearer xKEY",
        "GET http://localhost/ HTTP/1.1\n   Authorization: Token token=KEY",
        "GET http://localhost/ HTTP/1.1\n   Authorization: Bearer \"KEY\"",
        "GET http://localhost/ HTTP/1.1\n   Authorization: Basic base64(u:xKEY)",
        "GET http://localhost/ HTTP/1.1\n   Authorization: Basic base64(u:v:KEY)",
        "GET http://localhost/ HTTP/1.1\n   Authorization: Basic base64(KEY)",
        // Twice.
        "GET http://localhost/ HTTP/1.1\n   Authorization: Bearer KEY KEY",
        "GET http://localhost/ HTTP/1.1\n   Authorization: Bearer KEY\n   X-Api-Key: KEY",
        "GET http://localhost/ HTTP/1.1\n   Authorization: Bearer KEY\n   User-Agent: KEY",
        "GET http://localhost/ HTTP/1.1\n   Authorization: Basic base64(KEY:KEY)",
        "GET http://localhost/ HTTP/1.1\n   X-Api-Key: KEY\n   Authorization: Basic base64(x:KEY)",
        "GET http://localhost/ HTTP/1.1\n   X-Api-Key: KEY\n   Authorization: Basic base64(x:GIT)",
        // One of two.
        "GET http://localhost/ HTTP/1.1\n   Authorization: Bearer KEY\n   Authorization: Bearer own",
        "GET http://localhost/ HTTP/1.1\n   Authorization: Bearer own\n   authorization: Basic base64(u:KEY)",
        "GET http://localhost/ HTTP/1.1\n   X-Api-Key: KEY\n   x-api-key: own",
        // Named by Connection.
        "GET http://localhost/ HTTP/1.1\n   X-Api-Key: KEY\n   Connection: x-api-key",
        // A response that would show it.
        "TRACE http://localhost/ HTTP/1.1\n   Authorization: Bearer KEY",
        // A tunnel.
        "CONNECT localhost:443 HTTP/1.1\n   Authorization: Bearer KEY",
        "CONNECT localhost:80 HTTP/1.1\n   X-Api-Key: KEY",
        "CONNECT localhost:443 HTTP/1.1\n   Proxy-Authorization: Basic KEY",
        // A change of protocol, in the field that browsers use.
        "GET http://localhost/ HTTP/1.1\n   Connection: upgrade\n   Upgrade: websocket\n   Sec-WebSocket-Protocol: a, KEY",
    ]

    @Test(arguments: misplacements)
    func `anywhere else it is a 403 that names the rule, and no server is asked`(request: String) async {
        let request = request.replacing("KEY", with: Self.key).replacing("GIT", with: Self.git)
        // Basic is searched first.
        let rule = request.contains(Self.key) && !request.contains(Self.git) ? "model" : "git"
        await play(
            rules: Self.rules,
            """
            >> \(request)
            << HTTP/1.1 403 Forbidden
               Proxy-Status: *rule \\"\(rule)\\" has a placeholder that is replaced only there*

               *
            metric attache_placeholders_misplaced_total 1
            """)
    }

    @Test func `by http to another machine it is refused, and a rule for https does not replace it`() async {
        await play(
            rules: """
                credential ai { token abc; placeholder \(Self.key) }
                challenge "model" { host h; secure yes; use ai }
                """,
            """
            >> GET http://h/ HTTP/1.1
               Authorization: Bearer \(Self.key)
            << HTTP/1.1 403 Forbidden
               Proxy-Status: *for h port 80 by http*

               *
            """)
    }

    @Test func `a parent that could read it does not get it`() async {
        await play(
            rules: """
                \(Self.rules)
                parent p { http p:3128 }
                route localhost { via p }
                """,
            """
            >> GET http://localhost/ HTTP/1.1
               Authorization: Bearer \(Self.key)
            << HTTP/1.1 403 Forbidden
               Proxy-Status: *where a parent proxy could read it*

               *
            """)
    }

    @Test func `in an intercepted tunnel it is replaced for the tunnel's host`() async {
        await play(
            rules: "route * { intercept }\n" + Self.rules,
            """
            >> CONNECT localhost:80 HTTP/1.1
            << HTTP/1.1 200 Connection established
            >> GET / HTTP/1.1
               Host: localhost
               Authorization: Bearer \(Self.key)
            << connect localhost:80
            << GET / HTTP/1.1
               Authorization: Bearer abc
            \(Self.served)
            >> GET / HTTP/1.1
               Host: localhost
               Proxy-Authorization: Bearer \(Self.key)
            \(Self.refused)
            """)
    }

    @Test func `a change of protocol takes the credential along`() async {
        await play(
            rules: Self.rules,
            """
            >> GET http://localhost/ws HTTP/1.1
               Connection: upgrade
               Upgrade: websocket
               Authorization: Bearer \(Self.key)
            << connect localhost:80
            << GET /ws HTTP/1.1
               Authorization: Bearer abc
               Upgrade: websocket
            >> HTTP/1.1 101 Switching Protocols
               Connection: upgrade
               Upgrade: websocket
            << HTTP/1.1 101 Switching Protocols
            client >> "\(Self.key)"
            server << "\(Self.key)"
            """)
    }

    @Test func `with 'authorization refuse' a client may bring the placeholder and nothing else`() async {
        let rules = """
            credential ai { token abc; header X-Api-Key; placeholder \(Self.key) }
            challenge "model" { host localhost; use ai; authorization refuse }
            """
        await play(
            rules: rules,
            """
            >> GET http://localhost/ HTTP/1.1
               Authorization: Bearer \(Self.key)
            << connect localhost:80
            << GET / HTTP/1.1
               Authorization: Bearer abc
            \(Self.served)
            >> GET http://localhost/ HTTP/1.1
               X-Api-Key: \(Self.key)
            << GET / HTTP/1.1
               X-Api-Key: abc
            \(Self.served)
            >> GET http://localhost/ HTTP/1.1
               Authorization: Basic base64(me:\(Self.key))
            << GET / HTTP/1.1
               Authorization: Basic base64(me:abc)
            \(Self.served)
            """)
        for own in [
            "Authorization: Bearer own", "X-Api-Key: own", "Authorization: Bearer \(Self.key)\n   X-Api-Key: own",
            "X-Api-Key: \(Self.key)\n   Authorization: Bearer own", "X-Api-Key: \(Self.key)\n   Cookie: a=b",
            "X-Api-Key: \(Self.key)\n   X_Api_Key: own",
            "Authorization: Bearer own \(Self.key)", "Authorization: Bearer \(Self.key) own",
        ] {
            await play(
                rules: rules,
                """
                >> GET http://localhost/ HTTP/1.1
                   \(own)
                << HTTP/1.1 403 Forbidden
                   Proxy-Status: *lets no client bring a credential of its own*

                   *
                """)
        }
    }

    @Test func `with 'authorization replace' it is sent once`() async {
        await play(
            rules: """
                credential ai { token abc; placeholder \(Self.key) }
                challenge "model" { host localhost; use ai; authorization replace }
                """,
            """
            >> GET http://localhost/ HTTP/1.1
               Authorization: Bearer \(Self.key)
            << connect localhost:80
            << GET / HTTP/1.1
               Authorization: Bearer abc
            \(Self.served)
            >> GET http://localhost/ HTTP/1.1
               Authorization: Bearer own
            << GET / HTTP/1.1
               Authorization: -
            \(Self.served)
            """)
    }

    @Test func `a refused credential goes on hold, and then the placeholder goes nowhere either`() async {
        await play(
            rules: Self.rules,
            """
            >> GET http://localhost/1 HTTP/1.1
               Authorization: Bearer \(Self.key)
            << connect localhost:80
            << GET /1 HTTP/1.1
               Authorization: Bearer abc
            >> HTTP/1.1 401 Unauthorized
            << HTTP/1.1 401 Unauthorized
               Proxy-Status: *
            >> GET http://localhost/2 HTTP/1.1
               Authorization: Bearer \(Self.key)
            << GET /2 HTTP/1.1
               Authorization: Bearer abc
            >> HTTP/1.1 401 Unauthorized
            << HTTP/1.1 401 Unauthorized
               Proxy-Status: *
            >> GET http://localhost/3 HTTP/1.1
               Authorization: Bearer \(Self.key)
            << GET /3 HTTP/1.1
               Authorization: -
            >> HTTP/1.1 401 Unauthorized
            << HTTP/1.1 401 Unauthorized
               Proxy-Status: *
            """)
    }

    @Test func `a request that is sent again has it again`() async {
        await play(
            rules: Self.rules,
            """
            >> GET http://localhost/ HTTP/1.1
               Authorization: Bearer \(Self.key)
            << connect localhost:80
            << GET / HTTP/1.1
               Authorization: Bearer abc
            \(Self.served)
            >> GET http://localhost/ HTTP/1.1
               Authorization: Bearer \(Self.key)
            << GET / HTTP/1.1
               Authorization: Bearer abc
            server >> close
            << connect localhost:80
            << GET / HTTP/1.1
               Authorization: Bearer abc
            \(Self.served)
            """)
    }

    @Test func `it is found behind fields that the client repeats, and beside others that are new`() async {
        let plain = """
            >> GET http://localhost/ HTTP/1.1
               User-Agent: x
            << GET / HTTP/1.1
               Authorization: -
            \(Self.served)
            """
        await play(
            rules: Self.rules,
            """
            >> GET http://localhost/ HTTP/1.1
               User-Agent: x
            << connect localhost:80
            << GET / HTTP/1.1
               Authorization: -
            \(Self.served)
            \(plain)
            >> GET http://localhost/?\(Self.key) HTTP/1.1
               User-Agent: x
            \(Self.refused)
            \(plain)
            >> GET http://localhost/ HTTP/1.1
               User-Agent: x
               X-Api-Key: \(Self.key)
            << GET / HTTP/1.1
               X-Api-Key: abc
            \(Self.served)
            >> GET http://localhost/ HTTP/1.1
               User-Agent: x
               X-Api-Key: \(Self.key)
            << GET / HTTP/1.1
               X-Api-Key: abc
            \(Self.served)
            \(plain)
            >> GET http://other/ HTTP/1.1
               User-Agent: x
               X-Api-Key: \(Self.key)
            \(Self.refused)
            """)
    }

    @Test func `of two placeholders the longer one counts`() async {
        await play(
            rules: """
                credential short { token s; placeholder \(Self.key) }
                credential long { token l; placeholder \(Self.key)-long }
                challenge { host localhost; port 80; use short }
                challenge { host localhost; port 81; use long }
                """,
            """
            >> GET http://localhost/ HTTP/1.1
               Authorization: Bearer \(Self.key)
            << connect localhost:80
            << GET / HTTP/1.1
               Authorization: Bearer s
            \(Self.served)
            >> GET http://localhost:81/ HTTP/1.1
               Authorization: Bearer \(Self.key)-long
            << connect localhost:81
            << GET / HTTP/1.1
               Authorization: Bearer l
            \(Self.served)
            >> GET http://localhost/ HTTP/1.1
               Authorization: Bearer \(Self.key)-long
            \(Self.refused)
            """)
    }

    @Test func `a rule that only reports replaces nothing and refuses nothing`() async {
        await play(
            rules: """
                mode report
                \(Self.rules)
                """,
            """
            >> GET http://localhost/ HTTP/1.1
               Authorization: Bearer \(Self.key)
            << connect localhost:80
            << GET / HTTP/1.1
               Authorization: Bearer \(Self.key)
            \(Self.served)
            """)
    }

    @Test(arguments: ["Authorization: Bearer KEY", "Authorization: Basic base64(u:KEY)"])
    func `a placeholder that a reload adds is found, although the client repeats its fields`(field: String) async {
        let field = field.replacing("KEY", with: Self.key)
        await play(
            rules: """
                credential git { user u; password p; placeholder \(Self.git) }
                challenge "git" { host localhost; port 8080; use git }
                """,
            """
            >> GET http://localhost/ HTTP/1.1
               \(field)
            << connect localhost:80
            << GET / HTTP/1.1
               \(field)
            \(Self.served)
            reload
               credential ai { token abc; placeholder \(Self.key) }
               challenge "model" { host localhost; port 8081; use ai }
            server << close
            >> GET http://localhost/ HTTP/1.1
               \(field)
            \(Self.refused)
            """)
    }

    @Test func `a body is not searched`() async {
        await play(
            rules: Self.rules,
            """
            >> POST http://localhost/ HTTP/1.1

               \(Self.key)
            << connect localhost:80
            << POST / HTTP/1.1
               Authorization: -

               \(Self.key)
            \(Self.served)
            """)
    }

    @Test func `a folded field is malformed as ever`() async {
        await play(
            rules: Self.rules,
            #"""
            client >> "GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer\r\n \#(Self.key)\r\n\r\n"
            << HTTP/1.1 400 Bad Request
               Proxy-Status: *

               *
            client << end
            """#)
    }

    @Test func `a secret with a colon is no user of Basic`() async {
        await play(
            rules: """
                credential ai { token a:b; placeholder \(Self.key) }
                challenge { host localhost; use ai }
                """,
            """
            >> GET http://localhost/ HTTP/1.1
               Authorization: Basic base64(\(Self.key):x)
            << connect localhost:80
            << GET / HTTP/1.1
               Authorization: -
            \(Self.served)
            """)
    }

    @Test func `the log and the operator learn of a misplaced one, with its rule and without the credential`() async {
        await play(
            rules: Self.rules,
            """
            >> GET http://localhost/ HTTP/1.1
               Cookie: k=\(Self.key)
            \(Self.refused)
            log GET http://localhost/ 403
                error: http_request_denied
                details: rule "model" has a placeholder that is replaced only there, and this request has it in the field Cookie
            """)
    }
}
