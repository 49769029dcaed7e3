import Testing

/// Credentials that a rule sends before anybody has asked for them, and where they go.
struct PreemptiveConversations {
    static let loopback = "egress { allow loopback; connect-ports any }"

    /// A key in a field of its own, for a server on this machine.
    static let key = """
        \(loopback)
        credential k { token file FILES/key; header X-Api-Key "{token}" }
        challenge "api" { host localhost; use k }
        """
    /// The key has opened a page.
    static let opened = """
        file key abc
        >> GET http://localhost/ HTTP/1.1
        << connect localhost:80
        << GET / HTTP/1.1
           X-Api-Key: abc
        >> HTTP/1.1 200 OK
        << HTTP/1.1 200 OK
        """

    @Test func `a key goes in its own field, with the first request as with all others`() async {
        await play(
            rules: Self.key,
            """
            \(Self.opened)
            >> POST http://localhost/x?y HTTP/1.1

               data
            << POST /x?y HTTP/1.1
               X-Api-Key: abc

               data
            >> HTTP/1.1 404 Not Found
            << HTTP/1.1 404 Not Found
               Proxy-Status: -
            log GET http://localhost/ 200
                credential: k
                scheme: placed
                attempts: 1
                rule: api
            log POST http://localhost/x?y 404
                credential: k
                scheme: placed
                attempts: 1
                rule: api
            """)
    }

