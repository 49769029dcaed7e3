import Testing

/// Bearer tokens that are fetched where they are given.
struct TokenConversations {
    private static let rules = """
        credential crm { oauth2 http://127.0.0.1:9/token; client-id c; client-secret s }
        challenge "api" { host h; use crm }
        timeouts { connect 10s; response 30s }
        """

    /// From the first request until it is answered.
    private static let first = """
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
            report *
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

    @Test func `an endpoint that is down is asked again after five seconds, not before`() async {
        await play(
            rules: Self.rules,
            """
            >> GET http://h/1 HTTP/1.1
            << connect h:80
            << GET /1 HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer
            << connect 127.0.0.1:9 refused
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *credential crm has no token*
            report credential crm gets no token: *
            log GET http://h/1 502
                rule: api
                error: http_request_denied
            server << close
            after 4s
            >> GET http://h/2 HTTP/1.1
            << connect h:80
            server 3 << GET /2 HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *credential crm has no token*
            server 3 << close
            log GET http://h/2 502
                rule: api
                error: http_request_denied
            after 1s
            >> GET http://h/3 HTTP/1.1
            << connect h:80
            server 4 << GET /3 HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer
            << connect 127.0.0.1:9
            server 5 << POST /token HTTP/1.1
               Authorization: Basic base64(c:s)

               grant_type=client_credentials
            server 5 >> HTTP/1.1 200 OK

               {"access_token":"one","token_type":"Bearer"}
            server 5 << close
            server 4 << GET /3 HTTP/1.1
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

    @Test func `an endpoint that does not answer in time`() async {
        await play(
            rules: Self.rules,
            """
            client >> GET http://h/1 HTTP/1.1
            << connect h:80
            server << GET /1 HTTP/1.1
            server >> HTTP/1.1 401 Unauthorized
                      WWW-Authenticate: Bearer
            << connect 127.0.0.1:9
            server 2 << POST /token HTTP/1.1
                        Authorization: Basic base64(c:s)

                        grant_type=client_credentials
            after 29s
            after 1s
            server 2 << close
            server << close
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *credential crm has no token: *did not answer in time*
            report credential crm gets no token: *
            log GET http://h/1 502
                rule: api
                error: http_request_denied
                ms: 30000
            """)
    }

    @Test func `a client that the endpoint refuses is not shown to it again`() async {
        await play(
            rules: Self.rules,
            """
            client >> GET http://h/1 HTTP/1.1
            << connect h:80
            server << GET /1 HTTP/1.1
            server >> HTTP/1.1 401 Unauthorized
                      WWW-Authenticate: Bearer
            << connect 127.0.0.1:9
            server 2 << POST /token HTTP/1.1
                        Authorization: Basic base64(c:s)

                        grant_type=client_credentials
            server 2 >> HTTP/1.1 401 Unauthorized

                        {"error":"invalid_client"}
            server 2 << close
            server << close
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *invalid_client*
            report credential crm gets no token: *
            after 20s
            >> GET http://h/2 HTTP/1.1
            << connect h:80
            server 3 << GET /2 HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer
            server 3 << close
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *invalid_client*
            """)
    }

    @Test func `two requests wait for one token`() async {
        await play(
            rules: Self.rules,
            """
            client >> GET http://h/1 HTTP/1.1
            << connect h:80
            server << GET /1 HTTP/1.1
            server >> HTTP/1.1 401 Unauthorized
                      WWW-Authenticate: Bearer
            << connect 127.0.0.1:9
            server 2 << POST /token HTTP/1.1
                        Authorization: Basic base64(c:s)

                        grant_type=client_credentials
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
            client >> GET http://h/1 HTTP/1.1
            << connect h:80
            server << GET /1 HTTP/1.1
            server >> HTTP/1.1 401 Unauthorized
                      WWW-Authenticate: Bearer
            << connect 127.0.0.1:9
            server 2 << POST /token HTTP/1.1
                        Authorization: Basic base64(c:s)

                        grant_type=client_credentials
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
