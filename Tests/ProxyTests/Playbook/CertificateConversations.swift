import Testing

/// The proxy's certificates that origins ask for with TLS, and refuse.
struct CertificateConversations {
    private static let trusting = """
        challenge "ours" { method server-trust; anchor FILES/ca.pem only; trust }
        credential old { certificate FILES/old.pem; key FILES/old.key }
        credential new { certificate FILES/new.pem; key FILES/new.key }

        """

    @Test func `the next certificate is shown on another connection, and the refused one to nobody`() async {
        await play(
            rules: Self.trusting + "challenge { host h; use old new }",
            """
            >> GET https://h/1 HTTP/1.1
            << connect h:443
            and server >> tls h accepting new
            report credential old was refused by h:443 (bad certificate)*
            server << close
            << connect h:443
            and server 2 >> tls h accepting new
            server 2 << GET /1 HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            log GET https://h/1 200
                identity: new
            # It was made under another decision than the next, and serves nobody else.
            server 2 << close
            client 2 >> GET https://h/2 HTTP/1.1
            << connect h:443
            and server 3 >> tls h accepting new
            server 3 << GET /2 HTTP/1.1
            >> HTTP/1.1 200 OK
            client 2 << HTTP/1.1 200 OK
            log GET https://h/2 200
                identity: new
            >> GET https://h/3 HTTP/1.1
            server 3 << GET /3 HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            log GET https://h/3 200
                upstream: reused
            """)
    }

    @Test func `content is sent again with the next certificate`() async {
        await play(
            rules: Self.trusting + "challenge { host h; use old new }",
            """
            >> POST https://h/ HTTP/1.1
               Content-Length: 5

               hello
            << connect h:443
            and server >> tls h accepting new
            report *credential old was refused*
            server << close
            << connect h:443
            and server 2 >> tls h accepting new
            server 2 << POST / HTTP/1.1

               hello
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            server 2 << close
            """)
    }

    @Test func `a rule may make an end after a refusal, of this request and of the next`() async {
        await play(
            rules: Self.trusting + """
                challenge "enough" { host h; method client-certificate; failures 1..; cancel }
                challenge { host h; use old }
                """,
            """
            >> GET https://h/ HTTP/1.1
            << connect h:443
            and server >> tls h accepting new
            report *credential old was refused*
            report *asks for a client certificate, but rule "enough"*
            server << close
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *rule \\"enough\\"*

               *old: it was shown, and refused (bad certificate)*
            >> GET https://h/ HTTP/1.1
            << connect h:443
            and server 2 >> tls h accepting new
            server 2 << close
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *rule \\"enough\\"*

               *old: it was refused before*
            """)
    }

    @Test func `one that was accepted before is tried again by one connection after a while`() async {
        await play(
            rules: Self.trusting + "challenge { host h; use old new }",
            """
            >> GET https://h/1 HTTP/1.1
            << connect h:443
            and server >> tls h accepting old
            << GET /1 HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            log GET https://h/1 200
                identity: old
            server >> close
            >> GET https://h/2 HTTP/1.1
            << connect h:443
            and server 2 >> tls h accepting new
            server 2 << close
            << connect h:443
            and server 3 >> tls h accepting new
            server 3 << GET /2 HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            log GET https://h/2 200
                identity: new
            server 3 << close
            # The next connection shows it once more, and leads.
            >> GET https://h/3 HTTP/1.1
            << connect h:443
            and server 4 >> tls h accepting new
            report *credential old was refused by h:443 (bad certificate), which accepted it before*30 seconds*
            server 4 << close
            << connect h:443
            and server 5 >> tls h accepting new
            server 5 << GET /3 HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            log GET https://h/3 200
                identity: new
            server 5 << close
            after 31s
            >> GET https://h/4 HTTP/1.1
            << connect h:443
            and server 6 >> tls h accepting old
            server 6 << GET /4 HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            log GET https://h/4 200
                identity: old
            # It was made while the certificate counted as refused.
            server 6 << close
            """)
    }

    @Test func `a connection that breaks refuses no certificate`() async {
        await play(
            rules: Self.trusting + "challenge { host h; use old }",
            """
            >> GET https://h/1 HTTP/1.1
            << connect h:443
            and server >> tls h accepting old
            << GET /1 HTTP/1.1
            server >> close
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *error=connection_terminated*

               *
            >> GET https://h/2 HTTP/1.1
            << connect h:443
            and server 2 >> tls h accepting old
            server 2 << GET /2 HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            log GET https://h/1 502
                error: connection_terminated
            log GET https://h/2 200
                identity: old
            """)
    }

