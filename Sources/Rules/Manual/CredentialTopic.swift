extension ManualTopic {
    static let credential = ManualTopic(
        "credential", "users, passwords and other secrets",
        """
        A credential is what the proxy logs in with. It is sent only where a `challenge` rule uses it.

            credential lab { user env LAB_USER; password env LAB_PASSWORD }
            credential anonymous { user anonymous; password "guest@example.com" }
            challenge "lab" { host lab.example.com; secure yes; use lab }

        `attache credential list` shows each credential and its state.

            $ attache credential list

        A credential is of one kind: a user and a password (this page), a client certificate ('attache help certificates'),
        a Kerberos principal ('attache help negotiate'), a token ('attache help tokens'), a value in a field or a query
        parameter ('attache help preemptive'), or a key that signs requests ('attache help aws').

        Do not write passwords in the rule file. Write them in a file that only the proxy can read, or in its environment.
        There is a warning if every user of the machine can read such a file: a secret, a key, a keytab, or a rule file with
        a secret in it. Read access for a group is accepted, because it is usual in a container's volume. A file is read
        again when it changes, so a new password needs no reload.

        A wrong password is sent at most twice, then rarely, until its value changes. A password that was accepted before is
        tried again by itself. See 'attache help refusals'. There are three ways to send a refused credential again at once:
        run `attache credential retry`, run `attache reload --retry`, or write its file again.

            $ attache credential retry lab
            $ touch /run/secrets/ci

        The proxy notices a file within a second, even if the content is the same: after `touch`, after another file took its
        place, or after a link to it changed, as in a secret that Kubernetes mounts. This is so for each file of a credential,
        except a Kerberos ticket cache. SIGHUP and a reload without `--retry` do not count.
        """, ManualTopic.Entry.of(FileDirective.credential), ManualTopic.Entry.of(CredentialDirective.user, .password))

    static let certificates = ManualTopic(
        "certificates", "client certificates (mutual TLS)",
        """
        Some servers ask their clients for a certificate in the TLS handshake. This page says how the proxy shows one.

            credential device { certificate /run/secrets/tls.crt; key /run/secrets/tls.key }
            challenge "device" { host api.example.com; issuer "CN=Device CA*"; use device }
            challenge "two teams" { host mtls.example.com; method client-certificate; use device }

        The certificate is in PEM files, in one PKCS#12 file, or in a PKCS#11 token. For a token, write its URI. OpenSSL's
        PKCS#11 provider must be installed (package pkcs11-provider) or, in Debian 12, its engine (libengine-pkcs11-openssl).
        They use the modules of p11-kit, such as SoftHSM's. The PIN is `passphrase`. A wrong one is sent once, since tokens lock
        themselves. The issuers in the certificate's file are sent too.

        If `use` has several credentials, the first one whose issuer the server accepts is shown. If the server accepts none
        of them and the rule names hosts, the first one is shown. With `default`, it is a stored certificate (`attache
        credential set --certificate`).

        = When the server refuses it
        A server refuses a certificate by a TLS alert about certificates: bad, unsupported, revoked, expired, unknown, unknown
        CA, access denied, or required. The page "The SSL certificate error" of nginx, and its status 495, count as well. Then
        the certificate is paused for this server ('attache help refusals'). The rules are asked again on another connection,
        with one more of `failures`. If no certificate is left, the proxy asks without one; after nginx's page, the client
        gets that page. Any other page, a broken connection and a time-out refuse nothing.

        The 502 page lists the issuers that the server accepts, and what happened to each certificate. `attache challenges`
        shows both kinds of TLS challenge.
        """, ManualTopic.Entry.of(CredentialDirective.certificate, .key, .pkcs12, .pkcs11, .passphrase),
        ManualTopic.Entry.ofPredicates(in: "certificates"))

    static let negotiate = ManualTopic(
        "negotiate", "Kerberos tickets (Negotiate, single sign-on)",
        """
        Use this for servers that ask for Negotiate (RFC 4559), such as intranet sites with Kerberos or Active Directory.

            credential svc { kerberos svc@CORP.EXAMPLE.COM; keytab /run/secrets/svc.keytab }
            credential crawl { kerberos crawl@CORP.EXAMPLE.COM; password file /run/secrets/crawl }
            challenge "intranet" { host *.corp.example.com; method negotiate; use svc }
            challenge "as the user in the store" { host wiki.example.com; method negotiate; default }

        A credential names the principal, and its keytab, its password, or a ticket cache that another program keeps current.
        The proxy gets tickets when it first needs them. It keeps them in memory, and renews them before they expire. Realms
        and KDCs come from the system's krb5.conf, or from the file in KRB5_CONFIG. It needs MIT Kerberos (Debian:
        libgssapi-krb5-2). NTLM is never used inside Negotiate.

        A user and a password can be used too, if the rule says `method negotiate`. The password then goes to the KDC.

        If the KDC is down or does not answer within `timeouts connect`, this is not a refusal. The same is true if a clock is
        wrong or a ticket is late. Then the proxy answers the other challenges of the response. If there are none, the client
        gets a 502 with the reason. A password or key that the KDC refuses is on hold ('attache help refusals').
        """, ManualTopic.Entry.of(CredentialDirective.kerberos, .keytab, .ccache),
        ManualTopic.Entry.of(
            ChallengeDirective.modifier(.spn), .modifier(.canonicalise), .modifier(.delegate)))

    static let aws = ManualTopic(
        "aws", "signed requests (AWS Signature Version 4)",
        """
        Use this to sign requests to AWS services with an access key. The tool itself needs no key.

            credential bucket { aws eu-central-1 s3; access-key AKIDEXAMPLE; secret-key file /run/secrets/aws }
            challenge "bucket" { host bucket.s3.eu-central-1.amazonaws.com; secure yes; use bucket }

        A key signs for one service in one region. The proxy signs each request to the hosts of a rule that uses it, without
        waiting for a challenge. Such a credential must be the only one in `use`.

        The signature covers the content, so the proxy reads the content first. `limits` says how much it can keep. For larger
        content, it signs the client's own digest (X-Amz-Content-Sha256). Without that, S3 accepts unsigned content.
        `payload unsigned` leaves all content unsigned.

        Write `secure yes` in the rule. Then nothing is signed over http, where a session token would be readable. If the
        client already signs with other keys, write `authorization replace`.
        """, ManualTopic.Entry.of(CredentialDirective.aws, .accessKey, .secretKey, .sessionToken, .payload))

    static let oauth1 = ManualTopic(
        "oauth1", "signed requests (OAuth 1.0a)",
        """
        Use this for services that want OAuth 1.0a (RFC 5849), such as NetSuite, Magento, WooCommerce, X, and Jira's
        application links. The tool itself needs no secret.

            credential shop { oauth1 hmac-sha256; consumer-key file ck; consumer-secret file cs }
            credential books {
                oauth1 hmac-sha256; consumer-key file ck; consumer-secret file cs
                access-token file token; token-secret file ts; realm 1234567
            }
            credential jira { oauth1 rsa-sha1; consumer-key attache; key jira.pem; access-token file token }
            challenge "shop" { host shop.example.com; secure yes; use shop }

        The proxy signs each request to the hosts of a rule that uses the credential, without waiting for a challenge. Such a
        credential must be the only one in `use`. The proxy does not get the access token: a user authorises the client once,
        and you write the token here.

        The signature covers method, URL and parameters. For a form (`application/x-www-form-urlencoded`) it covers the
        content too, so the proxy reads the form first. A form of more than 1 MiB gets 413. Other content is covered by
        `oauth_body_hash`, which `payload unsigned` leaves out. `limits` says how much content the proxy can keep.

        A client that sends its own Authorization keeps it, and so does a URL with `oauth_signature`. Write
        `authorization replace` if the client signs with other secrets.
        """,
        ManualTopic.Entry.of(
            CredentialDirective.oauth1, .consumerKey, .consumerSecret, .accessToken, .tokenSecret, .realm))

    static let bots = ManualTopic(
        "bots", "signed requests of bots and agents (Web Bot Auth)",
        """
        Use this if websites should know your crawler, probe or agent. Each request is signed with its key (HTTP Message
        Signatures, RFC 9421), as Web Bot Auth describes (draft-ietf-webbotauth-httpsig-protocol). The sites find the public
        key at the agent's URL. Bot walls such as Cloudflare's and AWS WAF's verify it.

            credential bot { sign key bot.pem; agent https://bot.example.com }
            challenge "all sites" { host *; use bot; preempt always }
            challenge "if asked" { host *.example.com; use bot }

        With `preempt always` each request is signed. Without it, a request is signed and sent again if the server refuses it
        with 401, 403 or 429 and asks for a signature (`Accept-Signature`). Other rules still answer logins of the same
        server.

        The signature covers the host (`@authority`) and the agent's URL (`Signature-Agent`). It is valid for 5 minutes. It
        says who asks. It does not say what is asked: a reader of the request can use its signature for other requests to that
        host until it expires. A server that wants more covered names it in `Accept-Signature`: method, path, query, fields,
        or the content (`content-digest`), which the proxy then reads first.

        The name of the key (`keyid`) is its JWK thumbprint (RFC 7638). A client that sends its own Signature keeps it,
        unless the rule says `authorization replace`. A client's Authorization goes beside the signature.
        """, ManualTopic.Entry.of(CredentialDirective.sign, .agent))

    static let tokens = ManualTopic(
        "tokens", "bearer tokens and OAuth 2.0",
        """
        Use this for servers that ask for a bearer token (RFC 6750). The token is in a file, or the proxy fetches it (OAuth
        2.0, RFC 6749).

            credential api { token file /run/secrets/token }
            challenge "api" { host api.example.com; secure yes; use api }

            credential crm  { oauth2 https://id.example.com/token; client-id crm; client-secret file secret; scope read }
            credential jobs { oauth2 https://id.example.com/token; client-id jobs; key jobs.key; key-id 7; audience https://api }

        With `issuer` instead of `oauth2`, the proxy finds the endpoint, and asks for the scopes that a server announces: see
        'attache help discovery'.

        A token is fetched when it is first needed. It is fetched again before it expires, or when a server refuses it. While
        the token endpoint is down, the token is used until it expires, and never after. An endpoint that refuses the client
        or the grant is treated like a server that refuses a password ('attache help refusals').

        The client proves its identity by `client-secret`, by a signature of `key`, by `certificate` and `key`, or by a JWT that
        another program writes (`client-assertion`). Other grants are `refresh-token`, `assertion` and `subject-token`.

        = Exchanged tokens
        `subject-token` exchanges a token for another one (RFC 8693), as clouds do with projected tokens. A token can come from
        another credential, in a chain of at most four:

            credential jag  { oauth2 https://idp.example.com/token; client-id A; client-secret file s; subject-token file id.jwt id_token; requested id-jag; audience https://as.example.com }
            credential tool { oauth2 https://as.example.com/token; client-id A; client-secret file t; assertion credential jag }

        If the endpoint refuses such a token, its file is read again, or its credential gets another one. If it differs, the
        request is sent once more. A token that is no bearer token is sent to no server that asks for a login.

        = Where tokens come from

        The request to the endpoint follows its `route`: TLS settings and parents. A parent's 407 is answered as for a client
        at 127.0.0.1, but not with a token that has yet to be fetched. `egress` and `route deny` do not apply to token
        requests.

        Some endpoints give a new refresh token with each token. The next request uses the new one, until `refresh-token`
        changes in the rule file. If the endpoint refuses it (`invalid_grant`), `refresh-token` is sent once more. This needs
        a `store`, which saves the refresh token for the next start. Proxies that share the store take turns, so each refresh
        token is sent once. While the store is down, a token is used until it expires, and no other is fetched.
        """,
        ManualTopic.Entry.of(
            CredentialDirective.token, .oauth2, .clientID, .clientSecret, .clientAuthentication, .keyID,
            .assertionAudience,
            .refreshToken, .assertion, .clientAssertion, .subjectToken, .actorToken, .requested, .subject, .scope,
            .audience,
            .parameter))

    static let discovery = ManualTopic(
        "discovery", "tokens that servers announce (MCP, OAuth discovery)",
        """
        Some servers announce which token they want: MCP servers, and others that follow RFC 9728. With `issuer`, the proxy
        reads that, and asks the issuer for a token.

            credential mcp { issuer https://id.example.com; client-id agent; client-secret file secret; scope files:read }
            challenge "mcp" { host mcp.example.com; secure yes; use mcp }

        The rule file decides who gets the client's secret: the issuer. The server only names its resource and scopes. If the
        server is served by another issuer, the proxy sends nothing, and the client gets the server's 401 with the reason in
        Proxy-Status.

        `attache init URL` sets this up: it shows the issuer that the server announces, and asks whether your client secret is
        for it. `attache challenges` prints the lines for a server that no rule names. `attache explain --ask URL` shows issuer,
        resource and scopes, and which scopes `scope` leaves out.

        = The token endpoint
        It is in the issuer's metadata, at /.well-known/oauth-authorization-server or /.well-known/openid-configuration. The
        metadata must name the same issuer, byte for byte, and an https token endpoint. Redirects are not followed. It is kept
        for an hour. If you write `oauth2` as well, that is the endpoint, and nothing is read.

        = Resource and scopes
        The server's metadata is where its challenge says (`resource_metadata`), if that is on the server itself. Else it is at
        /.well-known/oauth-protected-resource. The resource must be on the server, and its path must cover the request. The
        token is sent to that path and below it.

        `scope` is the most that is ever asked for. With `scope *` the limit is 32 scopes, 2,048 bytes in all. The scopes are
        those of the challenge, else those of the metadata, else all of `scope`. A server without metadata gets a token with
        all of `scope`.

        A server may answer 403 or 401 because it wants more scopes (`insufficient_scope`). The proxy then fetches a token
        with them as well, within `scope`, and sends the request again, at most twice. If the request's body is too large to be
        sent again, the client gets the response, and the next request has the new token. A refresh token cannot get more
        scopes.

        A 401 without any challenge counts as a challenge for a token, if the rule uses a credential with `issuer`: some
        servers only have the metadata. The proxy does that once for a request, and not if it was sent with a valid token.

        `resource none` and `resource URL` read nothing from the server. Some issuers refuse `resource`, such as Entra
        (AADSTS9010010): write `resource none`.
        """, ManualTopic.Entry.of(CredentialDirective.issuer, .resource))

    static let registries = ManualTopic(
        "registries", "container registries (Docker and OCI images)",
        """
        Container registries name a token server in their challenge, and the scopes of the token. With `registry`, the proxy
        gets the token with a user and a password. The tools that pull and push need no login.

            credential hub  { user builder; password file /run/secrets/hub; registry https://auth.docker.io/token }
            credential ours { user ci; password file /run/secrets/ci; registry }
            credential open { registry https://auth.docker.io/token }
            challenge "hub" { host registry-1.docker.io; secure yes; use hub }
            challenge "ours" { host registry.example.com; secure yes; use ours }

        The rule file decides who gets the password. Without a URL, the token server must be on the registry's own host and
        port, by https. With a URL, the registry must name exactly this one; a query is left out. If the registry names another
        one, nothing is sent. The client then gets the registry's 401, and Proxy-Status has the directive to write.

        `attache init --intercept https://registry.example.com/` writes the rules, and `attache challenges` suggests them.
        `attache explain --ask URL` shows the token server that a registry names, the scopes that a request needs, and which of
        them `scope` leaves out.

        A credential without user and password gets the tokens that anyone gets. This helps tools that cannot fetch one.

        = Scopes
        A scope has a type, a name and actions, such as `repository:team/app:pull,push`. The proxy asks for the scopes of the
        challenge, at most 16 of 256 bytes. `scope` is the most that is ever asked for, and `*` in it stands for any text:

            credential ci { user ci; password file /run/secrets/ci; registry; scope repository:team/*:pull registry:catalog:* }

        The token server decides what it grants. If it grants less, the client gets the registry's 401 with the reason.

        = How long tokens are used
        A token is used for its repository, for reading or writing, and renewed before it ends. After the first request, others
        are sent with the token at once. A token without a lifetime is used for 60 seconds. At most 1,024 tokens are kept, in
        memory alone.

        = When the token server refuses
        401 and 403 refuse the user and password, which are then on hold there ('attache help refusals'). Any other failure is
        temporary, and `Retry-After` is kept for all repositories. Redirects are not followed.

        Some registries ask for Basic instead of a token. They get the user and password, unless the rule file names a token
        server on another host. If a registry asks for both, it gets a token.
        """, ManualTopic.Entry.of(CredentialDirective.registry))
}
