import Testing

/// The journal of challenges, as operators read it.
struct JournalConversations {
    private static let credentials = """
        credential a { user u; password p }
        credential b { user v; password q }
        """

    @Test func `an answered challenge is noted with the rule that answered, and the refusals before`() async {
        await play(
            rules: """
                \(Self.credentials)
                challenge "second" { host h; failures 1; use b }
                challenge "first" { host h; use a }
                """,
            """
            answered GET http://h/
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << GET / HTTP/1.1
               Authorization: Basic base64(v:q)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            journal basic h:80 answered
                rule: "second" (proxy.conf:*)
                disposition: use b
                credential: b
                failures: 1
                count: 1
            """)
    }

    @Test func `of challenges that were refused in turn each is noted with its own credential`() async {
        await play(
            rules: """
                \(Self.credentials)
                challenge "strong" { host h; method digest; use a }
                challenge "plain" { host h; method basic; use b }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n1", qop="auth"
               WWW-Authenticate: Basic realm="x"
            << GET / HTTP/1.1
               Authorization: Digest *nonce="n1"*
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n2", qop="auth"
               WWW-Authenticate: Basic realm="x"
            << GET / HTTP/1.1
               Authorization: Basic base64(v:q)
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest realm="x", nonce="n3", qop="auth"
               WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Digest *
               WWW-Authenticate: Basic *
               Proxy-Status: *
            journal digest h:80 passed
                rule: "strong" (proxy.conf:*)
                credential: a
                failures: 2
            journal basic h:80 passed
                rule: "plain" (proxy.conf:*)
                credential: b
                failures: 2
            """)
    }

    @Test func `a challenge that an operator rejected is noted as that, and told to the client`() async {
        await play(
            rules: """
                \(Self.credentials)
                challenge "people" { host h; ask }
                """,
            """
            challenged GET http://h/
            report question 1: *
            question 1
                rule: "people" (proxy.conf:*)
                failures: 0
            answer 1 reject
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: *rule \\"people\\" asks the operator, who rejected the challenge*
            report a challenge of h:80 (basic realm "x") got no answer: rule "people" asks the operator, who rejected the challenge
            journal basic h:80 passed
                rule: "people" (proxy.conf:*)
                reason: rule "people" asks the operator, who rejected the challenge
            # The answer holds for later requests, too.
            >> GET http://h/2 HTTP/1.1
            << GET /2 HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: *who rejected the challenge*
            """)
    }

    @Test(arguments: [false, true])
    func `a parent's challenge that an operator rejected is told to the client as that`(isTunnel: Bool) async {
        await play(
            rules: """
                parent corp { http proxy:3128 }
                route * { via corp }
                challenge "people" { proxy yes; ask }
                """,
            """
            >> \(isTunnel ? "CONNECT h:443" : "GET http://h/") HTTP/1.1
            << connect proxy:3128
            << \(isTunnel ? "CONNECT h:443" : "GET http://h/") HTTP/1.1
            >> HTTP/1.1 407 Proxy Authentication Required
               Proxy-Authenticate: Basic realm="x"
            report question 1: *
            answer 1 reject
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *rule "people" asks the operator, who rejected the challenge*
            server << close
            report a challenge of proxy:3128 (basic realm "x") got no answer: rule "people" asks the operator, who rejected the challenge
            journal basic proxy:3128 cancelled
                reason: rule "people" asks the operator, who rejected the challenge
            """)
    }

    @Test func `a server's wish for a certificate that an operator rejected is noted as that`() async {
        await play(
            rules: """
                challenge "ours" { method server-trust; anchor FILES/ca.pem only; trust }
                credential new { certificate FILES/new.pem; key FILES/new.key }
                challenge "people" { host h; method client-certificate; ask }
                """,
            """
            >> GET https://h/ HTTP/1.1
            << connect h:443
            and server >> tls h accepting new
            server << close
            report question 1: *
            answer 1 reject none
            << connect h:443
            and server 2 >> tls h accepting new
            server 2 << GET / HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            server 2 << close
            journal client-certificate h:443 declined
                reason: *, but rule "people" asks the operator, who rejected that; it went on without
            """)
    }

    // MARK: - Certificates

    private static let nginx = """
        >> HTTP/1.1 400 Bad Request
           Content-Type: text/html
           Connection: close

           <html><head><title>400 PHRASE</title></head><body><center><h1>400 Bad Request</h1></center></body></html>
        << HTTP/1.1 400 Bad Request

           *PHRASE*
        server << close
        """

    @Test func `a page that misses a certificate is noted as the server's refusal`() async {
        await play(
            rules: """
                challenge "ours" { method server-trust; anchor FILES/ca.pem only; trust }
                credential new { certificate FILES/new.pem; key FILES/new.key }
                challenge { host i; use new }
                """,
            """
            >> GET https://h/ HTTP/1.1
            << connect h:443
            and server >> tls h accepting new
            server << GET / HTTP/1.1
            \(Self.nginx.replacing("PHRASE", with: "No required SSL certificate was sent"))
            report a request from h:443 for a client certificate got no answer: the server asks for a client certificate, but no rule shows one: it answered 400, "No required SSL certificate was sent"
            journal client-certificate h:443 passed
                credential: -
                reason: *it answered 400, "No required SSL certificate was sent"
            log GET https://h/ 400
                details: the server asks for a client certificate, *
            """)
    }

    @Test func `a page that refuses the certificate that was shown is noted with its credential`() async {
        await play(
            rules: """
                challenge "ours" { method server-trust; anchor FILES/ca.pem only; trust }
                credential new { certificate FILES/new.pem; key FILES/new.key }
                challenge { host h; use new }
                """,
            """
            >> GET https://h/ HTTP/1.1
            << connect h:443
            and server >> tls h accepting new
            server << GET / HTTP/1.1
            \(Self.nginx.replacing("PHRASE", with: "The SSL certificate error"))
            report credential new was refused by h:443 (400, "The SSL certificate error")*
            report the client certificate for h:443 is refused: the server refused the client certificate of credential new: it answered 400, "The SSL certificate error"
            journal client-certificate h:443 passed
                credential: new
                reason: the server refused the client certificate of credential new: it answered 400, "The SSL certificate error"
            log GET https://h/ 400
                identity: new
                details: the server refused the client certificate of credential new: *
            """)
    }

    @Test func `a certificate that is taken behind refused ones is noted with the rule that showed it`() async {
        await play(
            rules: """
                challenge "ours" { method server-trust; anchor FILES/ca.pem only; trust }
                credential old { certificate FILES/old.pem; key FILES/old.key }
                credential new { certificate FILES/new.pem; key FILES/new.key }
                challenge "second" { host h; method client-certificate; failures 1; use new }
                challenge "first" { host h; method client-certificate; use old }
                """,
            """
            >> GET https://h/ HTTP/1.1
            << connect h:443
            and server >> tls h accepting new
            server << close
            << connect h:443
            and server 2 >> tls h accepting new
            server 2 << GET / HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            server 2 << close
            journal client-certificate h:443 answered
                rule: "second" (proxy.conf:*)
                credential: new
                failures: 1
            """)
    }
}
