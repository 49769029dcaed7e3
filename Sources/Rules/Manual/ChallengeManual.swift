extension ChallengeDirective {
    static let manuals: [ChallengeDirective: DirectiveManual] = {
        var manuals: [ChallengeDirective: DirectiveManual] = [:]
        for name in Predicates.Name.allCases { manuals[.predicate(name)] = name.type.manual }
        for (word, manual) in answers { manuals[.answer(word)] = manual }
        for (word, manual) in modifiers.merging(ofTrust, uniquingKeysWith: { $1 }) { manuals[.modifier(word)] = manual }
        return manuals
    }()

    private static let answers: [Answer: DirectiveManual] = [
        .use: DirectiveManual(
            "NAME …", example: "challenge { host old.example.com; secure yes; use lab ci }",
            """
            Answer with this credential. With several (at most 8), each is used after the ones before it were refused, for the
            methods that it can answer. A credential that signs requests (`aws`) must be the only one.
            """),
        .default: DirectiveManual(
            "", example: "challenge { host *.example.com; secure yes; default }",
            """
            Answer with the credential in the request's URL, or else with that of the client's session, or else with the
            store's default. If there is none, the client gets the challenge unchanged. For TLS: the stored certificates for
            the server, and the exceptions for its key. Of the certificates that the server accepts, the default is first.
            """),
        .reject: DirectiveManual(
            "", example: "challenge { method basic; secure no; reject }",
            "Do not answer this challenge, try the next one of the response. For TLS: send no certificate, do not trust the server."
        ),
        .cancel: DirectiveManual(
            "", example: "challenge { host *.corp.example.com; method other; cancel }",
            "Refuse the request. The client gets a 502 that names this rule."),
        .ask: DirectiveManual(
            "", example: "challenge \"people\" { host lab.example.com; secure yes; ask }",
            """
            Wait for an operator, who answers by 'attache ask' or on the dashboard. After `timeouts { ask }` it is the same as
            `cancel`. If `default` has a credential, that is used first. The operator can save an answer for later requests,
            and take it back. Without `method`, this is not for Negotiate and unknown methods.
            """),
        .trust: DirectiveManual(
            "", example: "challenge \"our own root\" { host *.corp.example.com; anchor corp-root.pem; trust }",
            "Accept the server's certificate, under the conditions of this rule."),
    ]

    private static let modifiers: [Modifier: DirectiveManual] = [
        .form: DirectiveManual(
            "{ … }",
            example: """
                challenge {
                    host   portal.example.com
                    secure yes
                    form   { recognise contains "log in"; login /login; fields user={user} password={password} }
                    use    ci
                }
                """,
            "The login page of a site ('attache help forms')."),
        .attempts: DirectiveManual(
            "N", default: "1", example: "challenge { host ci.example.com; use ci; attempts 2 }",
            """
            How many answers of one credential a request may have: 1 to 10. For an operator (`ask`) it is 3. A refused value is
            not sent again, so more than 1 helps only if the value changes meanwhile. In a rule with `failures N`, these N
            refusals count too. There the default is N + 1, and with less the rule never answers.
            """),
        .retry: DirectiveManual(
            "never|DURATION …", default: "30s 5m 30m",
            example: "challenge \"a lock after three a day\" { host hr.example.com; secure yes; use lab; retry 12h }",
            """
            How long a refused value is paused, if the server had accepted it before. After each of these times, one request
            tries it again. The last time repeats. Write 1 to 8 durations from 1s to 24h, or `never`. See 'attache help
            refusals'.
            """),
        .probe: DirectiveManual(
            "no|PATH",
            example: "challenge { host ci.example.com; secure yes; use ci; probe /whoami }",
            """
            How the proxy asks a server whether it still accepts a refused value. By default it repeats a request that was
            accepted before. PATH names another request (GET). It must be one that each user of the credential may see and
            that changes nothing. With `no`, the proxy sends no request of its own: a client's request finds out, and the
            others wait for it.
            """),
        .persistence: DirectiveManual(
            "none|session|permanent", default: "session",
            example: """
                challenge "keep alice's" { host *.example.com; client "alice"; secure yes; default; persistence permanent }
                """,
            """
            How long an accepted credential from a URL is kept. `none`: for this request. `session`: for the same client, which
            is its user, or else its address. `permanent`: in the store.

            With `permanent`, the response that accepts the credential waits until the store has it, at most 2 s. If the
            store is unavailable, the proxy tries again for 10 minutes.

            WARNING: with `permanent`, a password in one client's URL answers for all clients that the rule matches.
            """),
        .learn: DirectiveManual(
            "yes|no", default: "no", example: "challenge { host *.example.com; secure yes; default; learn yes }",
            """
            With `yes`, the proxy learns user and password from a client's own `Authorization: Basic`. It needs `default` as the
            answer. They are kept as `persistence` says, after the server has accepted them. The proxy knows that when the same
            request (method and path) got a 401 without them and a 2xx with them, in either order. Other methods do not send
            the password.

            WARNING: with `persistence permanent`, one client's password answers for every client that the rule matches.
            """),
        .mode: DirectiveManual(
            "enforce|report",
            example: "challenge { host *.corp.example.com; secure yes; use ci; mode report }",
            """
            `report` tests the rule without sending a credential. The log and `attache challenges` show what it would have
            answered, and the client gets the challenge unchanged. A certificate is neither shown nor trusted. Nothing is
            sent preemptively, signed or learned. A client's own Authorization stays. The default is the file's `mode`.
            """),
        .order: DirectiveManual(
            "METHOD …", example: "challenge { host ci.example.com; use ci; order digest basic }",
            "The order in which to try the challenges of a response. The default is the strongest first."),
        .preempt: DirectiveManual(
            "yes|no|always", default: "yes",
            example: "challenge \"never asks\" { host api.example.com; secure yes; use api; preempt always }",
            """
            Whether to send the credential before the server asks (preemptive). `yes`: after the first success, send it with
            every request below that directory, without waiting for a 401. `no`: wait for a challenge each time.

            If such a request gets 400, 401 or 403, it is sent once more without the credential. A path that asks for another
            realm, or that needs no login, gets no preemptive answer from then on.

            `always`: send it with every request, for servers that answer 404, or 401 without a challenge. The credential is
            one token, or with `method basic` one password. The rule needs `host` and `secure yes`, or hosts that are this
            machine.

            With `proxy yes`, `always` sends it with every request and CONNECT to that parent. Then `secure no` is allowed too:
            for a parent by http, where anyone on the way can read the password.
            """),
        .authorization: DirectiveManual(
            "keep|replace|refuse",
            example: "challenge { host lab.example.com; secure yes; use lab; authorization replace }",
            """
            What to do if a client sends its own Authorization, or its own value in the field or parameter of `header` or `query`.
            `keep`, also without a rule: the proxy forwards it, and does not answer challenges for that request. `replace`: the
            proxy removes it. If the credential has `header` or `query`, `replace` also removes the fields below, except for
            Cookie.

            `refuse`: a request with any credential of the client's own gets a 403 that names the rule. So a program that may
            reach the host cannot use another account there. A user or a password in the URL counts. So do these fields, in every
            spelling: Authorization, Cookie, DPoP, X-Api-Key, Api-Key, X-Auth-Token, X-Access-Token, Private-Token,
            X-Goog-Api-Key, X-Amz-Security-Token, X-Vault-Token. So do these parameters: access_token, api_key, apikey,
            private_token, X-Amz-Signature. So do the field and the parameter of the rule's own credential. A trailer section is
            refused, too. The content of a request is not searched, nor a tunnel that no route intercepts.
            """),
        .spn: DirectiveManual(
            "HTTP/HOST[@REALM]",
            example:
                "challenge { host www.corp.example.com; method negotiate; spn HTTP/web1.corp.example.com; use svc }",
            "The service to get a ticket for. The default is HTTP/ and the host of the request."),
        .canonicalise: DirectiveManual(
            "yes|no", default: "no",
            example: "challenge { host www.corp.example.com; method negotiate; canonicalise yes; use svc }",
            "Look up the service's host in the DNS, and use the name that a CNAME leads to."),
        .delegate: DirectiveManual(
            "yes|no", default: "no",
            example: "challenge { host www.corp.example.com; method negotiate; delegate yes; use svc }",
            "Let the server use the identity at other servers. The ticket must be forwardable."),
    ]

    private static let ofTrust: [Modifier: DirectiveManual] = [
        .allow: DirectiveManual(
            "FINDING …",
            example: """
                challenge { host 10.0.0.7; allow self-signed; pin sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=; trust }
                """,
            "Accept the certificate although it has these problems, and no others."),
        .pin: DirectiveManual(
            "sha256/BASE64 …",
            example: "challenge { host a.example.com; pin sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=; trust }",
            "Accept only a server whose key is one of these."),
        .anchor: DirectiveManual(
            "FILE … [only]", example: "challenge { host *.corp.example.com; anchor corp-root.pem only; trust }",
            "Root certificates to trust, besides the system's: PEM, or one in DER. With `only`, instead of the system's."
        ),
        .name: DirectiveManual(
            "HOST|SPIFFE-ID", example: "challenge \"moved\" { host 10.0.0.8; name files.example.com; trust }",
            """
            Check the certificate against this name or address, instead of the host in the URL. With a SPIFFE ID, such as
            `spiffe://example.org/db`, the certificate must be an X.509-SVID for exactly that workload; add `anchor FILE only`
            for the trust domain.
            """),
    ]
}
