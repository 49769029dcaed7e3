import Testing

/// The handling of one challenge of an origin: answered, passed on or cancelled.
struct ChallengeConversations {
    @Test func `of the methods that are offered the strongest is answered`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x", Digest realm="x", nonce="md5", qop="auth"
               WWW-Authenticate: Digest realm="x", nonce="sha", qop="auth", algorithm=SHA-256
            << GET / HTTP/1.1
               Authorization: Digest *nonce="sha"*
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a rule's order of methods goes before their strength`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a; order basic digest }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n", qop="auth"
               WWW-Authenticate: Basic realm="x"
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a challenge that no rule names passes with the reason`() async {
        await play(
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               WWW-Authenticate: Digest realm="x", nonce="n"

               who are you
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               WWW-Authenticate: Digest realm="x", nonce="n"
               Proxy-Status: attache; details="no rule is for h:80"

               who are you
            """)
    }

    @Test func `a challenge in a method that is not known passes untouched, beside a rule`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Hawk realm="x"
            << HTTP/1.1 401 Unauthorized
               Proxy-Status: *"the origin asks for hawk, which this proxy does not know"
               WWW-Authenticate: Hawk realm="x"
            """)
    }

    @Test func `a 401 without a challenge passes, beside a rule`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
            << HTTP/1.1 401 Unauthorized
               Proxy-Status: *"the origin answers 401 without a challenge"
            """)
    }

    @Test func `reject goes on to the response's next challenge`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { method digest; reject }
                challenge { host h; use a }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n", qop="auth"
               WWW-Authenticate: Basic realm="x"
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `where every challenge is rejected the client gets the response`() async {
        await play(
            rules: "challenge { reject }",
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n", qop="auth"
               WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 401 Unauthorized
               Proxy-Status: *"rule proxy.conf:5 rejects the challenge"
               WWW-Authenticate: Digest realm="x", nonce="n", qop="auth"
               WWW-Authenticate: Basic realm="x"
            """)
    }

    @Test func `a scheme that is not known is cancelled where a rule says so`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge "no new schemes" { host h; method other; realm "x*"; cancel }
                challenge { host h; use a }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Concealed realm="xyz"
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *error=http_request_denied*

               *"no new schemes"*
            server << close
            >> GET http://h/y HTTP/1.1
            << connect h:80
            << GET /y HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Concealed realm="y"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Concealed realm="y"
               Proxy-Status: *details="the origin asks for concealed, which this proxy does not know"*
            report a challenge of h:80 (concealed realm "y") got no answer: *
            """)
    }

    @Test func `a challenge that can be answered comes before one of a scheme that is not known`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; method other; cancel }
                challenge { host h; use a }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Concealed realm="x", Basic realm="x"
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `default and reject let a challenge of a scheme that is not known pass`() async {
        for (answer, reason) in [
            ("default", "the origin asks for concealed, which this proxy does not know"),
            ("reject", "rule * rejects the challenge"),
        ] {
            await play(
                rules: "challenge { host h; method other; \(answer) }\nchallenge { host h; method basic; cancel }",
                """
                >> GET http://u:p@h/ HTTP/1.1
                << connect h:80
                << GET / HTTP/1.1
                >> HTTP/1.1 401 Unauthorized
                   WWW-Authenticate: Concealed realm="x"
                << HTTP/1.1 401 Unauthorized
                   WWW-Authenticate: Concealed realm="x"
                   Proxy-Status: *details="\(reason)"*
                report a challenge of h:80 (concealed realm "x") got no answer: *
                """)
        }
    }

    @Test func `cancel answers 502 and names the rule`() async {
        await play(
            rules: """
                challenge "no such login" { host h; cancel }
                """,
            """
            challenged GET http://h/
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *error=http_request_denied*

               *"no such login"*
            server << close
            """)
    }

    @Test func `the first rule that matches the challenge decides`() async {
        await play(
            rules: """
                credential a { user u; password p }
                credential b { user v; password q }
                challenge { host h; realm "other"; use a }
                challenge { host h; realm "x*"; use b }
                challenge { host h; use a }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="xyz"
            << GET / HTTP/1.1
               Authorization: Basic base64(v:q)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a credential in the URL answers, and does not travel in it`() async {
        await play(
            """
            >> GET http://u:p@h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
               Host: h
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a rule's credential goes before that of the URL`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            >> GET http://v:q@h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `the client's own answer is kept, and its challenge not answered`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            >> GET http://h/ HTTP/1.1
               Authorization: Basic base64(v:q)
            << connect h:80
            << GET / HTTP/1.1
               Authorization: Basic base64(v:q)
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 401 Unauthorized
               Proxy-Status: *its own Authorization, which is kept: rule proxy.conf:6 *'authorization replace'"
               WWW-Authenticate: Basic realm="x"
            """)
    }

    @Test func `the client's own answer is replaced where the rule says so`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a; authorization replace }
                """,
            """
            >> GET http://h/ HTTP/1.1
               Authorization: Basic base64(v:q)
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test(arguments: ["TRACE", "trace", "TRACK", "Track"])
    func `a TRACE, whose response would show the answer, is not answered`(method: String) async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            >> \(method) http://h/ HTTP/1.1
            << connect h:80
            << \(method) / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 401 Unauthorized
               Proxy-Status: *"the response to a TRACE would show the credential"
               WWW-Authenticate: Basic realm="x"
            """)
    }

    @Test func `a 407 of an origin reaches the client without its challenge, and with the reason`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 407 Proxy Authentication Required
               Proxy-Authenticate: Basic realm="x"
            << HTTP/1.1 407 Proxy Authentication Required
               Proxy-Authenticate: -
               Proxy-Status: attache; details="the origin answers 407 as if it were a proxy, which this proxy answers for parents only"
            """)
    }

    @Test func `a token answers a Bearer challenge`() async {
        await play(
            rules: """
                credential t { token abc }
                challenge { host h; use t }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Bearer realm="x"
            << GET / HTTP/1.1
               Authorization: Bearer abc
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `Basic is not sent in clear where a rule forbids it`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { method basic; secure no; reject }
                challenge { host h; use a }
                """,
            """
            challenged GET http://h/
            << HTTP/1.1 401 Unauthorized
               Proxy-Status: *"rule proxy.conf:6 rejects the challenge before rule proxy.conf:7 is tried"
               WWW-Authenticate: Basic realm="x"
            """)
    }
}
