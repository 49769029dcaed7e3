extension ManualTopic {
    static let routes = ManualTopic(
        "routes", "how requests travel: tunnels, interception, https, parents",
        """
        One of `tunnel`, `intercept` and `deny` says what is done with requests to the host; the other words go with the
        first two. A host is a pattern as 'attache help rules' describes them, with or without a port.

            route *.corp.example.com { intercept; tls revocation corp.crl }
            route ci.example.com { upgrade }
            route * { tunnel }

        An https URL reaches a proxy as a CONNECT of the host. What travels in such a tunnel is seen only where the route
        says `intercept`: a `challenge` for a host whose route does not is never asked. `attache check` warns of that, and
        `attache challenges` and the log name the tunnels that were not looked into.

        WARNING: TLS before 1.2 is broken; `tls minimum 1.0` is for that one old server, which should be alone in its route.
        """, ManualEntry.of(FileDirective.route),
        ManualEntry.of(RouteDirective.tunnel, .intercept, .deny, .upgrade, .decode, .tls, .trace, .via))

    static let authority = ManualTopic(
        "authority", "looking into https: the authority that clients have to trust",
        """
        `route … { intercept }` shows a client a certificate that the proxy itself has issued. The client must trust its
        issuer, the authority. The proxy makes it in `state` on the first start, with a key that only the proxy can read.
        A holder of the key can pose as any server to those clients, or, with `names`, as any of these.

            authority { names corp.example.com }
            route *.corp.example.com { intercept }

        `attache env` prints the variables by which tools trust it, and writes the files that these name.
        `attache authority export` writes the certificate alone.

            $ attache env
            $ attache authority export > attache-ca.pem

        = Everything on Debian, in containers too
        cp attache-ca.pem /usr/local/share/ca-certificates/attache.crt && update-ca-certificates

        = Node, Deno
        NODE_EXTRA_CA_CERTS, DENO_CERT: the file, added to their own.

        = OpenSSL, Go, Ruby; curl; pip, requests; git
        SSL_CERT_FILE; CURL_CA_BUNDLE; PIP_CERT, REQUESTS_CA_BUNDLE; GIT_SSL_CAINFO: a file in the place of their own, so
        that it needs the system's authorities as well.

        = Java
        a truststore in PKCS#12, in the place of its own: -Djavax.net.ssl.trustStore=FILE. Or keytool -importcert -cacerts
        -alias attache -file attache-ca.pem.

        A tool that takes http:// URLs needs none of this: `route … { upgrade }` asks the origin by https.
        """, ManualEntry.of(FileDirective.authority),
        ManualEntry.of(AuthorityDirective.names, .certificate, .key, .passphrase))
}

extension RouteDirective {
    static let manuals: [RouteDirective: DirectiveManual] = [
        .tunnel: DirectiveManual(
            "", example: "route * { tunnel }",
            "Forward a request, relay a CONNECT blindly: no `challenge` is asked about what is in it."),
        .intercept: DirectiveManual(
            "", example: "route *.corp.example.com { intercept }",
            """
            Forward a request, look inside a CONNECT: challenges are met there too. What is neither HTTP nor TLS is relayed
            unseen. Tools have to trust the authority.
            """),
        .deny: DirectiveManual("", example: "route *.internal.example.com { deny }", "The client gets a 403."),
        .upgrade: DirectiveManual(
            "[PORT]", example: "route ci.example.com { upgrade }",
            """
            Ask the origin of an http:// request by https. PORT is 443 in the place of 80, else the request's port.
            Location, Content-Location, Link and Refresh are turned back to http://, cookies lose `Secure`,
            Strict-Transport-Security and Alt-Svc go. Bodies stay as they are, and so do the names of cookies: a browser
            takes no __Secure- or __Host- cookie from http://, other tools do. An ftp server that offers no TLS gets no
            login then.
            """),
        .decode: DirectiveManual(
            "", example: "route legacy.example.com:8080 { decode }",
            "Decode gzip and deflate bodies for clients that did not ask for them."),
        .tls: DirectiveManual(
            "minimum VERSION | revocation FILE …",
            example: """
                route old-printer.example.com { upgrade; tls minimum 1.0 }
                route *.corp.example.com { intercept; tls revocation corp.crl }
                """,
            """
            = minimum
            The oldest TLS to speak with the origin: 1.0, 1.1, 1.2 or 1.3. Default: 1.2.

            = revocation
            Revocation lists, PEM or DER, that its certificates are looked up in. No server is trusted before they were
            read once. A list that has ended, or whose signature is no good, is the finding `revoked`. A certificate
            without a list counts as not revoked, and a warning says so once for each issuer: there is none of the
            issuer's, or only a delta list, which is left out.
            """),
        .trace: DirectiveManual(
            "continue|start|no", default: "no", example: "route *.example.com { intercept; trace continue }",
            """
            = continue
            A request that comes with a `traceparent` (W3C Trace Context) goes on with one of the proxy's own in the same
            trace.

            = start
            So does every other request, in a new trace.

            = no
            `traceparent` is a field like others. See `traces`.
            """),
        .via: DirectiveManual(
            "PARENT … [direct]", example: "route *.example.org { intercept; via corp direct }",
            "The parents to go through, in this order; `direct`: without, when none of them works."),
    ]
}

extension AuthorityDirective {
    static let manuals: [AuthorityDirective: DirectiveManual] = [
        .names: DirectiveManual(
            "NAME|ADDRESS …", example: "authority { names *.corp.example.com 10.0.0.0/8 }",
            """
            The only names and addresses that it may sign for, should its key ever be stolen; a certificate with others is
            refused by the clients themselves. `corp.example.com` includes all names below it, `*.corp.example.com` is
            those alone. They are built into the authority when it is made: `attache authority renew` after a change.
            """),
        .certificate: DirectiveManual(
            "FILE", example: "authority { certificate /etc/attache/ca.pem; key /run/secrets/ca.key }",
            "An authority of your own instead, as PEM."),
        .key: DirectiveManual(
            "FILE", example: "authority { certificate ca.pem; key ca.key }", "The key of your own authority, as PEM."),
        .passphrase: DirectiveManual(
            "VALUE", example: "authority { certificate ca.pem; key ca.key; passphrase file /run/secrets/ca.pass }",
            "Opens the key, if it is encrypted."),
    ]
}