    @Test func `the client's own fields that an application takes for the key's do not go along`() async {
        await play(
            rules: """
                \(Self.loopback)
                credential k { token abc; header X-Api-Key "{token}" }
                challenge { host localhost; use k }
                """,
            """
            >> GET http://localhost/ HTTP/1.1
               X_Api-Key: mine
               x_api_key: mine
               X-Api-Keys: mine
            << connect localhost:80
            << GET / HTTP/1.1
               X-Api-Key: abc
               X-Api-Keys: mine
               X_Api-Key: -
               x_api_key: -
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `over TLS a key goes to the host of its rule, and to no other`() async {
        await play(
            rules: """
                route * { upgrade }
                credential k { token abc; header X-Api-Key "{token}" }
                challenge { host h; secure yes; use k }
                challenge { method server-trust; anchor FILES/ca.pem; trust }
                """,
            """
            client >> GET http://h/ HTTP/1.1
            << connect h:443
            and server >> tls h
            << GET / HTTP/1.1
               X-Api-Key: abc
            >> HTTP/1.1 302 Found
               Location: https://other/
            client << HTTP/1.1 302 Found
               Location: https://other/
            client >> GET http://other/ HTTP/1.1
            << connect other:443
            and server 2 >> tls other
            server 2 << GET / HTTP/1.1
               X-Api-Key: -
            server 2 >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            """)
    }

    @Test func `a key in the query is encoded, and no response says it`() async {
        await play(
            rules: """
                \(Self.loopback)
                credential k { token "a+b/c"; query key }
                challenge { host localhost; use k }
                """,
            """
            >> GET http://localhost/x HTTP/1.1
            << connect localhost:80
            << GET /x?key=a%2Bb%2Fc HTTP/1.1
            >> HTTP/1.1 301 Moved Permanently
               Location: http://localhost/x/?key=a%2Bb%2Fc
               Content-Location: /y?a=1&key=a+b/c&b=2
               Link: </z?key=a%2bb%2Fc&p=2>; rel="next", </z?key=x>; rel="last"
               Set-Cookie: next=%2Fx%3Fkey%3Da%252Bb%252Fc%26p%3D2;key=1
            << HTTP/1.1 301 Moved Permanently
               Location: http://localhost/x/
               Content-Location: /y?a=1&b=2
               Link: </z?p=2>; rel="next", </z?key=x>; rel="last"
               Set-Cookie: next=%2Fx%3Fp%3D2;key=1
            >> GET http://localhost/x/?a=1&b HTTP/1.1
            << GET /x/?a=1&b&key=a%2Bb%2Fc HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            log GET http://localhost/x 301
                credential: k
                scheme: placed
                attempts: 1
                rule: proxy.conf:6
            log GET http://localhost/x/?a=1&b 200
                credential: k
                scheme: placed
                attempts: 1
                rule: proxy.conf:6
            """)
    }

    @Test(arguments: [
        // As often encoded as a chain of sign-on pages makes it.
        ("/in?to=%252Fx%253Fkey%253Da%25252Bb%25252Fc", "/in?to=%252Fx%253Fkey%253D***"),
        ("/in?to=%25252Fx%25253Fkey%25253Da%2525252Bb%2525252Fc", "/in?to=%25252Fx%25253Fkey%25253D***"),
        ("/in?to=/x?a=1%26key=a%2Bb%2Fc", "/in?to=/x?a=1%26key=***"),
        ("/app#/x?key=a%2Bb%2Fc", "/app#/x"), ("/app#key=a%2Bb%2Fc", "/app#key=***"), ("/app#a+b/c", "/app#***"),
        ("/x?key=a+b/c,d", "/x?key=***,d"), ("(/x?key=a+b/c)", "(/x?key=***)"), ("{/x?key=a+b/c}", "{/x?key=***}"),
        ("/x?k%65y=a%2bb%2fc", "/x?k%65y=***"), ("/x?KEY=a%2bb%2fc&b", "/x?KEY=***&b"),
        ("/x/a%2Bb%2Fc/y", "/x/***/y"), ("/x?k=YStiL2M", "/x?k=***"), ("/x?k=612b622F63", "/x?k=***"),
        (#"/x?j={"key":"a+b\/c"}"#, #"/x?j={"key":"***"}"#),
    ])
    func `a key in the query is in no response, however the server writes it`(
        location: String, shown: String
    ) async {
        await play(
            rules: """
                \(Self.loopback)
                credential k { token "a+b/c"; query key }
                challenge { host localhost; use k }
                """,
            """
            >> GET http://localhost/x HTTP/1.1
            << connect localhost:80
            << GET /x?key=a%2Bb%2Fc HTTP/1.1
            >> HTTP/1.1 302 Found
               Location: \(location)
            << HTTP/1.1 302 Found
               Location: \(shown)
            """)
    }

    @Test func `a user and a password have places of their own`() async {
        await play(
            rules: """
                \(Self.loopback)
                credential k { user me@h; password p&q; header X-Auth-Email "{user}"; header X-Auth-Key "{user}:{password}" }
                challenge { host localhost; use k }
                """,
            """
            >> GET http://localhost/ HTTP/1.1
            << connect localhost:80
            << GET / HTTP/1.1
               X-Auth-Email: me@h
               X-Auth-Key: me@h:p&q
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a client's own key is kept, and no log shows it`() async {
        await play(
            rules: """
                \(Self.loopback)
                credential k { token abc; header X-Api-Key; query key }
                challenge { host localhost; use k }
                """,
            """
            >> GET http://localhost/ HTTP/1.1
               x-api-key: own
            << connect localhost:80
            << GET / HTTP/1.1
               X-Api-Key: own
            >> HTTP/1.1 401 Unauthorized
            << HTTP/1.1 401 Unauthorized
               Proxy-Status: *
            >> GET http://localhost/?a=1&key=own&b=2 HTTP/1.1
            << GET /?a=1&key=own&b=2 HTTP/1.1
               X-Api-Key: -
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            log GET http://localhost/ 401
                details: *
            log GET http://localhost/?a=1&key=***&b=2 200
            """)
    }

    @Test func `a client's own key is replaced where a rule says so`() async {
        await play(
            rules: """
                \(Self.loopback)
                credential k { token abc; header X-Api-Key; query key }
                challenge { host localhost; use k; authorization replace }
                """,
            """
            >> GET http://localhost/?key=own&a=1&k%65y=more HTTP/1.1
               x-api-key: own
               X-API-KEY: another
               Authorization: Bearer own
            << connect localhost:80
            << GET /?a=1&key=abc HTTP/1.1
               X-Api-Key: abc
               x-api-key: -
               Authorization: -
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test(arguments: ["X-Auth-Token", "x_access_token", "DPoP", "PRIVATE-TOKEN"])
    func `where a rule replaces the client's key, its keys in other fields go too, and its cookies stay`(
        field: String
    ) async {
        await play(
            rules: """
                \(Self.loopback)
                credential k { token abc; header X-Api-Key }
                challenge { host localhost; use k; authorization replace }
                """,
            """
            >> GET http://localhost/ HTTP/1.1
               \(field): own
               Cookie: page=2
            << connect localhost:80
            << GET / HTTP/1.1
               Cookie: page=2
               X-Api-Key: abc
               \(field): -
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `without a word about the client's key, its keys in other fields stay`() async {
        await play(
            rules: """
                \(Self.loopback)
                credential k { token abc; header X-Api-Key }
                challenge { host localhost; use k }
                """,
            """
            >> GET http://localhost/ HTTP/1.1
               X-Auth-Token: own
            << connect localhost:80
            << GET / HTTP/1.1
               X-Auth-Token: own
               X-Api-Key: abc
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a client's own Authorization stays beside a key in another place`() async {
        await play(
            rules: """
                \(Self.key)
                credential a { user u; password p }
                challenge { host localhost; use a }
                """,
            """
            file key abc
            >> GET http://localhost/ HTTP/1.1
               Authorization: Bearer own
            << connect localhost:80
            << GET / HTTP/1.1
               Authorization: Bearer own
               X-Api-Key: abc
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: *
            """)
    }

    @Test func `a challenge is answered beside a key in another place`() async {
        await play(
            rules: """
                \(Self.key)
                credential a { user u; password p }
                challenge { host localhost; use a }
                """,
            """
            file key abc
            >> GET http://localhost/ HTTP/1.1
            << connect localhost:80
            << GET / HTTP/1.1
               X-Api-Key: abc
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << GET / HTTP/1.1
               X-Api-Key: abc
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a token that no field can carry is refused here`() async {
        await play(
            rules: Self.key,
            """
            file key a\\r\\nX-Evil: 1
            >> GET http://localhost/ HTTP/1.1
            report credential k has a character that cannot be sent
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *every request to this server needs credential k, which cannot be used*

               every request to this server needs credential k, which cannot be used*
            """)
    }

    @Test func `a token goes by Bearer before any challenge where a rule says always`() async {
        await play(
            rules: """
                \(Self.loopback)
                credential t { token abc }
                challenge { host localhost; use t; preempt always }
                """,
            """
            >> GET http://localhost/ HTTP/1.1
            << connect localhost:80
            << GET / HTTP/1.1
               Authorization: Bearer abc
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://localhost/a/b HTTP/1.1
            << GET /a/b HTTP/1.1
               Authorization: Bearer abc
            >> HTTP/1.1 404 Not Found
            << HTTP/1.1 404 Not Found
            >> GET http://localhost/ HTTP/1.1
               Authorization: Bearer own
            << GET / HTTP/1.1
               Authorization: Bearer own
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `in clear nothing goes unasked to a parent`() async {
        await play(
            rules: """
                parent p { http p:8080 }
                route * { via p }
                \(Self.key)
                """,
            """
            file key abc
            >> GET http://localhost/ HTTP/1.1
            << connect p:8080
            << GET http://localhost/ HTTP/1.1
               X-Api-Key: -
            >> HTTP/1.1 401 Unauthorized
            << HTTP/1.1 401 Unauthorized
               Proxy-Status: *
            """)
    }
}
