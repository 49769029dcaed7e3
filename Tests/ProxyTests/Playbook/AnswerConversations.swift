import Testing

/// Answers of an operator that hold for later requests, and that are taken back.
struct AnswerConversations {
    @Test func `an answer that is taken back is asked for again, and its credential goes out no more`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge "people" { host h; ask }
                """,
            """
            challenged GET http://h/
            report question 1: *
            answer 1 use a
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://h/2 HTTP/1.1
            << GET /2 HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            answer 1 forget
            >> GET http://h/3 HTTP/1.1
            << GET /3 HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            report question 2: *
            answer 2 reject
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: *
            >> GET http://h/4 HTTP/1.1
            << GET /4 HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: *
            answer 2 forget
            >> GET http://h/5 HTTP/1.1
            << GET /5 HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            report question 3: *
            answer 3 cancel none
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *
            server << close
            """)
    }
}
