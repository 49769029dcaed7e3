extension ChallengeDirective {
    static let manuals = predicates.merging(answers) { $1 }.merging(modifiers) { $1 }.merging(ofTrust) { $1 }

    private static let predicates: [ChallengeDirective: DirectiveManual] = [
        .host: DirectiveManual(
            "HOST …", example: "challenge { host ci.example.com *.lab.example.com; secure yes; use ci }",
            "The origin, or the parent proxy that asks."),
        .port: DirectiveManual(
            "PORT …", example: "challenge { host ci.example.com; port 443 8000-8100; secure yes; use ci }",
            "The server's port: single, or LOW-HIGH."),
        .protocol: DirectiveManual(
            "http|https|ftp|socks …", example: "challenge \"mirror\" { protocol ftp; host ftp.example.com; use ci }",
            "How the server is spoken to."),
        .realm: DirectiveManual(
            "TEXT …", example: "challenge { host ci.example.com; realm \"Jenkins*\"; use ci }",
            """
            The realm that the challenge names, to the letter; `*` stands for any run of characters. NTLM, Negotiate and
            forms have none.
            """),
        .method: DirectiveManual(
            "METHOD …", example: "challenge { host ci.example.com; method digest ntlm; use ci }",
            """
            basic, digest, ntlm, negotiate, bearer, html-form, client-certificate, server-trust or other.
            `default` means basic, digest and ntlm, as in Apple's model. Not said: those that its credential can answer.
            The two of TLS, client-certificate and server-trust, are meant only if they or something of theirs stand in the
            rule. `other` is any scheme that is not known: no credential answers it, and it comes behind all others.
            """),
        .proxy: DirectiveManual(
            "yes|no", example: "challenge \"corp proxy\" { proxy yes; host *.corp.example.com; use svc }",
            "A parent's 407, or an origin's 401."),
        .secure: DirectiveManual(
            "yes|no", example: "challenge { host ci.example.com; secure yes; use ci }",
            "Whether the credential would travel encrypted."),
        .client: DirectiveManual(
            "NAME|ADDRESS …", example: "challenge { host lab.example.com; client 10.1.0.0/16 \"alice\"; use ci }",
            "A user as the proxy authenticated it (in quotes: surely a user), or addresses."),
        .issuer: DirectiveManual(
            "TEXT …", example: "challenge { host api.example.com; issuer \"CN=Lab*,O=Example\"; use device }",
            "An issuer whose certificates the server accepts; `*` as in `realm`."),
        .finding: DirectiveManual(
            "FINDING …", example: "challenge { host old.example.com; finding expired; allow expired; trust }",
            "A finding about the server's certificate."),
        .failures: DirectiveManual(
            "N|N..|N..M", example: "challenge \"one try, then say so\" { host lab.example.com; failures 1..; cancel }",
            """
            How many answers of this request were refused before, over all schemes: exactly N, at least N, or between. For
            client-certificate: the certificates that this server has refused.
            """),
    ]

    private static let answers: [ChallengeDirective: DirectiveManual] = [
        .use: DirectiveManual(
            "NAME …", example: "challenge { host old.example.com; secure yes; use lab ci }",
            """
            This credential. Of several, 8 at most, the next where those before it were refused, each for the methods that
            it can answer. A key that signs waits for no challenge, and stands alone.
            """),
        .default: DirectiveManual(
            "", example: "challenge { host *.example.com; secure yes; default }",
            """
            A credential in the request's own URL, else of the client's session, else the store's default; without any the
            response goes to the client as it is. In TLS the stored certificates for the server, of those that it accepts
            the default first, and the exceptions for the server's key.
            """),
        .reject: DirectiveManual(
            "", example: "challenge { method basic; secure no; reject }",
            "Go on to the next challenge of the response; show no certificate; do not trust."),
        .cancel: DirectiveManual(
            "", example: "challenge { host *.corp.example.com; method other; cancel }",
            "A 502, with an explanation that names this rule."),
        .ask: DirectiveManual(
            "", example: "challenge \"people\" { host lab.example.com; secure yes; ask }",
            """
            An operator: the request is held until somebody answers ('attache ask', or the dashboard), for as long as
            `timeouts { ask }` says, then as `cancel`. An answer that holds for later requests can be taken back. A
            credential that `default` would use answers first. Where no method is named, nobody is asked about Negotiate
            and schemes that are not known.
            """),
        .trust: DirectiveManual(
            "", example: "challenge \"our own root\" { host *.corp.example.com; anchor corp-root.pem; trust }",
            "Accept the server's certificate on the terms of the rule."),
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
            "The login page of a site."),
    ]

    private static let modifiers: [ChallengeDirective: DirectiveManual] = [
        .attempts: DirectiveManual(
            "N", default: "1", example: "challenge { host ci.example.com; use ci; attempts 2 }",
            """
            How many answers of one credential a request may have, 1 to 10; an operator (`ask`) has 3. A value that was
            refused is never sent again, so more than one is of use only where the value changes meanwhile. In a rule with
            `failures N` the N refusals before it count as well: the default is N + 1, and with less the rule never answers.
            """),
        .retry: DirectiveManual(
            "never|DURATION …", default: "30s 5m 30m",
            example: "challenge \"a lock after three a day\" { host hr.example.com; secure yes; use lab; retry 12h }",
            """
            When a server refuses a value that it accepted before, the value is paused there. After these times one request
            tries it again, the last time over and over. 1 to 8 durations from 1s to 24h, or `never`. See 'attache help
            refusals'.
            """),
        .probe: DirectiveManual(
            "no|PATH",
            example: "challenge { host ci.example.com; secure yes; use ci; probe /whoami }",
            """
            After a refusal the proxy asks the server by a request of its own whether it still accepts the value. It repeats
            a request that was accepted before. PATH names another one (GET), which any user of the credential may see and
            which changes nothing. With `no` a client's request asks, and the others wait for it.
            """),
        .persistence: DirectiveManual(
            "none|session|permanent", default: "session",
            example: """
                challenge "keep alice's" { host *.example.com; client "alice"; secure yes; default; persistence permanent }
                """,
            """
            An accepted credential from a URL is kept: none (this request), session (for the same client: the user that it
            authenticated as, else its address), or permanent (in the store). The response that accepts it goes out when the
            store has it; where that takes more than 2 s, before.

            WARNING: with `permanent`, a password in one client's URL answers for all clients that the rule matches.
            """),
        .learn: DirectiveManual(
            "yes|no", default: "no", example: "challenge { host *.example.com; secure yes; default; learn yes }",
            """
            yes, with `default`: the user and password of a client's own Authorization: Basic are kept as `persistence`
            says, once the origin is seen to accept them: one and the same request (method and path) got a 401 without them
            and a 2xx with them, in either order. Other methods do not have the password in them.

            WARNING: with `persistence permanent`, one client's password answers for every client that the rule matches.
            """),
        .mode: DirectiveManual(
            "enforce|report",
            example: "challenge { host *.corp.example.com; secure yes; use ci; mode report }",
            """
            report: the rule decides, the log and `attache challenges` say what it would have answered, and the client gets
            the challenge as it came; a certificate is neither shown nor trusted. Nothing is sent unasked, signed or
            learned, and a client's own Authorization stays. Not said: as the file's `mode`.
            """),
        .order: DirectiveManual(
            "METHOD …", example: "challenge { host ci.example.com; use ci; order digest basic }",
            "Try the challenges of a response so; where it is not said, the strongest first."),
        .preempt: DirectiveManual(
            "yes|no|always", default: "yes",
            example: "challenge \"never asks\" { host api.example.com; secure yes; use api; preempt always }",
            """
            Send it unasked from then on, to the directory that asked and what is below. Where an unasked answer meets 400,
            401 or 403 the request goes out once without it; a path that asks for another realm, or that needs no answer,
            gets none unasked from then on. `always`: with every request, before any challenge, for servers that answer 404
            or a bare 401 and never ask: one token, or by `method basic` one password; only with `host` and `secure yes`,
            or for hosts that are this machine. With `proxy yes` it goes with every request and CONNECT to that parent;
            `secure no` beside it allows that also for a parent by http, where anyone on the way can read it.
            """),
        .authorization: DirectiveManual(
            "keep|replace",
            example: "challenge { host lab.example.com; secure yes; use lab; authorization replace }",
            """
            A client's own Authorization, or what it says in the place of a `header` or `query`: keep it, or replace it. It
            is kept where no rule says otherwise.
            """),
        .spn: DirectiveManual(
            "HTTP/HOST[@REALM]",
            example:
                "challenge { host www.corp.example.com; method negotiate; spn HTTP/web1.corp.example.com; use svc }",
            "The service to get a ticket for; where it is not said, HTTP at the host of the request."),
        .canonicalise: DirectiveManual(
            "yes|no", default: "no",
            example: "challenge { host www.corp.example.com; method negotiate; canonicalise yes; use svc }",
            "Look the service's host up in the DNS, and take the name behind any CNAME."),
        .delegate: DirectiveManual(
            "yes|no", default: "no",
            example: "challenge { host www.corp.example.com; method negotiate; delegate yes; use svc }",
            "Let the server act in the credential's name elsewhere; the ticket must be forwardable."),
    ]

    private static let ofTrust: [ChallengeDirective: DirectiveManual] = [
        .allow: DirectiveManual(
            "FINDING …",
            example: """
                challenge { host 10.0.0.7; allow self-signed; pin sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=; trust }
                """,
            "Forgive these findings, and no others."),
        .pin: DirectiveManual(
            "sha256/BASE64 …",
            example: "challenge { host a.example.com; pin sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=; trust }",
            "And only if the server's key is one of these."),
        .anchor: DirectiveManual(
            "FILE … [only]", example: "challenge { host *.corp.example.com; anchor corp-root.pem only; trust }",
            "Roots beside the system's, in PEM or one in DER; with `only`, in their place."),
        .name: DirectiveManual(
            "HOST", example: "challenge \"moved\" { host 10.0.0.8; name files.example.com; trust }",
            "The certificate is for this name or address, whatever the URL says."),
        .until: DirectiveManual(
            "YYYY-MM-DD", example: "challenge { host old.example.com; allow expired; until 2027-01-31; trust }",
            "The rule's last day, in UTC; a warning is given 14 days before."),
    ]
}
