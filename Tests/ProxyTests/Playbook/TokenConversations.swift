import Testing

/// Bearer tokens that are fetched where they are given.
struct TokenConversations {
    static let rules = """
        credential crm { oauth2 http://127.0.0.1:9/token; client-id c; client-secret s }
        challenge "api" { host h; use crm }
        timeouts { connect 10s; response 30s }
        """

    /// The steps from the first request until it is answered.
    static let first = """
        >> GET http://h/1 HTTP/1.1
        << connect h:80
        << GET /1 HTTP/1.1
        >> HTTP/1.1 401 Unauthorized
           WWW-Authenticate: Bearer
        << connect 127.0.0.1:9
        server 2 << POST /token HTTP/1.1
           Host: 127.0.0.1:9
           Authorization: Basic base64(c:s)
           Content-Type: application/x-www-form-urlencoded

           grant_type=client_credentials
        server 2 >> HTTP/1.1 200 OK

           {"access_token":"one","token_type":"Bearer","expires_in":3600}
        server 2 << close
        server << GET /1 HTTP/1.1
           Authorization: Bearer one
        >> HTTP/1.1 200 OK
        << HTTP/1.1 200 OK
        log GET http://h/1 200
            rule: api
            scheme: bearer
            credential: crm
            attempts: 1
        """

    /// The steps from the first request until its token is requested.
    static let asked = """
        client >> GET http://h/1 HTTP/1.1
        << connect h:80
        server << GET /1 HTTP/1.1
        server >> HTTP/1.1 401 Unauthorized
                  WWW-Authenticate: Bearer
        << connect 127.0.0.1:9
        server 2 << POST /token HTTP/1.1
                    Authorization: Basic base64(c:s)

                    grant_type=client_credentials
        """

    @Test(arguments: [(#", scope="write""#, " (write)"), ("", "")])
    func `a 403 for missing scopes gets no other token where the rule file fixes the scopes, and says so`(
        parameter: String, wanted: String
    ) async {
        await play(
            rules: Self.rules.replacing("client-secret s }", with: "client-secret s; scope read }"),
            """
            \(Self.first.replacing("client_credentials", with: "client_credentials&scope=read"))
            >> GET http://h/2 HTTP/1.1
            << GET /2 HTTP/1.1
               Authorization: Bearer one
            >> HTTP/1.1 403 Forbidden
               WWW-Authenticate: Bearer error="insufficient_scope"\(parameter)
            << HTTP/1.1 403 Forbidden
               WWW-Authenticate: Bearer error="insufficient_scope"\(parameter)
               Proxy-Status: *the token of credential crm lacks the scope that the origin requires\(wanted): its scopes are fixed*
            journal bearer h:80 passed
                reason: *its scopes are fixed in the rule file*
            log GET http://h/2 403
                rule: api
                scheme: bearer
                credential: crm
                attempts: 1
                details: *its scopes are fixed in the rule file
            >> GET http://h/3 HTTP/1.1
            << GET /3 HTTP/1.1
               Authorization: Bearer one
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            log GET http://h/3 200
                rule: api
                scheme: bearer
                credential: crm
                attempts: 1
            """)
    }

    @Test func `a token is fetched when it is first asked for, and goes along from then on`() async {
        await play(
            rules: Self.rules,
            """
            \(Self.first)
            >> GET http://h/2 HTTP/1.1
            << GET /2 HTTP/1.1
               Authorization: Bearer one
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            log GET http://h/2 200
                rule: api
                scheme: bearer
                credential: crm
                attempts: 1
            """)
    }

    @Test func `a token that is refused is replaced once, and the next refusal is the client's`() async {
        await play(
            rules: Self.rules,
            """
            \(Self.first)
            >> GET http://h/2 HTTP/1.1
            << GET /2 HTTP/1.1
               Authorization: Bearer one
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer error="invalid_token"
            << connect 127.0.0.1:9
            server 3 << POST /token HTTP/1.1
               Authorization: Basic base64(c:s)

               grant_type=client_credentials
            server 3 >> HTTP/1.1 200 OK

               {"access_token":"two","token_type":"Bearer","expires_in":3600}
            server 3 << close
            server << GET /2 HTTP/1.1
               Authorization: Bearer two
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer error="invalid_token"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer error="invalid_token"
               Proxy-Status: *
            log GET http://h/2 401
                rule: api
                scheme: bearer
                credential: crm
                attempts: 2
            """)
    }

    @Test func `a token is renewed before it ends, beside the request that uses it`() async {
        await play(
            rules: Self.rules,
            """
            \(Self.first)
            after 30s
            server << close
            and client >> close
            after 53min
            client >> GET http://h/2 HTTP/1.1
            << connect h:80
            server 3 << GET /2 HTTP/1.1
                        Authorization: Bearer one
            << connect 127.0.0.1:9
            server 4 << POST /token HTTP/1.1
                        Authorization: Basic base64(c:s)

                        grant_type=client_credentials
            server 3 >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            log GET http://h/2 200
                rule: api
                scheme: bearer
                credential: crm
                attempts: 1
            server 4 >> HTTP/1.1 200 OK

                        {"access_token":"two","token_type":"Bearer"}
            server 4 << close
            >> GET http://h/3 HTTP/1.1
            server 3 << GET /3 HTTP/1.1
                        Authorization: Bearer two
            """)
    }

    @Test func `two requests wait for one token`() async {
        await play(
            rules: Self.rules,
            """
            \(Self.asked)
            client 2 >> GET http://h/2 HTTP/1.1
            after 1s
            << connect h:80
            server 3 << GET /2 HTTP/1.1
            server 3 >> HTTP/1.1 401 Unauthorized
                        WWW-Authenticate: Bearer
            server 2 >> HTTP/1.1 200 OK

                        {"access_token":"one","token_type":"Bearer"}
            server 2 << close
            server << GET /1 HTTP/1.1
                      Authorization: Bearer one
            server >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            server 3 << GET /2 HTTP/1.1
                        Authorization: Bearer one
            server 3 >> HTTP/1.1 200 OK
            client 2 << HTTP/1.1 200 OK
            """)
    }

    @Test func `a client that leaves while its token is fetched leaves the token to others`() async {
        await play(
            rules: Self.rules,
            """
            \(Self.asked)
            client >> close
            server << close
            server 2 >> HTTP/1.1 200 OK

                        {"access_token":"one","token_type":"Bearer"}
            server 2 << close
            client 2 >> GET http://h/2 HTTP/1.1
            << connect h:80
            server 3 << GET /2 HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer
            server 3 << GET /2 HTTP/1.1
               Authorization: Bearer one
            >> HTTP/1.1 200 OK
            client 2 << HTTP/1.1 200 OK
            """)
    }
}
