extension CredentialDirective {
    private static let endpoint = "oauth2 https://id.example.com/token; client-id crm"

    static let manuals: [CredentialDirective: DirectiveManual] = [
        .user: DirectiveManual(
            "VALUE", example: "credential ci { user builder; password file /run/secrets/ci }",
            """
            The user's name. For NTLM it may be CORP\\builder, builder@corp.example.com, or builder alone.
            """),
        .password: DirectiveManual(
            "VALUE", example: "credential ci { user builder; password file /run/secrets/ci }",
            "The password, of a user or of a Kerberos principal."),
        .certificate: DirectiveManual(
            "FILE", example: "credential device { certificate /run/secrets/tls.crt; key /run/secrets/tls.key }",
            "The certificate, then its issuers, as PEM. With `oauth2` it is shown to the token endpoint."),
        .key: DirectiveManual(
            "FILE", example: "credential device { certificate /run/secrets/tls.crt; key /run/secrets/tls.key }",
            "The private key of the certificate, as PEM; with `oauth2` alone, the key that signs for the client."),
        .pkcs12: DirectiveManual(
            "FILE", example: "credential badge { pkcs12 badge.p12; passphrase file /run/secrets/badge.pass }",
            "A file with the certificate, its key and its issuers, binary or in base64."),
        .pkcs11: DirectiveManual(
            "URI",
            example: "credential vault { pkcs11 \"pkcs11:token=vault;object=client\"; passphrase env VAULT_PIN }",
            "A token that holds them, by its PKCS#11 URI."),
        .passphrase: DirectiveManual(
            "VALUE", example: "credential badge { pkcs12 badge.p12; passphrase file /run/secrets/badge.pass }",
            "Opens an encrypted key or the PKCS#12 file, or is the token's PIN."),
        .kerberos: DirectiveManual(
            "PRINCIPAL", example: "credential svc { kerberos svc@CORP.EXAMPLE.COM; keytab /run/secrets/svc.keytab }",
            "The principal: NAME@REALM, NAME/INSTANCE@REALM, or without a realm for the default one."),
        .keytab: DirectiveManual(
            "FILE", example: "credential svc { kerberos svc@CORP.EXAMPLE.COM; keytab /run/secrets/svc.keytab }",
            "The keys of the principal; the file is read again when it changes."),
        .ccache: DirectiveManual(
            "FILE", example: "credential batch { kerberos batch@CORP.EXAMPLE.COM; ccache FILE:/run/user/1000/krb5cc }",
            """
            A ticket cache that another program keeps current: a path, or a name as klist shows it, with FILE:, DIR:, KCM:
            or KEYRING: before it.
            """),
        .token: DirectiveManual("VALUE", example: "credential api { token file /run/secrets/token }", "The token."),
        .oauth2: DirectiveManual(
            "URL", example: "credential crm { \(endpoint); client-secret file secret }",
            "The token endpoint; by http for this machine alone."),
        .clientID: DirectiveManual(
            "TEXT", example: "credential crm { \(endpoint); client-secret file secret }",
            "The client's name at the endpoint."),
        .clientSecret: DirectiveManual(
            "VALUE", example: "credential crm { \(endpoint); client-secret file secret }",
            "The client's password there."),
        .clientAuthentication: DirectiveManual(
            "basic|post", default: "basic",
            example: "credential crm { \(endpoint); client-secret file secret; client-authentication post }",
            "Where the secret stands: in a field, or in the content."),
        .keyID: DirectiveManual(
            "TEXT",
            example: "credential jobs { oauth2 https://id.example.com/token; client-id jobs; key jobs.key; key-id 7 }",
            "The name of the key that signs, for the endpoint (`kid`)."),
        .assertionAudience: DirectiveManual(
            "endpoint|URL", default: "endpoint",
            example: "credential jobs { \(endpoint); key jobs.key; assertion-audience https://id.example.com }",
            "Whom the signed assertions are for (`aud`): the token endpoint, or the issuer, which FAPI 2.0 and OpenID Connect "
                + "Core want."),
        .refreshToken: DirectiveManual(
            "VALUE", example: "credential crm { \(endpoint); refresh-token file refresh }\nstore sqlite credentials.db",
            "A refresh token, as the grant. It wants a `store`, since the endpoint may give another one."),
        .assertion: DirectiveManual(
            "VALUE", example: "credential crm { \(endpoint); assertion file jwt }",
            "A token of another issuer, in exchange for one (RFC 7523)."),
        .scope: DirectiveManual(
            "SCOPE …", example: "credential crm { \(endpoint); client-secret file secret; scope read write }",
            "The rights that the token is asked for."),
        .audience: DirectiveManual(
            "TEXT",
            example: "credential crm { \(endpoint); client-secret file secret; audience https://api.example.com }",
            "The service that the token is for."),
        .aws: DirectiveManual(
            "REGION SERVICE",
            example: "credential brief { aws eu-central-1 execute-api; access-key file id; secret-key file key }",
            "The region and the service that the signatures are for."),
        .accessKey: DirectiveManual(
            "VALUE", example: "credential bucket { aws eu-central-1 s3; access-key AKIDEXAMPLE; secret-key file aws }",
            "The name of the key."),
        .secretKey: DirectiveManual(
            "VALUE", example: "credential bucket { aws eu-central-1 s3; access-key AKIDEXAMPLE; secret-key file aws }",
            "The key itself."),
        .sessionToken: DirectiveManual(
            "VALUE",
            example:
                "credential b { aws eu-central-1 s3; access-key file id; secret-key file key; session-token file token }",
            "Of temporary keys."),
        .payload: DirectiveManual(
            "signed|unsigned", default: "signed",
            example: "credential bucket { aws eu-central-1 s3; access-key A; secret-key file aws; payload unsigned }",
            "Whether a request's content is hashed before it is sent."),
        .header: DirectiveManual(
            "NAME VALUE", example: "credential shop { token file key; header X-Api-Key \"{token}\" }",
            "Puts it into a field. Eight places at most, with those of `query`."),
        .query: DirectiveManual(
            "NAME [VALUE]", example: "credential maps { token file key; query api_key }",
            "Puts it into the URL's query, encoded. Of a token alone the value need not be said."),
    ]
}
