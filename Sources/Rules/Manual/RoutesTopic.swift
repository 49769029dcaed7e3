extension ManualTopic {
    static let routes = ManualTopic(
        "routes", "how requests travel: tunnels, interception, https, parents",
        """
        A route says how requests to a host travel: as they are, decrypted, by https, or through another proxy.

            route *.corp.example.com { intercept; tls revocation corp.crl }
            route ci.example.com { upgrade }
            route * { tunnel }

        The first route that matches the host decides. The host is a pattern ('attache help rules'), with or without a port.
        Write one of `tunnel`, `intercept` and `deny`. The other words can be added to the first two.

        For an https URL, a tool opens a tunnel with CONNECT. The proxy can read it only if the route says `intercept`.
        Without that, no `challenge` rule for the host is used. `attache check` warns about that. `attache challenges` and
        the log name the tunnels that were not intercepted.

        WARNING: TLS before 1.2 is broken. Use `tls minimum 1.0` only for the one old server that needs it, in a route of its
        own.
        """, ManualTopic.Entry.of(FileDirective.route),
        ManualTopic.Entry.of(RouteReader.Word.tunnel, .intercept, .deny, .upgrade, .decode, .tls, .trace, .http2, .via))

    static let authority = ManualTopic(
        "authority", "the CA for intercepted https",
        """
        To read https, the proxy shows the client a certificate that it issues itself. Clients must trust the CA that signs
        it. The directive `authority` is about this CA.

            authority { names corp.example.com }
            route *.corp.example.com { intercept }

        `attache env` prints the variables that make tools trust the CA, and writes the files that these variables name.
        `attache authority export` writes the certificate only.

            $ attache env
            $ attache authority export > attache-ca.pem

        The proxy creates the CA in `state` on the first start. Only the proxy can read its key. Anyone who has the key can pose
        as any server to those clients. With `names`, this is limited to these names.

        To trust the CA in other places:

        = Everything on Debian, in containers too
        cp attache-ca.pem /usr/local/share/ca-certificates/attache.crt && update-ca-certificates

        = Node, Deno
        NODE_EXTRA_CA_CERTS, DENO_CERT: the file is added to their own CAs.

        = OpenSSL, Go, Ruby; curl; pip, requests; git
        SSL_CERT_FILE; CURL_CA_BUNDLE; PIP_CERT, REQUESTS_CA_BUNDLE; GIT_SSL_CAINFO: the file replaces their own CAs. So it
        must have the system's CAs too, as tools.pem has.

        = Java
        -Djavax.net.ssl.trustStore=FILE: a truststore in PKCS#12 that replaces Java's own. Or run keytool -importcert -cacerts
        -alias attache -file attache-ca.pem.

        You need no CA if tools use http:// URLs: with `route … { upgrade }` the proxy asks the server by https.
        """, ManualTopic.Entry.of(FileDirective.authority),
        ManualTopic.Entry.of(AuthorityReader.Word.names, .certificate, .key, .passphrase))
}

