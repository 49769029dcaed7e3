import Testing

/// Spans of what an answer, or a way, has waited for.
struct TracedWaitConversations {
    private static let collector = "traces { collector http://c:4318 }\nroute * { trace start }\n"

    /// The spans that the collector gets, as a pattern; two seconds after the request.
    private static func posted(by server: Int, _ spans: String) -> String {
        """
        << connect c:4318
        server \(server) << POST /v1/traces HTTP/1.1

           *\(spans)*
        server \(server) >> HTTP/1.1 200 OK
        server \(server) << close
        """
    }

    @Test func `a token that is fetched for an answer is a span`() async {
        await play(
            rules: Self.collector
                + """
                credential crm { oauth2 http://127.0.0.1:9/token; client-id c; client-secret s }
                challenge "api" { host h; use crm }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
               traceparent: *
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer
            << connect 127.0.0.1:9
            server 2 << POST /token HTTP/1.1
               Authorization: Basic base64(c:s)

               grant_type=client_credentials
            after 1s
            server 2 >> HTTP/1.1 200 OK

               {"access_token":"one","token_type":"Bearer","expires_in":3600}
            server 2 << close
            server << GET / HTTP/1.1
               Authorization: Bearer one
               traceparent: *
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            after 2s
            \(Self.posted(by: 3, #""name":"token""#))
            """)
    }

    @Test func `a wait for the operator is a span, and tells why nobody answered`() async {
        await play(
            rules: Self.collector + "challenge \"people\" { host h; ask }\ntimeouts { ask 10s }",
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
               traceparent: *
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            report question *
            after 10s
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *
            server << close
            after 2s
            \(Self.posted(by: 2, #""name":"question"*asks the operator, who did not answer within 10 s"#))
            """)
    }

    @Test func `a wait for another request's verdict is a span`() async {
        await play(
            rules: Self.collector + "credential a { user u; password p }\nchallenge { host h; use a }",
            """
            client >> GET http://h/1 HTTP/1.1
            << connect h:80
            server << GET /1 HTTP/1.1
                      traceparent: *
            server >> HTTP/1.1 401 Unauthorized
                      WWW-Authenticate: Basic realm="x"
            server << GET /1 HTTP/1.1
                      Authorization: Basic base64(u:p)
                      traceparent: *
            client 2 >> GET http://h/2 HTTP/1.1
            after 1s
            << connect h:80
            server 2 << GET /2 HTTP/1.1
                        traceparent: *
            server 2 >> HTTP/1.1 401 Unauthorized
                        WWW-Authenticate: Basic realm="x"
            server >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            server 2 << GET /2 HTTP/1.1
                        Authorization: Basic base64(u:p)
                        traceparent: *
            server 2 >> HTTP/1.1 200 OK
            client 2 << HTTP/1.1 200 OK
            after 2s
            \(Self.posted(by: 3, #""name":"wait"*"spanId"*"name":"wait"*"#))
            """)
    }

    @Test func `the way that a SOCKS server opens is a span`() async {
        await play(
            rules: "parent corp { socks5 proxy:1080 }\nroute h { trace start; via corp }\n" + Self.collector,
            #"""
            >> GET http://h/ HTTP/1.1
            << connect proxy:1080
            server << "\x05\x01\x00"
            server >> "\x05\x00"
            server << "\x05\x01\x00\x03\x01h\x00\x50"
            server >> "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00"
            server << GET / HTTP/1.1
               traceparent: *
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            after 2s
            \#(Self.posted(by: 2, #""name":"connect"*"name":"socks""#))
            """#)
    }

    @Test func `a login by a page is a span`() async {
        await play(
            rules: Self.collector
                + """
                credential web { user u; password p }
                challenge "portal" {
                    host h
                    method html-form
                    form { recognise status 302 location /login*; login /login; fields user={user} password={password} }
                    use web
                }
                """,
            """
            >> GET http://h/a HTTP/1.1
            << connect h:80
            << GET /a HTTP/1.1
               traceparent: *
            >> HTTP/1.1 302 Found
               Location: /login
            << connect h:80
            server 2 << GET /login HTTP/1.1
            >> HTTP/1.1 200 OK
               Content-Type: text/html

               <form action="/login" method="post"><input name="user"><input type="password" name="password"></form>
            server 2 << close
            << connect h:80
            server 3 << POST /login HTTP/1.1
               Content-Type: application/x-www-form-urlencoded
               Origin: http://h
               Referer: http://h/login

               user=u&password=p
            after 1s
            >> HTTP/1.1 204 No Content
               Set-Cookie: sid=1
            server 3 << close
            server << GET /a HTTP/1.1
               Cookie: sid=1
               traceparent: *
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            after 2s
            \(Self.posted(by: 4, #""name":"session"*"spanId"*"endTimeUnixNano"*"#))
            """)
    }
}
