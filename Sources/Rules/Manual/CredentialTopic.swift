extension ManualTopic {
    static let credential = ManualTopic(
        "credential", "users, passwords and other secrets, and where they are",
        """
        A credential is of one kind: a user and a password (here), a certificate ('attache help certificates'), a Kerberos
        principal ('negotiate'), a token ('tokens'), a value in a place of its own ('unasked'), or a key that signs ('aws').
        It is sent only where a `challenge` rule uses it.

            credential lab { user env LAB_USER; password env LAB_PASSWORD }
            credential anonymous { user anonymous; password "guest@example.com" }

        Better than a password that stands in the rule file is one in a file that only the proxy can read, or in its
        environment. A warning says so where every user of the machine can read the file, a key or a keytab, or the rule
        file with a secret in it; that a group can is usual in a container's volume. A file is read again when it changes,
        so that a new password needs no reload.

        A wrong password is sent twice at most, then rarely, until its value changes. One that was accepted before is tried
        again by itself. `attache credential list` shows the state of each, and `attache credential retry` has them sent
        again at once: 'attache help refusals'.

        There are three ways to have a refused credential sent again at once: `attache credential retry`, `attache reload
        --retry`, and to write its file again.

            $ touch /run/secrets/ci

        A file counts as written again within a second, even with the same content: when it was touched, or replaced by
        another, or when the link to it leads elsewhere, as in a secret that Kubernetes mounts. This holds for each file that
        a credential names, except a Kerberos cache. SIGHUP and a reload without `--retry` do not count.
        """, ManualEntry.of(FileDirective.credential), ManualEntry.of(CredentialDirective.user, .password))

    static let certificates = ManualTopic(
        "certificates", "client certificates, for servers that ask their clients for one",
        """
        In PEM files, in one PKCS#12 file, or in a token by its PKCS#11 URI, if OpenSSL's provider for it is installed. The
        issuers that stand behind the certificate in its file are sent along.

            credential device { certificate /run/secrets/tls.crt; key /run/secrets/tls.key }
            challenge "device" { host api.example.com; issuer "CN=Device CA*"; use device }
            challenge "two teams" { host mtls.example.com; method client-certificate; use device }

        Of several credentials of `use` it is the first whose issuer the server accepts, or, where it accepts none of them
        and the rule names hosts, the first. With `default` it is a stored certificate (`attache credential set
        --certificate`).

        A server refuses the one that it was shown by breaking TLS off with an alert that names certificates (bad,
        unsupported, revoked, expired, unknown, of an unknown authority; access denied, required). Then the rules are
        asked again on another connection, with one more of `failures`; the certificate is paused for this server ('attache
        help refusals'); and where no other is left the server is asked without. The page "The SSL certificate error" of
        nginx, and its status 495, do the same; where no other is left the client gets that page. Any other page, a
        connection that breaks and a time limit refuse nothing. A 502 lists the issuers that the server
        accepts, and what became of each certificate; `attache challenges` has both kinds of challenge of TLS.
        """, ManualEntry.of(CredentialDirective.certificate, .key, .pkcs12, .pkcs11, .passphrase),
        ManualEntry.of(ChallengeDirective.issuer))

    static let negotiate = ManualTopic(
        "negotiate", "Kerberos tickets, for servers that ask by Negotiate",
        """
        A Kerberos principal, for Negotiate (RFC 4559), with its keytab, its password, or a ticket cache that another
        program keeps current. Tickets are got when first needed, held in memory, and renewed ahead of their end. Realms
        and KDCs are those of the system's krb5.conf, or of the file that KRB5_CONFIG names. It needs MIT Kerberos
        (Debian: libgssapi-krb5-2). NTLM is never spoken inside.

            credential svc { kerberos svc@CORP.EXAMPLE.COM; keytab /run/secrets/svc.keytab }
            credential crawl { kerberos crawl@CORP.EXAMPLE.COM; password file /run/secrets/crawl }
            challenge "intranet" { host *.corp.example.com; method negotiate; use svc }
            challenge "as the user in the store" { host wiki.example.com; method negotiate; default }

        A KDC that is down or says nothing (for `timeouts connect`), a clock that is off and a ticket that is late are no
        refusals: the response's other challenges are tried, else the client gets a 502 that says so. A password or key
        that the KDC refuses is on hold like one that a server refuses (`attache help refusals`). A user and a password
        are taken to a KDC too, by a rule that names the method `negotiate`.
        """, ManualEntry.of(CredentialDirective.kerberos, .keytab, .ccache),
        ManualEntry.of(ChallengeDirective.spn, .canonicalise, .delegate))

    static let aws = ManualTopic(
        "aws", "requests that are signed (AWS Signature Version 4)",
        """
        An access key signs requests for one service in one region. No server asks for a signature: each request to the
        host of a rule that uses it is signed, over its content too, which is read first as far as `limits` let it be
        kept. Of larger content the client's own digest is signed, if it says one (X-Amz-Content-Sha256); else S3 takes it
        unsigned, and `payload unsigned` leaves all of it unsigned.

            credential bucket { aws eu-central-1 s3; access-key AKIDEXAMPLE; secret-key file /run/secrets/aws }
            challenge "bucket" { host bucket.s3.eu-central-1.amazonaws.com; secure yes; use bucket }

        A session token goes in clear over http: say `secure yes` in the rule, and nothing is signed there. Where the client
        signs with keys of its own, say `authorization replace`. Such a credential waits for no challenge, and stands alone
        in `use`.
        """, ManualEntry.of(CredentialDirective.aws, .accessKey, .secretKey, .sessionToken, .payload))

    static let tokens = ManualTopic(
        "tokens", "bearer tokens, from a file or fetched (OAuth 2.0)",
        """
        A bearer token (RFC 6750) goes to each server of a rule that asks for one.

            credential api { token file /run/secrets/token }
            challenge "api" { host api.example.com; secure yes; use api }

        One that is fetched where it is given (OAuth 2.0, RFC 6749) is asked for when it is first needed, and again before
        it ends, or when a server refuses it. While the endpoint is down a token is used until it ends, and never after.
        An endpoint that refuses the client or the grant is asked again as a server that refuses a password: 'attache help
        refusals'.
        The client shows who it is by `client-secret`, by a signature of `key`, or by `certificate` and `key`. Other
        grants: `refresh-token`, `assertion`. The endpoint is asked as its `route` says, by TLS as it says and through its
        parents, whose 407 is answered as to a client at 127.0.0.1, though not with a token that was not fetched yet.
        `egress` and `deny` keep clients away, and have no say about it.

            credential crm  { oauth2 https://id.example.com/token; client-id crm; client-secret file secret; scope read }
            credential jobs { oauth2 https://id.example.com/token; client-id jobs; key jobs.key; key-id 7; audience https://api }

        Where the endpoint gives another refresh token with each token, the next request to it has that one, until
        `refresh-token` itself is changed; if the endpoint refuses it (`invalid_grant`), `refresh-token` is sent once more.
        Such an endpoint needs a `store`, which keeps the refresh token for the next start. Proxies that share the store take
        turns, so that each refresh token is sent once; while the store is away a token is used until it ends, and no other
        is fetched.
        """,
        ManualEntry.of(
            CredentialDirective.token, .oauth2, .clientID, .clientSecret, .clientAuthentication, .keyID,
            .assertionAudience,
            .refreshToken,
            .assertion, .scope, .audience))
}
