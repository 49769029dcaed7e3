extension CredentialDirective {
    private static let endpoint = "oauth2 https://id.example.com/token; client-id crm"

    private static let consumer = "oauth1 hmac-sha256; consumer-key K; consumer-secret file secret"

    static let manuals: [CredentialDirective: DirectiveManual] = [
        .user: DirectiveManual(
            "VALUE", example: "credential ci { user builder; password file /run/secrets/ci }",
            "The user's name. For NTLM write CORP\\builder, builder@corp.example.com, or builder alone."),
        .password: DirectiveManual(
            "VALUE", example: "credential ci { user builder; password file /run/secrets/ci }",
            "The password, of a user or of a Kerberos principal."),
        .certificate: DirectiveManual(
            "FILE", example: "credential device { certificate /run/secrets/tls.crt; key /run/secrets/tls.key }",
            "The certificate followed by its issuers, as PEM. With `oauth2` it is shown to the token endpoint."),
        .key: DirectiveManual(
            "FILE", example: "credential device { certificate /run/secrets/tls.crt; key /run/secrets/tls.key }",
            "The private key of the certificate, as PEM. With `oauth2` and no certificate, it is the key that signs for the client. With `oauth1 rsa-sha1`, it signs the requests."
        ),
        .pkcs12: DirectiveManual(
            "FILE", example: "credential badge { pkcs12 badge.p12; passphrase file /run/secrets/badge.pass }",
            "A PKCS#12 file with the certificate, its key and its issuers, binary or in base64."),
        .pkcs11: DirectiveManual(
            "URI",
            example: "credential vault { pkcs11 \"pkcs11:token=vault;object=client\"; passphrase env VAULT_PIN }",
            "The PKCS#11 URI of a token that holds the certificate and its key."),
        .passphrase: DirectiveManual(
            "VALUE", example: "credential badge { pkcs12 badge.p12; passphrase file /run/secrets/badge.pass }",
            "The passphrase of the key or of the PKCS#12 file, or the PIN of the token."),
        .helper: DirectiveManual(
            "plain|git|docker|kubectl|aws|bazel|cargo COMMAND …, or KIND unix:PATH",
            example: "credential forge { helper git git-credential-store }",
            """
            A program that gives the credential. It is started without a shell when a server first asks for a login. `plain`
            takes a token from one line of its output, or a user and a password from two. The other words are protocols:
            those of git's and Docker's credential helpers, of Kubernetes' and AWS' credential plugins, of Bazel's credential
            helpers and of Cargo's credential providers. `helper aws` needs `aws` beside it. With `unix:PATH`, another
            user's process answers at a socket.
            """),
        .environment: DirectiveManual(
            "NAME …", example: "credential lab { user ci; password run pass show ci; environment GNUPGHOME }",
            "The variables of the proxy's environment that `helper` and `run` get, besides PATH, LANG and HOME."),
        .keep: DirectiveManual(
            "DURATION", example: "credential eks { helper plain gh auth token; keep 10m }",
            """
            How long the output of `helper` and `run` is used. It is read again before that. Without `keep`, it is used until a
            server refuses it, or until the time that the helper names.
            """),
        .path: DirectiveManual(
            "yes|no", default: "no", example: "credential forge { helper git git-credential-store; path yes }",
            "Whether the helper, of git or Bazel, gets the path of the request, and may give each path another credential."
        ),
        .kerberos: DirectiveManual(
            "PRINCIPAL", example: "credential svc { kerberos svc@CORP.EXAMPLE.COM; keytab /run/secrets/svc.keytab }",
            "The principal: NAME@REALM or NAME/INSTANCE@REALM. Without a realm, it is in the default realm."),
        .keytab: DirectiveManual(
            "FILE", example: "credential svc { kerberos svc@CORP.EXAMPLE.COM; keytab /run/secrets/svc.keytab }",
            "The file with the keys of the principal. It is read again when it changes."),
        .ccache: DirectiveManual(
            "FILE", example: "credential batch { kerberos batch@CORP.EXAMPLE.COM; ccache FILE:/run/user/1000/krb5cc }",
            """
            A ticket cache that another program keeps current: a path, or a name as klist shows it, which begins with FILE:,
            DIR:, KCM: or KEYRING:. In a collection, such as `KCM:`, the proxy takes the cache of the principal.
            """),
        .token: DirectiveManual(
            "VALUE", example: "credential api { token file /run/secrets/token }", "The bearer token."),
        .oauth2: DirectiveManual(
            "URL", example: "credential crm { \(endpoint); client-secret file secret }",
            "The URL of the token endpoint. It must be https, unless it is on this machine."),
        .issuer: DirectiveManual(
            "URL",
            example: "credential mcp { issuer https://id.example.com; client-id agent; client-secret file secret }",
            """
            The issuer of the tokens, instead of `oauth2`. The proxy reads the issuer's metadata (RFC 8414, or OpenID Connect
            Discovery) and takes the token endpoint from there. The URL must be https, unless it is on this machine. Write it
            exactly as the server does, with or without a slash at the end. With `oauth2` as well, nothing is read.
            """),
        .registry: DirectiveManual(
            "[URL]",
            example:
                "credential images { user deploy; password file pat; registry https://gitlab.example.com/jwt/auth }",
            """
            The credential is for a container registry, which names a token server (`realm`). Without a URL, the token
            server must be on the registry's own host and port. With one, it must be exactly this URL, query left out. It
            must be https, unless it is on this machine. Without `user` and `password`, tokens are fetched that anyone gets.
            """),
        .clientID: DirectiveManual(
            "TEXT", example: "credential crm { \(endpoint); client-secret file secret }",
            "The client's name at the token endpoint."),
        .clientSecret: DirectiveManual(
            "VALUE", example: "credential crm { \(endpoint); client-secret file secret }",
            "The client's password at the token endpoint."),
        .clientAuthentication: DirectiveManual(
            "basic|post", default: "basic",
            example: "credential crm { \(endpoint); client-secret file secret; client-authentication post }",
            "How to send the client secret: `basic` in the Authorization field, `post` in the request body."),
        .keyID: DirectiveManual(
            "TEXT",
            example: "credential jobs { oauth2 https://id.example.com/token; client-id jobs; key jobs.key; key-id 7 }",
            "The name of the signing key at the endpoint (`kid`)."),
        .assertionAudience: DirectiveManual(
            "issuer|endpoint|TEXT", default: "endpoint",
            example: "credential jobs { \(endpoint); key jobs.key; assertion-audience https://id.example.com }",
            """
            The audience of signed assertions (`aud`): the issuer, the token endpoint, or this text. With `issuer URL`, the
            default is the issuer, as FAPI 2.0 and OpenID Connect Core require. Some servers take the endpoint only, such as
            glewlwyd: write `endpoint`.
            """),
        .refreshToken: DirectiveManual(
            "VALUE", example: "credential crm { \(endpoint); refresh-token file refresh }\nstore sqlite credentials.db",
            "A refresh token, used as the grant. It needs a `store`, because the endpoint may replace it."),
        .assertion: DirectiveManual(
            "VALUE|credential NAME|key FILE", example: "credential crm { \(endpoint); assertion file jwt }",
            """
            A JWT of another issuer, exchanged for an access token (RFC 7523). A file is read for each fetch. With `key`, the
            proxy signs the JWT: the issuer is `client-id`, the audience `assertion-audience`.
            """),
        .clientAssertion: DirectiveManual(
            "VALUE|credential NAME",
            example: "credential az { \(endpoint); client-assertion file /var/run/secrets/token }",
            """
            A JWT by which the client proves its identity, instead of a secret (RFC 7523). A file is read for each fetch, so
            another program can keep it current, such as a projected token of Kubernetes.
            """),
        .subjectToken: DirectiveManual(
            "VALUE|credential NAME [TYPE]",
            example: "credential gcp { oauth2 https://sts.example.com/v1/token; subject-token file token; audience x }",
            """
            A token to exchange for another one (RFC 8693). A file is read for each fetch. The types are jwt, access_token,
            id_token, refresh_token, saml2 and id-jag. The default is jwt, for another credential's token access_token.
            """),
        .actorToken: DirectiveManual(
            "VALUE|credential NAME [TYPE]",
            example:
                "credential kc { \(endpoint); client-secret file s; subject-token file id.jwt; actor-token file sa }",
            "A token that says who acts for the subject, sent beside `subject-token`."),
        .requested: DirectiveManual(
            "TYPE",
            example:
                "credential jag { \(endpoint); client-secret file s; subject-token file id.jwt id_token; requested id-jag }",
            "The type of the token to ask for in an exchange. Without it, the server chooses."),
        .subject: DirectiveManual(
            "TEXT",
            example: "credential sf { \(endpoint); assertion key sf.key; subject user@example.com }",
            "The user for whom `assertion key` signs (`sub`). Without it, the subject is the client."),
        .resource: DirectiveManual(
            "auto|none|URL", default: "none",
            example:
                "credential mcp { issuer https://id.example.com; client-id a; client-secret file s; resource none }",
            """
            The `resource` to ask a token for (RFC 8707): the one that the server announces, none, or this URL. With `issuer`, the
            default is `auto`. Some servers refuse the field (`invalid_target`, Entra's AADSTS9010010): write `none`.
            """),
        .parameter: DirectiveManual(
            "NAME VALUE",
            example: "credential sf { \(endpoint); client-secret file s; parameter federation_rule fdrl_1 }",
            "One more field of the token request. It can be written several times. Fields with a directive are refused."
        ),
        .scope: DirectiveManual(
            "SCOPE …", example: "credential crm { \(endpoint); client-secret file secret; scope read write }",
            """
            The scopes to ask for. For a server that announces scopes, the most that is asked for; `*` is no limit. For a
            registry, the most is written like `repository:team/*:pull`; without `scope` there is no limit.
            """),
        .audience: DirectiveManual(
            "TEXT",
            example: "credential crm { \(endpoint); client-secret file secret; audience https://api.example.com }",
            "The service that will receive the token."),
        .aws: DirectiveManual(
            "REGION SERVICE",
            example: "credential brief { aws eu-central-1 execute-api; access-key file id; secret-key file key }",
            "The AWS region and service."),
        .accessKey: DirectiveManual(
            "VALUE", example: "credential bucket { aws eu-central-1 s3; access-key AKIDEXAMPLE; secret-key file aws }",
            "The access key ID."),
        .secretKey: DirectiveManual(
            "VALUE", example: "credential bucket { aws eu-central-1 s3; access-key AKIDEXAMPLE; secret-key file aws }",
            "The secret access key."),
        .sessionToken: DirectiveManual(
            "VALUE",
            example:
                "credential b { aws eu-central-1 s3; access-key file id; secret-key file key; session-token file token }",
            "The session token of temporary keys."),
        .payload: DirectiveManual(
            "signed|unsigned", default: "signed",
            example: "credential bucket { aws eu-central-1 s3; access-key A; secret-key file aws; payload unsigned }",
            "Whether the signature covers the content of a request. With `oauth1`, this is about content that is no form."
        ),
        .oauth1: DirectiveManual(
            "hmac-sha256|hmac-sha1|rsa-sha1|plaintext", example: "credential shop { \(consumer) }",
            "The signature method of OAuth 1.0a. `plaintext` sends the secrets themselves, and needs `secure yes`."),
        .consumerKey: DirectiveManual(
            "VALUE", example: "credential shop { \(consumer) }", "The consumer key: the client's name at the server."),
        .consumerSecret: DirectiveManual(
            "VALUE", example: "credential shop { \(consumer) }",
            "The consumer secret. With `rsa-sha1`, write `key` instead."),
        .accessToken: DirectiveManual(
            "VALUE", example: "credential shop { \(consumer); access-token file token; token-secret file tsecret }",
            "The access token. Without it, the signature is the client's alone."),
        .tokenSecret: DirectiveManual(
            "VALUE", example: "credential shop { \(consumer); access-token file token; token-secret file tsecret }",
            "The secret of the access token."),
        .realm: DirectiveManual(
            "TEXT", example: "credential shop { \(consumer); realm \"1234567\" }",
            "The realm that the Authorization field names. It is not signed."),
        .sign: DirectiveManual(
            "key FILE", example: "credential bot { sign key bot.pem; agent https://bot.example.com }",
            "The Ed25519 key, as PEM. `openssl genpkey -algorithm ed25519 -out bot.pem` makes one."),
        .agent: DirectiveManual(
            "URL", example: "credential bot { sign key bot.pem; agent https://bot.example.com }",
            """
            The https URL that the agent is known by. Its public key is published at
            /.well-known/http-message-signatures-directory there.
            """),
        .header: DirectiveManual(
            "NAME VALUE", example: "credential shop { token file key; header X-Api-Key \"{token}\" }",
            "Sends the credential in this field. `header` and `query` together may appear eight times."),
        .query: DirectiveManual(
            "NAME [VALUE]", example: "credential maps { token file key; query api_key }",
            "Sends the credential as this query parameter, encoded. For a token the value can be omitted."),
        .placeholder: DirectiveManual(
            "TEXT",
            example: "credential ai { token file key; placeholder sk-attache-ai-5f0c3d2e9b7a4168 }",
            """
            A text that clients send instead of the token or the password, and that the proxy replaces ('attache help
            placeholders'). It has 16 to 512 letters, digits or -._~+/=, and `attache` among them. No two credentials have the
            same one. With `placeholder`, `header` names a further field where it is replaced; its value may be left out.
            """),
    ]
}
