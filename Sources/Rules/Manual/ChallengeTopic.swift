extension ManualTopic {
    static let challenge = ManualTopic(
        "challenge", "rules: which credential answers which server",
        """
        When an origin answers 401, or a parent proxy 407, the blocks are asked in their order; the first whose predicates
        all hold decides. Several values of a predicate are alternatives; a predicate that is left out holds always. Where
        no block holds, the answer is `default`. A challenge that nobody answers reaches the client as it is, with the reason in
        `Proxy-Status`; the log and `attache challenges` have it too, with the lines to paste. The latter also shows what the
        server said: status, fields, and up to 1 KB of the response's text.

            # Never send Basic in clear, whatever a rule below says:
            challenge { method basic; secure no; reject }
            challenge "build server" { host ci.example.com; realm "Jenkins*"; method digest basic; use ci }
            challenge "lab" { host lab.example.com; client 10.1.0.0/16 "alice"; secure yes; use lab; authorization replace }
            # A server that asks for what nobody here can answer: say so, and do not let each client ask its user.
            challenge "new scheme" { host *.corp.example.com; method other; cancel }

        What happens to a credential that a server refuses, and when it is sent again: 'attache help refusals'.

        Not without `secure yes` or a good reason: every station on the way can read a Basic password in clear.

        One answer: `use`, `trust` ('attache help trust'), `default`, `reject`, `cancel` or `ask`. Modifiers say more about it.

        A connection that NTLM or Negotiate has logged in by `use` serves every client, unless a `challenge` for that
        server names a `client`; with `persistence none` it serves one request.

        = After a refusal
        The credential's source is read again, and another value is sent at once. Else the rules are asked again: the next
        credential of `use` answers, or a rule with `failures`. Then the response's other challenges are answered, each with
        the credential that its own rule has for it. Where none is left, the client gets the response. A value that was refused
        is not sent again for the same request: by no other scheme or rule, and under no other name.

            challenge "strong" { host old.example.com; method digest; use ci }
            # Where the server refused ci, and also offers Basic:
            challenge "weak"   { host old.example.com; method basic; secure yes; use lab }

        = Cookies of a challenge
        Those that the origin sets with a 401 which is answered go with the request when it is sent again, in the place of
        the client's own of the same names (RFC 6265), and reach the client with the final response, unless that sets the
        same cookie. So servers behind one name are found again that know only their own nonces. A parent's 407 sets none.
        No cookie is kept for another request.
        """, ManualEntry.of(FileDirective.challenge, .mode),
        ManualEntry.of(
            ChallengeDirective.host, .port, .protocol, .realm, .method, .proxy, .secure, .client, .failures, .use,
            .default, .reject, .cancel, .ask, .attempts, .persistence, .learn, .order, .mode))

    static let unasked = ManualTopic(
        "unasked", "keys for servers that never ask: fields, parameters, every request",
        """
        Where a server wants a token, or a user and a password, in another place than `Authorization: Bearer` and `Basic`,
        `header` puts it in a field and `query` in the URL's query. The value has {token}, or {user} and {password}, in it.
        No server asks for such a credential: it goes with every request to the hosts of its rule, which must say `host`
        and `secure yes` (or speak of this machine alone). A token that goes in Authorization: Bearer does so where the
        rule says `preempt always`.

            credential api    { token file key }
            credential forge  { token file key; header Authorization "Token token={token}" }
            credential domain { user env MAIL; password file key; header X-Auth-Email "{user}"; header X-Auth-Key "{password}" }
            challenge "never asks" { host api.example.com; secure yes; use api; preempt always }
            challenge "key in a field" { host forge.example.com; secure yes; use forge; authorization replace }

        What a client says in the same field or parameter itself is kept, and then nothing is added, or replaced:
        `authorization`. In the query it is seen by nobody but the server: no log has it, and it is taken out of the URLs in
        the heads of responses (Location, Link …). A challenge of the server is answered beside it by the rule that is for
        that. A value with a control character, and one of more than 16 KiB (4 KiB in a query), is a 502.

        = Refusals
        A 401 that names a challenge which a rule answers says nothing about it; the request goes out once without it, if
        its body can be sent again, and is answered as if nothing had been sent. A 401 that names none is all that such a
        server can say, and says it of wrong keys as of pages that are not for them. The credential's source is read at
        once: another value is another attempt. Else the client gets the 401, and the proxy asks the server by another
        request whether the key is still good ('attache help refusals'): one forbidden page takes no right key away, and a
        wrong one is sent a few times in half an hour. 400, 403 and all other answers are about the request: the client
        gets them. To a parent that could read it, it does not go.
        """, ManualEntry.of(CredentialDirective.header, .query),
        ManualEntry.of(ChallengeDirective.preempt, .authorization))

    static let forms = ManualTopic(
        "forms", "login pages in HTML",
        """
        `form { … }` in a `challenge` describes the login page of a site that asks by HTML, and how to get past it, with
        `use`, or with `default` and a stored password; all three of its words are needed.

            challenge "portal" {
                host   portal.example.com
                secure yes
                method html-form
                form   { recognise status 302 location /login*; login /login; fields user={user} password={password} }
                use    ci
            }

        The method is `html-form`, without a realm. The proxy logs in by requests of its own, which follow redirects on this
        scheme, host and port only, and adds the session's cookies to requests for this origin; a client's own cookie of the
        same name is left out, all others go along. Cookies that the site sets under the session's names do not reach the
        client; others do.

        A page that is recognised again, or a form with the same fields, or 401, 403 or 422 behind the form is a refusal:
        nothing more is sent until the password changes. Where that form, or a cookie before it, came from another page than
        PATH, the proxy first logs in once more, without cookies and with the form of PATH, unless that would send the same
        again: a page that others may write locks no password out.

        A login that answers a form with 415, or with 422 and a JSON object that has a `detail` (FastAPI), wants JSON. That is no
        refusal; the 502 says so. `fields json` sends it:

            challenge "api" {
                host api.example.com
                secure yes
                method html-form
                form { recognise status 401; login /login; fields json { username={user} password={password} } }
                use  ci
            }

        When the session has ended, one request logs in for all; a page that asks in spite of a good session has a login
        made in 30 seconds at most. Pages are held until they are whole or 128 KiB long, if a rule looks for a text in them;
        a response that is neither HTML nor an error streams. Passwords go in clear over http: say `secure yes`.
        """, ManualEntry.of(ChallengeDirective.form), ManualEntry.of(FormDirective.recognise, .login, .fields))

    static let trust = ManualTopic(
        "trust", "a server's own certificate, when it is not trusted",
        """
        Without a rule, a certificate with any finding is refused with a 502 that names all of them and the lines to write.
        `attache trust HOST:PORT` shows chain, findings and pin.

            $ attache trust appliance.example.com:8443

            challenge "our own root" { host *.corp.example.com; anchor corp-root.pem; trust }
            challenge "its own certificate" {
                host  10.0.0.7
                allow self-signed expired
                pin   sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=
                until 2027-01-31
                trust
            }

        WARNING: without `pin`, an attacker between the proxy and the server can have a certificate made that is
        unknown-issuer, self-signed, incomplete-chain, wrong-name or invalid.

        `attache trust HOST:PORT --accept --until DATE` stores an exception for the key that the server shows, once somebody
        has said yes on the terminal (`--yes` in scripts). For that key at that host and port and until its last day it
        forgives what `default`, or a rule that trusts, leaves; not `revoked`, and nothing where a rule says `reject` or
        `cancel` or names other keys. Connections that rest on it close when it goes.

        The findings are:

        = unknown-issuer, self-signed, incomplete-chain
        It does not lead to a root that is known.

        = expired, not-yet-valid
        Not on this day.

        = wrong-name
        It is another server's (a common name is not looked at).

        = revoked, missing-staple
        Withdrawn; or it promises proof that it is not, and brings none.

        = weak-key, weak-signature, weak
        Made of too little, or by too little; `weak` is both.

        = wrong-usage, name-constraints, path-length, unknown-extension, invalid
        It was not made for this, or not rightly.
        """,
        ManualEntry.of(ChallengeDirective.trust, .finding, .allow, .pin, .anchor, .name, .until))
}