    @Test func `a server that goes on without a certificate is asked without the refused one`() async {
        await play(
            rules: Self.trusting + "challenge { host h; use old }",
            """
            >> GET https://h/1 HTTP/1.1
            << connect h:443
            and server >> tls h accepting new
            report *credential old was refused*
            server << close
            << connect h:443
            and server 2 >> tls h accepting new
            server 2 << GET /1 HTTP/1.1
            >> HTTP/1.1 403 Forbidden
            << HTTP/1.1 403 Forbidden
            report *the server refused the client certificate of credential old (bad certificate); it went on without*
            log GET https://h/1 403
                identity: -
            server 2 << close
            """)
    }

    @Test func `a connection that rests with a certificate serves nobody once that is refused elsewhere`() async {
        await play(
            rules: Self.trusting + "challenge { host h; use old new }",
            """
            client >> GET https://h/1 HTTP/1.1
            << connect h:443
            and server >> tls h accepting old
            << GET /1 HTTP/1.1
            client 2 >> GET https://h/2 HTTP/1.1
            << connect h:443
            and server 2 >> tls h accepting old
            server 2 << GET /2 HTTP/1.1
            server 2 >> HTTP/1.1 200 OK
            client 2 << HTTP/1.1 200 OK
            # Both have shown it: one rests, one works.
            client 2 >> GET https://h/3 HTTP/1.1
            server 2 << GET /3 HTTP/1.1
            client 3 >> GET https://h/4 HTTP/1.1
            << connect h:443
            and server 3 >> tls h accepting new
            server 3 << close
            << connect h:443
            and server 4 >> tls h accepting new
            server 4 << GET /4 HTTP/1.1
            server 4 >> HTTP/1.1 200 OK
            client 3 << HTTP/1.1 200 OK
            server 4 << close
            server >> HTTP/1.1 200 OK
            client << HTTP/1.1 200 OK
            server << close
            server 2 >> HTTP/1.1 200 OK
            client 2 << HTTP/1.1 200 OK
            server 2 << close
            """)
    }

    // MARK: - Pages of nginx

    /// Responses by which nginx refuses a request over the certificate that it was shown.
    static let pages = [
        """
        >> HTTP/1.1 400 Bad Request
           Content-Type: text/html
           Connection: close

           <html><head><title>400 The SSL certificate error</title></head><body>nginx</body></html>
        """,
        """
        >> HTTP/1.1 495 SSL Certificate Error
           Connection: close

           no
        """,
    ]

    @Test(arguments: pages)
    func `behind a page that refuses a certificate the rule's next one is shown, and the first is on hold`(
        page: String
    ) async {
        await play(
            rules: Self.trusting + "challenge { host h; method client-certificate; use old new }",
            """
            >> GET https://h/ HTTP/1.1
            << connect h:443
            and server >> tls h accepting old
            server << GET / HTTP/1.1
            \(page)
            report credential old was refused by h:443 (4*
            server << close
            << connect h:443
            and server 2 >> tls h accepting new
            server 2 << GET / HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            log GET https://h/ 200
                identity: new
            server 2 << close
            client 2 >> GET https://h/2 HTTP/1.1
            << connect h:443
            and server 3 >> tls h accepting new
            server 3 << GET /2 HTTP/1.1
            >> HTTP/1.1 200 OK
            client 2 << HTTP/1.1 200 OK
            log GET https://h/2 200
                identity: new
            """)
    }

    @Test func `a page that only looks like that refuses nothing`() async {
        await play(
            rules: Self.trusting + "challenge { host h; method client-certificate; use old new }",
            """
            >> GET https://h/ HTTP/1.1
            << connect h:443
            and server >> tls h accepting old
            server << GET / HTTP/1.1
            >> HTTP/1.1 400 Bad Request
               Content-Type: text/html

               <html><head><title>Bad</title></head><body>400 The SSL certificate error</body></html>
            << HTTP/1.1 400 Bad Request

               *
            log GET https://h/ 400
                identity: old
            """)
    }
}
