import Testing

/// Token endpoints that are down, slow, or refuse.
struct TokenEndpointConversations {
    private static let rules = TokenConversations.rules

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
            report cannot get a token for credential crm: *
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

    @Test func `an endpoint that is down serves the token that it gave until that ends, and no longer`() async {
        await play(
            rules: Self.rules,
            """
            \(TokenConversations.first)
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
            server 4 >> HTTP/1.1 503 Service Unavailable
            server 4 << close
            report cannot get a token for credential crm: *answered with status 503*
            server 3 >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            log GET http://h/2 200
                rule: api
                scheme: bearer
                credential: crm
                attempts: 1
            after 30s
            server 3 << close
            and client >> close
            after 7min
            client >> GET http://h/3 HTTP/1.1
            << connect 127.0.0.1:9
            server 5 << POST /token HTTP/1.1
                        Authorization: Basic base64(c:s)

                        grant_type=client_credentials
            server 5 >> HTTP/1.1 503 Service Unavailable
            server 5 << close
            << connect h:80
            server 6 << GET /3 HTTP/1.1
            server 6 >> HTTP/1.1 401 Unauthorized
                        WWW-Authenticate: Bearer
            server 6 << close
            client << HTTP/1.1 502 Bad Gateway
                      Proxy-Status: *

                      *credential crm has no token: *answered with status 503*
            report cannot get a token for credential crm: *answered with status 503*
            log GET http://h/3 502
                rule: api
                error: http_request_denied
            """)
    }

    @Test func `an endpoint that does not answer in time`() async {
        await play(
            rules: Self.rules,
            """
            \(TokenConversations.asked)
            after 29s
            after 1s
            server 2 << close
            server << close
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *credential crm has no token: *did not answer in time*
            report cannot get a token for credential crm: *
            log GET http://h/1 502
                rule: api
                error: http_request_denied
                ms: 30000
            """)
    }

    @Test(arguments: ["HTTP/1.1 102 Processing\\r\\n\\r\\n", " "])
    func `an endpoint that trickles has the time of a response for all of it`(piece: String) async {
        let verdict = piece == " " ? "its answer takes too long" : "did not answer in time"
        let head = piece == " " ? "HTTP/1.1 200 OK\\r\\nContent-Length: 9999\\r\\n\\r\\n" : piece
        await play(
            rules: Self.rules,
            """
            \(TokenConversations.asked)
            server 2 >> "\(head)"
            after 9s
            server 2 >> "\(piece)"
            after 9s
            server 2 >> "\(piece)"
            after 9s
            server 2 >> "\(piece)"
            after 3s
            server 2 << close
            server << close
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *credential crm has no token: *\(verdict)*
            report cannot get a token for credential crm: *
            """)
    }

    @Test func `a client that the endpoint refuses is shown to it again after half an hour`() async {
        await play(
            rules: Self.rules,
            """
            \(TokenConversations.asked)
            server 2 >> HTTP/1.1 401 Unauthorized

                        {"error":"invalid_client"}
            server 2 << close
            server << close
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *credential crm has no token: it was refused by http://127.0.0.1:9/token (invalid_client)*
            report credential crm was refused by http://127.0.0.1:9/token (invalid_client)*
            after 20s
            >> GET http://h/2 HTTP/1.1
            << connect h:80
            server 3 << GET /2 HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer
            server 3 << close
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *(invalid_client) and is on hold: the next try is in 30 minutes*
            after 30min
            client << close
            client 2 >> GET http://h/3 HTTP/1.1
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
            server 4 >> HTTP/1.1 200 OK
            client 2 << HTTP/1.1 200 OK
            """)
    }

