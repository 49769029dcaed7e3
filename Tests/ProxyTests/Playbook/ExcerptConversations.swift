import Testing

/// The excerpts of challenging responses in the journal and in messages to operators.
struct ExcerptConversations {
    private static let credentials = """
        credential a { user u; password p }
        credential b { user v; password q }
        """

    @Test func `the journal has the status, fields and text of a response that nobody answers`() async {
        await play(
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Retry-After: 60
               Set-Cookie: session=1
               Content-Type: text/html

               <html><title>No</title><p>The account is <b>locked</b>.</p></html>
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Set-Cookie: *
               Proxy-Status: *

               <html><title>No</title><p>The account is <b>locked</b>.</p></html>
            journal basic h:80 passed
                status: 401
                fields: Retry-After: 60
                text: No The account is locked.
            """)
    }

    @Test(arguments: [
        ("Content-Length: 14", "account locked", "account locked"),
        ("Transfer-Encoding: chunked", "7\\r\\naccount\\r\\n7\\r\\n locked\\r\\n0\\r\\n\\r\\n", "account locked"),
    ])
    func `a text that comes behind its head is read as it passes`(framing: String, body: String, text: String) async {
        await play(
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            server >> "HTTP/1.1 401 Unauthorized\\r\\nWWW-Authenticate: Basic realm=x\\r\\n\(framing)\\r\\n\\r\\n"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: *
               Proxy-Status: *
            journal basic h:80 passed
                status: 401
                text: -
            server >> "\(body)"
            client << "\(body)"
            journal basic h:80 passed
                text: \(text)
                count: 1
            """)
    }

    @Test func `a text that the end of the connection ends is read as it passes`() async {
        await play(
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            server >> "HTTP/1.0 401 Unauthorized\\r\\nWWW-Authenticate: Basic realm=x\\r\\n\\r\\n"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: *
               Transfer-Encoding: chunked
               Proxy-Status: *
            server >> "account locked"
            client << "e\\r\\naccount locked\\r\\n"
            server >> close
            client << end of body
            journal basic h:80 passed
                text: account locked
            """)
    }

    @Test func `a text in a coding, or of something else, is not read`() async {
        for field in ["Content-Encoding: gzip", "Content-Type: image/png"] {
            await play(
                """
                >> GET http://h/ HTTP/1.1
                << connect h:80
                << GET / HTTP/1.1
                >> HTTP/1.1 401 Unauthorized
                   WWW-Authenticate: Basic realm="x"
                   \(field)

                   account locked
                << HTTP/1.1 401 Unauthorized
                   WWW-Authenticate: *
                   Proxy-Status: *

                   account locked
                journal basic h:80 passed
                    status: 401
                    text: -
                """)
        }
    }

    @Test func `a response that changes is read again, but not for each request`() async {
        let round = { (text: String) in
            """
            >> GET http://h/ HTTP/1.1
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"

               \(text)
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: *
               Proxy-Status: *

               \(text)
            """
        }
        await play(
            """
            \(round("first").replacing("<< GET / ", with: "<< connect h:80\n<< GET / "))
            after 500ms
            \(round("second"))
            journal basic h:80 passed
                text: first
            after 500ms
            \(round("third"))
            journal basic h:80 passed
                text: third
                count: 3
            """)
    }

    @Test func `what was sent is not kept where the page echoes it`() async {
        await play(
            rules: """
                credential a { user u; password hunter2 }
                challenge { host h; use a }
                """,
            """
            >> GET http://h/ HTTP/1.1
               Cookie: session=abcdef
            << connect h:80
            << GET / HTTP/1.1
               Cookie: *
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << GET / HTTP/1.1
               Authorization: Basic base64(u:hunter2)
               Cookie: *
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               X-Sent: hunter2

               no: Basic base64(u:hunter2), hunter2, session=abcdef
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: *
               Proxy-Status: *

               no: *
            journal basic h:80 passed
                fields: X-Sent: ***
                text: no: Basic ***, ***, session=***
            client 2 >> GET http://h/2 HTTP/1.1
                        Authorization: Basic base64(me:letmein)
            << GET /2 HTTP/1.1
               Authorization: Basic base64(me:letmein)
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"

               no letmein
            client 2 << HTTP/1.1 401 Unauthorized
                        WWW-Authenticate: *
                        Proxy-Status: *

                        no letmein
            journal basic h:80 passed
                text: no ***
            """)
    }

    @Test func `an answer behind a refusal is noted with what the refusal said`() async {
        await play(
            rules: """
                \(Self.credentials)
                challenge { host h; use a b }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"

               please log in
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"

               account locked
            << GET / HTTP/1.1
               Authorization: Basic base64(v:q)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            journal basic h:80 answered
                credential: b
                failures: 1
                text: account locked
            """)
    }

    @Test func `an operator is asked with what the response says, and again with what the refusal says`() async {
        await play(
            rules: """
                challenge "people" { host h; ask }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               X-Help: call 5

               please log in
            question 1
                status: 401
                fields: X-Help: call 5
                text: please log in
            answer 1 user v hunter2
            << GET / HTTP/1.1
               Authorization: Basic base64(v:hunter2)
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"

               hunter2 is wrong: 2 tries left
            question 2
                failures: 1
                text: *** is wrong: 2 tries left
            answer 2 cancel
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *
            server << close
            """)
    }

    @Test func `an operator is asked with a text that comes a moment behind its head`() async {
        let head = "HTTP/1.1 401 Unauthorized\\r\\nWWW-Authenticate: Basic realm=x\\r\\nContent-Length: 14\\r\\n\\r\\n"
        await play(
            rules: """
                \(Self.credentials)
                challenge "people" { host h; ask }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            server >> "\(head)"
            and server >> "account locked"
            question 1
                text: account locked
            answer 1 use a none
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            # It is not waited for longer than that.
            server >> "\(head)"
            after 100ms
            question 2
                text: -
            server >> "account locked"
            answer 2 reject none
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: *
               Proxy-Status: *

               account locked
            """)
    }
}
