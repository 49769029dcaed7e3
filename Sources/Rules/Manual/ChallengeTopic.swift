extension ManualTopic {
    static let challenge = ManualTopic(
        "challenge", "rules: which credential answers which server",
        """
        A `challenge` rule says which credential to send when a server answers 401, or a parent proxy answers 407.

            # Never send Basic without TLS, whatever a rule below says:
            challenge { method basic; secure no; reject }
            challenge "build server" { host ci.example.com; realm "Jenkins*"; method digest basic; use ci }
            challenge "lab" { host lab.example.com; client 10.1.0.0/16 "alice"; secure yes; use lab; authorization replace }
            # No credential can answer an unknown method. Say so with a 502, so that no client asks its user:
            challenge "new scheme" { host *.corp.example.com; method other; cancel }

        The rules are tried in order. The first one whose conditions are all true decides. If a condition has several values,
        one of them must match. A condition that is not written is always true. If no rule matches, the answer is `default`.

        A rule has one answer: `use`, `trust` ('attache help trust'), `default`, `reject`, `cancel` or `ask`. Options change how
        it is given.

        `attache explain` shows which rule answers a request. `attache challenges` shows the challenges that got no answer, with
        lines to paste. It also shows the server's response: status, fields, and up to 1 KB of the text.

            $ attache explain --ask http://ci.example.com/job
            $ attache challenges

        A challenge without an answer goes to the client unchanged. The reason is in the field `Proxy-Status` and in the log.

        WARNING: over http, every machine on the way can read a Basic password. Write `secure yes`, unless you have a good reason.

        A connection that NTLM or Negotiate has logged in by `use` serves every client. It does not if a `challenge` for that
        server names a `client`. With `persistence none` it serves one request.

        = After a refusal
        The proxy first reads the credential's source again. If the value has changed, it sends the new value at once. If not,
        the rules are asked again. The next credential of `use` answers, or a rule with `failures`. Then the other challenges
        of the response are answered, each by its own rule. If there is no further answer, the client gets the response. A
        refused value is not sent again for the same request, by no other method or rule. When it is sent again later:
        'attache help refusals'.

            challenge "strong" { host old.example.com; method digest; use ci }
            # Where the server refused ci, and also offers Basic:
            challenge "weak"   { host old.example.com; method basic; secure yes; use lab }

        = Cookies of a challenge
        A server can set cookies with its 401, for example so that a load balancer finds the same server again. The proxy sends
        them with the repeated request (RFC 6265). They replace the client's cookies of the same names. The client gets them
        with the final response, unless that response sets the same cookie. A parent's 407 sets no cookie. No cookie is kept
        for another request.
        """, ManualTopic.Entry.of(FileDirective.challenge, .mode),
        ManualTopic.Entry.ofPredicates(in: "challenge"),
        ManualTopic.Entry.of(
            ChallengeDirective.answer(.use), .answer(.default), .answer(.reject), .answer(.cancel), .answer(.ask),
            .modifier(.attempts), .modifier(.persistence), .modifier(.learn), .modifier(.order), .modifier(.mode)))

    static let preemptive = ManualTopic(
        "preemptive", "keys and passwords for servers that send no challenge",
        """
        Some servers answer 404, or 401 without a challenge, to a request without a key. For them the proxy sends the credential
        with every request to the hosts of its rule. This is called preemptive.

            credential api    { token file key }
            credential forge  { token file key; header Authorization "Token token={token}" }
            credential domain { user env MAIL; password file key; header X-Auth-Email "{user}"; header X-Auth-Key "{password}" }
            challenge "never asks" { host api.example.com; secure yes; use api; preempt always }
            challenge "key in a field" { host forge.example.com; secure yes; use forge; authorization replace }

        A credential with `header` or `query` is always preemptive. `header` sends it in a field, and `query` in the URL's query.
        The value contains {token}, or {user} and {password}. Other tokens go in `Authorization: Bearer`: write `preempt always`.
        The rule must have `host` and `secure yes`, or name this machine only.

        If the client sends the same field or parameter itself, its value is kept and nothing is added. `authorization replace`
        changes that. A key in the query is visible to the server only. No log has it, and it is removed from URLs in response
        fields (Location, Link …). It is not sent to a parent that could read it. Challenges of the server are answered as usual,
        by the rule for them. A value with a control character is a 502. So is one of more than 16 KiB, or 4 KiB in a query.

        = Refusals
        A 401 with a challenge that a rule answers says nothing about the key. The request is sent once without the key, if its
        body can be sent again. Then the challenge is answered as usual.

        A 401 without a challenge may mean a wrong key, or a page that this key may not see. The proxy reads the credential's
        source again. If the value has changed, it sends the new value. If not, the client gets the 401. The proxy then asks the
        server by another request whether the key is still good ('attache help refusals'). So one forbidden page does not block a
        good key, and a wrong key is sent only a few times in half an hour. 400, 403 and all other answers go to the client.
        For a call of gRPC, UNAUTHENTICATED is such a 401 ('attache help http2').
        """, ManualTopic.Entry.of(CredentialDirective.header, .query),
        ManualTopic.Entry.of(ChallengeDirective.modifier(.preempt), .modifier(.authorization)))

    static let placeholders = ManualTopic(
        "placeholders", "keys that a client only seems to have",
        """
        Many libraries and tools do not start without a key, or check its form. Give them a placeholder: a text that looks like a
        key and is worth nothing. The proxy replaces it with the credential, only where the rule allows it.

            credential ai {
                token file /etc/attache/ai.key
                header X-Api-Key
                placeholder sk-attache-ai-5f0c3d2e9b7a4168
            }
            challenge "model" { host api.example.com; secure yes; use ai; authorization refuse }
            route api.example.com { intercept }

        Make the text with this command. `--like` is how the keys of the service begin, or `jwt`.

            $ attache credential placeholder ai --like sk-
            $ export OPENAI_API_KEY=sk-attache-ai-5f0c3d2e9b7a4168

        = Where it is replaced
        In requests for which a rule that uses the credential decides. The placeholder must be a whole word of `Authorization`,
        or of a field that `header` names. It may also be the user or the password of Basic, as git and docker send it. A request
        without the placeholder gets nothing. A credential on hold ('attache help refusals') is not sent, and neither is the field.

        The rule must have `host` and `secure yes`, or name this machine only. For https it needs a route with `intercept` or
        `upgrade`. With `authorization refuse`, a client may bring the placeholder and no other credential.

        = Where it is refused
        Anywhere else the request gets a 403 that names the rule, and no server is asked. So it is for another host, in another
        field, in the URL, in a longer word, in a CONNECT, or twice. By http it is only replaced on this machine. The log has an
        event `placeholder.misplaced`, and attache_placeholders_misplaced_total counts. The content of a request is not searched, nor a
        tunnel that no route intercepts. Text that the client has encoded is not found, other than in Basic: the placeholder
        then goes to the server as it is, and the credential does not.
        """, ManualTopic.Entry.of(CredentialDirective.placeholder))

    static let forms = ManualTopic(
        "forms", "login pages in HTML",
        """
        Use this for sites that show a login page instead of a 401. The proxy fills in the form, and adds the session's cookies
        to later requests.

            challenge "portal" {
                host   portal.example.com
                secure yes
                method html-form
                form   { recognise status 302 location /login*; login /login; fields user={user} password={password} }
                use    ci
            }

        `form` describes the login page. All three of its words are required. The answer is `use`, or `default` with a stored
        password. The method is `html-form`, and there is no realm. Over http, passwords are not encrypted: write `secure yes`.

        The proxy logs in by requests of its own. They follow redirects on this scheme, host and port only. A session's cookie
        replaces a client's cookie of the same name. All other cookies are forwarded. Cookies that the site sets under the
        session's names do not reach the client. Others do.

        When the session has expired, one request logs in for all. If the page appears although the session is good, there is
        at most one login in 30 seconds. If a rule looks for a text, pages are held back until they are complete or 128 KiB
        long. A response that is neither HTML nor an error is not held back.

        = Refusals
        The login is refused if the login page appears again, if the response has a form with the same fields, or if it is 401,
        403 or 422. Then nothing more is sent until the password changes.

        A page that others can write must not block the password. So if the form, or a cookie before it, came from another page
        than PATH, the proxy logs in once more: without cookies, and with the form of PATH. It does not if it would send the
        same again.

        = Logins that want JSON
        A login that answers a form with 415, or with 422 and a JSON object that has a `detail` (FastAPI), wants JSON. That is no
        refusal; the 502 says so. `fields json` sends JSON:

            challenge "api" {
                host api.example.com
                secure yes
                method html-form
                form { recognise status 401; login /login; fields json { username={user} password={password} } }
                use  ci
            }
        """, ManualTopic.Entry.of(ChallengeDirective.modifier(.form)),
        ManualTopic.Entry.of(FormReader.Word.recognise, .login, .fields))

    static let trust = ManualTopic(
        "trust", "a server certificate that is not trusted",
        """
        The proxy checks the certificate of every https server. If it finds a problem, the client gets a 502. The page names all
        problems, and the lines that accept the certificate. This page explains these lines.

            $ attache trust appliance.example.com:8443
            $ attache trust appliance.example.com:8443 --accept --until 2099-12-31

        `attache trust HOST:PORT` shows the chain, the problems and the pin. With `--accept --until DATE` it stores an exception
        for the server's key, after you confirm it on the terminal (`--yes` in scripts).

            challenge "our own root" { host *.corp.example.com; anchor corp-root.pem; trust }
            challenge "its own certificate" {
                host  10.0.0.7
                allow self-signed expired
                pin   sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=
                until 2027-01-31
                trust
            }

        WARNING: without `pin`, an attacker between the proxy and the server can make a certificate that is unknown-issuer,
        self-signed, incomplete-chain, wrong-name or invalid.

        An exception is for one key, host and port, until the end of its last day. It forgives the problems that remain after
        `default` or after a rule that trusts. It never forgives `revoked`. It does nothing if a rule says `reject` or `cancel`,
        or names other keys. When an exception is removed, connections that use it are closed.

        The problems (`finding`) are:

        = unknown-issuer, self-signed, incomplete-chain
        The chain does not lead to a known root certificate.

        = expired, not-yet-valid
        The certificate is not valid today.

        = wrong-name
        The certificate is for another host. The common name is not used.

        = revoked, missing-staple
        The CA revoked the certificate. Or the certificate requires a stapled OCSP response, and the server sends no usable one.

        = weak-key, weak-signature, weak
        The key is too short, or the signature algorithm is too weak, such as SHA-1. `weak` means either.

        = wrong-usage, name-constraints, path-length, unknown-extension, invalid
        It is not a certificate for a TLS server, or it violates a constraint of its CA.
        """,
        ManualTopic.Entry.of(ChallengeDirective.answer(.trust)), ManualTopic.Entry.ofPredicates(in: "trust"),
        ManualTopic.Entry.of(
            ChallengeDirective.modifier(.allow), .modifier(.pin), .modifier(.anchor), .modifier(.name)))
}

extension FormReader.Word {
    static let manuals: [FormReader.Word: DirectiveManual] = [
        .recognise: DirectiveManual(
            "SIGN …", example: page("recognise status 302 location /login*"),
            """
            How to recognise the login page. All signs of one line must be true. One of several lines is enough. The signs are
            `status 302`, `location PATTERN` (as the site writes it, or the path on this site) and `contains TEXT` (in the
            first 128 KiB of the page's source).
            """),
        .login: DirectiveManual(
            "PATH", example: page("recognise contains \"Please log in\""),
            """
            The path that receives the form. The password is sent nowhere else, not even after a 307 or 308.

            The other fields of the form, such as hidden fields and tokens, are taken from the page. So are the query, or one
            parameter (;jsessionid=…), behind this path. If there is no page, the proxy fetches this path, and without a form
            there it sends only `fields`. A form on two pages works too: if the first asks only for the user, it gets the user.
            The next page, which asks for the password, is then filled in.
            """),
        .fields: DirectiveManual(
            "NAME=VALUE … | json { NAME=VALUE … }", example: page("recognise status 403"),
            """
            The fields to fill in. Their values contain {user} and {password}. `json { … }` sends them as the members of a JSON
            object, without looking for a form first.
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