extension RouteReader.Word {
    static let manuals: [RouteReader.Word: DirectiveManual] = [
        .tunnel: DirectiveManual(
            "", example: "route * { tunnel }",
            "Forward requests. Relay a CONNECT without reading it: no `challenge` rule is used for its content."),
        .intercept: DirectiveManual(
            "", example: "route *.corp.example.com { intercept }",
            """
            Forward requests. Decrypt a CONNECT, and answer challenges there too. Tools must trust the proxy's CA. Inside, the
            proxy speaks HTTP/2, HTTP/1.1 and WebSocket. Traffic that is neither HTTP nor TLS is relayed unchanged.
            """),
        .deny: DirectiveManual(
            "", example: "route *.internal.example.com { deny }", "Refuse the request. The client gets a 403."),
        .upgrade: DirectiveManual(
            "[PORT]", example: "route ci.example.com { upgrade }",
            """
            The tool asks by http, and the proxy asks the server by https. PORT is the server's port. Without it, 80 becomes
            443, and other ports stay.

            In responses, Location, Content-Location, Link and Refresh are changed back to http://. Cookies lose `Secure`.
            Strict-Transport-Security and Alt-Svc are removed. Bodies and the names of cookies stay unchanged. Browsers
            ignore a __Secure- or __Host- cookie from http://; other tools accept it. An FTP server that offers no TLS gets
            no login.
            """),
        .decode: DirectiveManual(
            "", example: "route legacy.example.com:8080 { decode }",
            "Decode gzip and deflate bodies for clients that did not ask for such bodies."),
        .http2: DirectiveManual(
            "yes|no|clients|origins|prior-knowledge", default: "yes",
            example: """
                route *.corp.example.com { intercept; http2 no }
                route grpc.example.com:50051 { http2 prior-knowledge }
                """,
            """
            Who may use HTTP/2: clients in an intercepted tunnel, origins and parents of https, or both (`yes`). With
            `prior-knowledge` the proxy speaks it with origins of http, too. See 'attache help http2'.
            """),
        .tls: DirectiveManual(
            "minimum VERSION | maximum VERSION | revocation FILE …",
            example: """
                route old-printer.example.com { upgrade; tls minimum 1.0 }
                route *.corp.example.com { intercept; tls revocation corp.crl }
                """,
            """
            TLS to the server.

            = minimum
            The oldest TLS version that is allowed: 1.0, 1.1, 1.2 or 1.3. The default is 1.2.

            = maximum
            The newest TLS version that is allowed. The default is 1.3. Use it for a server that fails with 1.3.

            With a server that closes the connection after each response, `tls maximum 1.2` saves half of the processor time.
            A resumed TLS 1.2 session makes no new keys. An attacker who learns the session's key later can read the
            recorded traffic of all its connections.

            = revocation
            Revocation lists (CRLs), PEM or DER, to check the server's certificates. No server is trusted before they were
            read once. An expired list, or one with a bad signature, gives the problem `revoked`. A certificate without a
            list counts as not revoked. Then there is one warning for each issuer: there is no list of that issuer, or only
            a delta list, which is not used.
            """),
        .trace: DirectiveManual(
            "continue|start|no", default: "no", example: "route *.example.com { intercept; trace continue }",
            """
            Which requests are traced. See 'attache help traces'.

            = continue
            Requests that have a `traceparent` (W3C Trace Context). The proxy adds its spans to the same trace.

            = start
            All requests. One without a `traceparent` begins a new trace.

            = no
            None. `traceparent` is forwarded as any other field.
            """),
        .via: DirectiveManual(
            "PARENT … [direct]", example: "route *.example.org { intercept; via corp direct }",
            "The parents to use, in this order. `direct`: without a parent, if none of them works."),
    ]
}

extension AuthorityReader.Word {
    static let manuals: [AuthorityReader.Word: DirectiveManual] = [
        .names: DirectiveManual(
            "NAME|ADDRESS …", example: "authority { names *.corp.example.com 10.0.0.0/8 }",
            """
            The only names and addresses that the CA can issue certificates for. Clients refuse any other, even if the key
            is stolen. `corp.example.com` includes all names below it. `*.corp.example.com` is the names below it only. The
            names are part of the CA certificate: run `attache authority renew` after a change.
            """),
        .certificate: DirectiveManual(
            "FILE", example: "authority { certificate /etc/attache/ca.pem; key /run/secrets/ca.key }",
            "A CA certificate of your own, as PEM."),
        .key: DirectiveManual(
            "FILE", example: "authority { certificate ca.pem; key ca.key }", "The key of your own CA, as PEM."),
        .passphrase: DirectiveManual(
            "VALUE", example: "authority { certificate ca.pem; key ca.key; passphrase file /run/secrets/ca.pass }",
            "The passphrase of the key, if it is encrypted."),
    ]
}
