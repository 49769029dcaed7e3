import Testing

/// Tokens of one server that are exchanged at another one.
struct TokenExchangeConversations {
    private static let rules = """
        credential jag { oauth2 http://127.0.0.1:9/token; client-id a; client-secret s; subject-token id }
        credential tool { oauth2 http://127.0.0.1:8/token; client-id a; client-secret s; assertion credential jag }
        challenge "api" { host h; use tool }
        """

    private static let first = """
        client >> GET http://h/1 HTTP/1.1
        << connect h:80
        << GET /1 HTTP/1.1
        server >> HTTP/1.1 401 Unauthorized
           WWW-Authenticate: Bearer
        << connect 127.0.0.1:9
        server 2 << POST /token HTTP/1.1
           Authorization: Basic base64(a:s)

           grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange&subject_token=id&subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Ajwt
        server 2 >> HTTP/1.1 200 OK

           {"access_token":"jag","token_type":"N_A","expires_in":3600}
        server 2 << close
        << connect 127.0.0.1:8
        server 3 << POST /token HTTP/1.1
           Authorization: Basic base64(a:s)

           grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=jag
        """

    @Test func `a token that another server refuses is fetched again once`() async {
        await play(
            rules: Self.rules,
            """
            \(Self.first)
            server 3 >> HTTP/1.1 400 Bad Request

               {"error":"invalid_grant"}
            server 3 << close
            << connect 127.0.0.1:9
            server 4 << POST /token HTTP/1.1
               Authorization: Basic base64(a:s)

               grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange&subject_token=id&subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Ajwt
            server 4 >> HTTP/1.1 200 OK

               {"access_token":"second","token_type":"N_A","expires_in":3600}
            server 4 << close
            << connect 127.0.0.1:8
            server 5 << POST /token HTTP/1.1
               Authorization: Basic base64(a:s)

               grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=second
            server 5 >> HTTP/1.1 200 OK

               {"access_token":"one","token_type":"Bearer","expires_in":60}
            server 5 << close
            server << GET /1 HTTP/1.1
               Authorization: Bearer one
            server >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            """)
    }

    @Test func `while an exchange is down, the token that is held serves until it expires`() async {
        await play(
            rules: Self.rules,
            """
            \(Self.first)
            server 3 >> HTTP/1.1 200 OK

               {"access_token":"one","token_type":"Bearer","expires_in":100}
            server 3 << close
            server << GET /1 HTTP/1.1
               Authorization: Bearer one
            server >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            after 30s
            server << close
            and client >> close
            after 30s
            client >> GET http://h/2 HTTP/1.1
            << connect h:80
            server 4 << GET /2 HTTP/1.1
               Authorization: Bearer one
            << connect 127.0.0.1:8 refused
            report cannot get a token for credential tool: *
            server 4 >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            after 30s
            server 4 << close
            and client >> close
            after 10s
            client >> GET http://h/3 HTTP/1.1
            << connect 127.0.0.1:8 refused
            report cannot get a token for credential tool: *
            << connect h:80
            server 7 << GET /3 HTTP/1.1
            server 7 >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer
            server 7 << close
            client << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *credential tool has no token*
            """)
    }
}