    @Test func `a client that the endpoint accepted before is shown to it again after half a minute`() async {
        await play(
            rules: """
                credential crm { oauth2 http://127.0.0.1:9/token; client-id c; client-secret s }
                challenge "api" { host h; use crm }
                """,
            """
            \(TokenConversations.asked)
            server 2 >> HTTP/1.1 200 OK

                        {"access_token":"one","token_type":"Bearer","expires_in":1}
            server 2 << close
            server << GET /1 HTTP/1.1
               Authorization: Bearer one
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            after 2s
            >> GET http://h/2 HTTP/1.1
            << connect 127.0.0.1:9
            server 3 << POST /token HTTP/1.1
                        Authorization: Basic base64(c:s)

                        grant_type=client_credentials
            server 3 >> HTTP/1.1 401 Unauthorized

                        {"error":"invalid_client"}
            server 3 << close
            server << GET /2 HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer
            server << close
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *(invalid_client)*
            after 6s
            >> GET http://h/3 HTTP/1.1
            << connect 127.0.0.1:9
            server 4 << POST /token HTTP/1.1
                        Authorization: Basic base64(c:s)

                        grant_type=client_credentials
            server 4 >> HTTP/1.1 401 Unauthorized

                        {"error":"invalid_client"}
            server 4 << close
            << connect h:80
            server 5 << GET /3 HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer
            server 5 << close
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *(invalid_client)*
            report credential crm was refused by http://127.0.0.1:9/token (invalid_client), which accepted it before, *
            after 10s
            >> GET http://h/4 HTTP/1.1
            << connect h:80
            server 6 << GET /4 HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer
            server 6 << close
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *(invalid_client) and is on hold: the next try is in 20 seconds*
            after 20s
            >> GET http://h/5 HTTP/1.1
            << connect 127.0.0.1:9
            server 7 << POST /token HTTP/1.1
                        Authorization: Basic base64(c:s)

                        grant_type=client_credentials
            server 7 >> HTTP/1.1 200 OK

                        {"access_token":"two","token_type":"Bearer"}
            server 7 << close
            << connect h:80
            server 8 << GET /5 HTTP/1.1
                        Authorization: Bearer two
            server 8 >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a request goes on to the rule's next credential when the endpoint refuses the grant`() async {
        await play(
            rules: """
                credential crm { oauth2 http://127.0.0.1:9/token; client-id c; client-secret s }
                credential spare { token t }
                challenge "api" { host h; use crm spare }
                """,
            """
            \(TokenConversations.asked)
            server 2 >> HTTP/1.1 400 Bad Request

                        {"error":"invalid_grant"}
            server 2 << close
            report credential crm was refused by http://127.0.0.1:9/token (invalid_grant)*
            server << GET /1 HTTP/1.1
                      Authorization: Bearer t
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            log GET http://h/1 200
                rule: api
                scheme: bearer
                credential: spare
                attempts: 1
            >> GET http://h/2 HTTP/1.1
            << GET /2 HTTP/1.1
               Authorization: Bearer t
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            log GET http://h/2 200
                rule: api
                scheme: bearer
                credential: spare
                attempts: 1
            """)
    }

    @Test func `the next credential's refusal is the client's, where the endpoint had refused the first`() async {
        await play(
            rules: """
                credential crm { oauth2 http://127.0.0.1:9/token; client-id c; client-secret s }
                credential spare { token t }
                challenge "api" { host h; use crm spare }
                """,
            """
            \(TokenConversations.asked)
            server 2 >> HTTP/1.1 400 Bad Request

                        {"error":"invalid_grant"}
            server 2 << close
            report credential crm was refused by http://127.0.0.1:9/token (invalid_grant)*
            server << GET /1 HTTP/1.1
                      Authorization: Bearer t
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer
            report credential spare was refused by h:80*
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer
               Proxy-Status: *
            """)
    }

    @Test func `a client that the endpoint refuses is shown to it again when its secret is set again`() async {
        await play(
            rules: """
                credential crm { oauth2 http://127.0.0.1:9/token; client-id c; client-secret file FILES/s }
                challenge "api" { host h; use crm }
                """,
            """
            file s s
            \(TokenConversations.asked)
            server 2 >> HTTP/1.1 401 Unauthorized

                        {"error":"invalid_client"}
            server 2 << close
            server << close
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *invalid_client*
            report credential crm was refused by http://127.0.0.1:9/token (invalid_client)*
            # the client is enabled again, and its secret written once more
            file s s
            refresh
            >> GET http://h/2 HTTP/1.1
            << connect h:80
            server 3 << GET /2 HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer
            << connect 127.0.0.1:9
            server 4 << POST /token HTTP/1.1
                        Authorization: Basic base64(c:s)

                        grant_type=client_credentials
            server 4 >> HTTP/1.1 200 OK

                        {"access_token":"one","token_type":"Bearer"}
            server 4 << close
            server 3 << GET /2 HTTP/1.1
                        Authorization: Bearer one
            server 3 >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `the first request at a parent does not hold up the token that it needs`() async {
        await play(
            rules: """
                credential crm { oauth2 http://127.0.0.1:9/token; client-id c; client-secret s }
                challenge { proxy no; host h; use crm }
                credential corp { user u; password p }
                challenge { proxy yes; use corp }
                parent corp { http one:3128 two:3128 }
                route * { via corp }
                """,
            """
            >> GET http://h/1 HTTP/1.1
            << connect one:3128
            << GET http://h/1 HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer
               Connection: close
            << connect one:3128
            server 2 << POST http://127.0.0.1:9/token HTTP/1.1
                        Authorization: Basic base64(c:s)

                        grant_type=client_credentials
            server 2 >> HTTP/1.1 200 OK
                        Connection: close

                        {"access_token":"one","token_type":"Bearer","expires_in":5}
            server 2 << close
            server << close
            << connect one:3128
            << GET http://h/1 HTTP/1.1
               Authorization: Bearer one
            >> HTTP/1.1 200 OK
               Connection: close
            << HTTP/1.1 200 OK
            server 3 << close
            # another request finds out that the first parent is gone, and nothing about the second
            >> GET http://busy/ HTTP/1.1
            << connect one:3128 refused
            << connect two:3128
            server 5 << GET http://busy/ HTTP/1.1
            >> HTTP/1.1 503 Service Unavailable
               Connection: close
            << HTTP/1.1 503 Service Unavailable
            server 5 << close
            after 6s
            << connect one:3128 refused
            >> GET http://h/2 HTTP/1.1
            << connect two:3128
            server 7 << POST http://127.0.0.1:9/token HTTP/1.1
                        Authorization: Basic base64(c:s)

                        grant_type=client_credentials
            server 7 >> HTTP/1.1 407 Proxy Authentication Required
                        Proxy-Authenticate: Basic realm="p"
            server 7 << POST http://127.0.0.1:9/token HTTP/1.1
                        Authorization: Basic base64(c:s)
                        Proxy-Authorization: Basic base64(u:p)

                        grant_type=client_credentials
            server 7 >> HTTP/1.1 200 OK

                        {"access_token":"two","token_type":"Bearer","expires_in":5}
            server 7 << close
            << connect two:3128
            server 8 << GET http://h/2 HTTP/1.1
                        Authorization: Bearer two
                        Proxy-Authorization: Basic base64(u:p)
            """)
    }
}