extension FormDirective {
    static let manuals: [FormDirective: DirectiveManual] = [
        .recognise: DirectiveManual(
            "SIGN …", example: page("recognise status 302 location /login*"),
            """
            The signs of the login page. Signs of one line must all hold, lines are alternatives: `status 302`,
            `location PATTERN` (as the site writes it, or the path on this site), `contains TEXT` (in the first 128 KiB of
            the page's source).
            """),
        .login: DirectiveManual(
            "PATH", example: page("recognise contains \"Please log in\""),
            """
            Where the form is sent, and nowhere else; not by a 307 or 308 either. Its other fields, hidden ones and tokens
            too, and the query or one parameter (;jsessionid=…) behind this path are taken from the page; without a page
            they are looked for here, and at last do without. A form that is sent here and asks for the user alone gets that
            alone; the page behind it, which asks for the password, is then filled in.
            """),
        .fields: DirectiveManual(
            "NAME=VALUE … | json { NAME=VALUE … }", example: page("recognise status 403"),
            """
            The fields, with {user} and {password} in them. `json { … }`: they are sent as the members of a JSON object, without
            looking for a form first.
            """),
    ]

    private static func page(_ signs: String) -> String {
        """
        challenge {
            host   portal.example.com
            secure yes
            form   { \(signs); login /login; fields user={user} password={password} }
            use    ci
        }
        """
    }
}
