import Testing

/// Requests that are signed by OAuth 1.0a and by HTTP Message Signatures.
struct SignatureConversations {
    private static let shop = """
        credential shop { oauth1 hmac-sha1; consumer-key ck; consumer-secret cs; access-token t; token-secret ts; realm R }
        challenge "shop" { host h; use shop }
        """
    private static let bot = "credential bot { sign key FILES/ed25519.pem; agent https://bot.example.com }"
    private static let keyID = "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U"

    /// The value of `Signature-Input` with this label and these components.
    private static func input(_ label: String = "sig", _ components: String = "", nonce: String = "*") -> String {
        #"\#(label)=("@authority" \#(components)"signature-agent";key="\#(label)");created=*;keyid="\#(keyID)""#
            + #";alg="ed25519";expires=*;nonce="\#(nonce)";tag="web-bot-auth""#
    }

    // MARK: - OAuth 1.0a

    @Test func `each request gets a signature of its own, and a refusal is the client's`() async {
        await play(
            rules: Self.shop,
            """
            >> GET http://h/a?b=c HTTP/1.1
            << connect h:80
            << GET /a?b=c HTTP/1.1
               Authorization: OAuth realm="R", oauth_consumer_key="ck", oauth_token="t", oauth_signature_method="HMAC-SHA1", oauth_timestamp="{time}", oauth_nonce="{first}", oauth_version="1.0", oauth_signature="{one}"
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            log GET http://h/a?b=c 200
                scheme: oauth1
                credential: shop
                rule: shop
                attempts: 1
            >> GET http://h/a?b=c HTTP/1.1
            << GET /a?b=c HTTP/1.1
               Authorization: OAuth realm="R", *oauth_nonce="{second}"*oauth_signature="{two}"
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: OAuth realm="R"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: OAuth realm="R"
               Proxy-Status: attache; details="the origin refuses the signature by credential shop"
            log GET http://h/a?b=c 401
                scheme: oauth1
                credential: shop
                rule: shop
                attempts: 1
            metric attache_challenges_answered_total{scheme="oauth1"} 2
            """)
    }

    @Test func `a form is read before its head is sent, and other content for its hash`() async {
        await play(
            rules: Self.shop,
            """
            >> POST http://h/ HTTP/1.1
               Content-Type: Application/x-www-form-urlencoded ; charset=utf-8
               Content-Length: 7
               Expect: 100-continue
            << connect h:80
            << HTTP/1.1 100 Continue
            client >> "a=1&b=2"
            << POST / HTTP/1.1
               Authorization: OAuth realm="R", *oauth_version="1.0", oauth_signature="*"

               a=1&b=2
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> POST http://h/ HTTP/1.1
               Content-Type: text/plain

               Hello World!
            << POST / HTTP/1.1
               Authorization: OAuth *, oauth_version="1.0", oauth_body_hash="Lve95gjOVATpfV8EL5X4nxwjKHE%3D", oauth_signature="*"

               Hello World!
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a form that is too large is refused, and nothing is sent`() async {
        await play(
            rules: Self.shop,
            """
            >> POST http://h/ HTTP/1.1
               Content-Type: application/x-www-form-urlencoded
               Content-Length: 1048577
               Expect: 100-continue
            << connect h:80
            << HTTP/1.1 413 *
               Proxy-Status: *covers the form in the request*

               *larger than 1 MiB*
            server << close
            client << end
            log POST http://h/ 413
                error: http_request_error
            """)
    }

    @Test func `content goes unsigned where the credential says so, or where it sends its secrets`() async {
        for method in ["hmac-sha256; payload unsigned", "plaintext"] {
            await play(
                rules: """
                    egress { allow loopback; connect-ports any }
                    credential shop { oauth1 \(method); consumer-key ck; consumer-secret cs }
                    challenge { host localhost; use shop }
                    """,
                """
                >> POST http://localhost/ HTTP/1.1
                   Content-Type: text/plain

                   x
                << connect localhost:80
                << POST / HTTP/1.1
                   Authorization: OAuth oauth_consumer_key="ck", *oauth_version="1.0", oauth_signature="*"

                   x
                >> HTTP/1.1 200 OK
                << HTTP/1.1 200 OK
                """)
        }
    }

    @Test func `a client that has signed itself keeps its signature, but where the rule replaces it`() async {
        await play(
            rules: Self.shop,
            """
            >> GET http://h/ HTTP/1.1
               Authorization: OAuth oauth_signature="mine"
            << connect h:80
            << GET / HTTP/1.1
               Authorization: OAuth oauth_signature="mine"
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://h/?oauth_signature=mine HTTP/1.1
            << GET /?oauth_signature=mine HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
        await play(
            rules: Self.shop.replacing("use shop }", with: "use shop; authorization replace }"),
            """
            >> GET http://h/ HTTP/1.1
               Authorization: OAuth oauth_signature="mine"
            << connect h:80
            << GET / HTTP/1.1
               Authorization: OAuth realm="R", oauth_consumer_key="ck"*
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `behind a parent's challenge the request is signed once more`() async {
        await play(
            rules: """
                \(Self.shop)
                parent p { http parent:3128 }
                route h { via p }
                credential a { user u; password p }
                challenge { proxy yes; use a }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect parent:3128
            << GET http://h/ HTTP/1.1
               Authorization: OAuth *oauth_nonce="{first}"*
            >> HTTP/1.1 407 Proxy Authentication Required
               Proxy-Authenticate: Basic realm="x"
            << GET http://h/ HTTP/1.1
               Authorization: OAuth *oauth_nonce="{second}"*
               Proxy-Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    // MARK: - HTTP Message Signatures

    @Test func `with preempt always every request is signed, also beside the client's own login`() async {
        await play(
            rules: """
                \(Self.bot)
                challenge "bots" { host h; use bot; preempt always }
                """,
            """
            >> GET http://h/ HTTP/1.1
               Authorization: Bearer mine
               Signature-Agent: mine
            << connect h:80
            << GET / HTTP/1.1
               Authorization: Bearer mine
               Signature-Agent: sig="https://bot.example.com"
               Signature-Input: \(Self.input(nonce: "{first}"))
               Signature: sig=:*:
               Signature-Agent: -
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            log GET http://h/ 200
                scheme: message-signature
                credential: bot
                rule: bots
                attempts: 1
            """)
    }

    @Test func `a server that asks for a signature gets one, with its label, components and nonce`() async {
        await play(
            rules: """
                \(Self.bot)
                challenge "bots" { host h; use bot }
                """,
            """
            >> GET http://h/a HTTP/1.1
            << connect h:80
            << GET /a HTTP/1.1
               Signature: -
               Signature-Agent: -
            >> HTTP/1.1 403 Forbidden
               Accept-Signature: other=();tag="x", s1=("@method" "@path");created;expires;nonce="n1"
               Accept-Signature: s2=()
            << GET /a HTTP/1.1
               Signature-Agent: s1="https://bot.example.com"
               Signature-Input: \(Self.input("s1", #""@method" "@path" "#, nonce: "n1"))
               Signature: s1=:*:
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            log GET http://h/a 200
                scheme: message-signature
                credential: bot
                rule: bots
                attempts: 1
            # the next request waits for the question again
            >> GET http://h/a HTTP/1.1
            << GET /a HTTP/1.1
               Signature: -
            >> HTTP/1.1 200 OK
               Accept-Signature: s1=()
            << HTTP/1.1 200 OK
               Accept-Signature: s1=()
            log GET http://h/a 200
            """)
    }

    @Test func `a request is sent again once, whatever the server asks then`() async {
        await play(
            rules: """
                \(Self.bot)
                challenge { host h; use bot; preempt always }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
               Signature-Input: \(Self.input())
            >> HTTP/1.1 429 Too Many Requests
               Accept-Signature: sig=();nonce="n1"
            << GET / HTTP/1.1
               Signature-Input: \(Self.input(nonce: "n1"))
            >> HTTP/1.1 429 Too Many Requests
               Accept-Signature: sig=();nonce="n2"
            << HTTP/1.1 429 Too Many Requests
               Accept-Signature: sig=();nonce="n2"
            """)
    }

    @Test(arguments: [
        #"sig=();tag="other""#, #"sig=("@status")"#, #"sig=("x-missing")"#, "sig=(", #"sig=();keyid="another""#,
    ])
    func `a question that cannot be answered is the client's`(field: String) async {
        await play(
            rules: """
                \(Self.bot)
                challenge { host h; use bot }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 403 Forbidden
               Accept-Signature: \(field)
            << HTTP/1.1 403 Forbidden
               Accept-Signature: \(field)
            """)
    }

    @Test func `content is read for its digest when the server asks for one`() async {
        await play(
            rules: """
                \(Self.bot)
                challenge { host h; use bot }
                """,
            """
            >> POST http://h/ HTTP/1.1
               Content-Digest: sha-256=:wrong:

               Hello World!
            << connect h:80
            << POST / HTTP/1.1
               Content-Digest: sha-256=:wrong:

               Hello World!
            >> HTTP/1.1 401 Unauthorized
               Accept-Signature: a=("content-digest")
            << POST / HTTP/1.1
               Content-Digest: sha-256=:f4OxZX/x/FO5LcGBSKHWXfwtSx+j1ncoSt3SABJtkGk=:
               Signature-Input: \(Self.input("a", #""content-digest" "#))
               Signature: a=:*:

               Hello World!
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a body that is not kept is not sent again, and the client is told`() async {
        await play(
            rules: """
                \(Self.bot)
                challenge { host h; use bot }
                limits { replay-memory 1k; replay-disk 0 }
                """,
            """
            >> POST http://h/ HTTP/1.1
               Content-Length: 2000
            and client >> 2000 bytes
            << connect h:80
            << POST / HTTP/1.1
               Expect: 100-continue
            server >> HTTP/1.1 100 Continue
            server << 2000 bytes
            >> HTTP/1.1 403 Forbidden
               Accept-Signature: sig=()
            << HTTP/1.1 403 Forbidden
               Accept-Signature: sig=()
               Proxy-Status: *larger than this proxy keeps*
            """)
    }

    @Test func `a login of another rule is answered beside the signature`() async {
        await play(
            rules: """
                \(Self.bot)
                credential a { user u; password p }
                challenge { host *; use bot; preempt always }
                challenge { host h; method basic; use a }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
               Signature-Input: \(Self.input(nonce: "{first}"))
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
               Signature-Input: \(Self.input(nonce: "{second}"))
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://h/ HTTP/1.1
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
               Signature-Input: \(Self.input())
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a client's own signature is kept, but where the rule replaces it`() async {
        let mine = """
            Signature-Agent: me="https://me.example"
               Signature-Input: me=();tag="web-bot-auth"
               Signature: me=:AAAA:
            """
        await play(
            rules: """
                \(Self.bot)
                challenge { host h; use bot; preempt always }
                """,
            """
            >> GET http://h/ HTTP/1.1
               \(mine)
            << connect h:80
            << GET / HTTP/1.1
               \(mine)
               Signature-Agent: -
               Signature-Input: -
               Signature: -
            >> HTTP/1.1 403 Forbidden
               Accept-Signature: sig=()
            << HTTP/1.1 403 Forbidden
               Accept-Signature: sig=()
            """)
        await play(
            rules: """
                \(Self.bot)
                challenge { host h; use bot; preempt always; authorization replace }
                """,
            """
            >> GET http://h/ HTTP/1.1
               \(mine)
            << connect h:80
            << GET / HTTP/1.1
               Signature-Input: \(Self.input())
               Signature: sig=:*:
               Signature-Input: -
               Signature: -
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `TRACE is not signed, and a rule that reports signs nothing`() async {
        await play(
            rules: """
                \(Self.bot)
                challenge { host h; use bot; preempt always }
                challenge { host i; use bot; preempt always; mode report }
                """,
            """
            >> TRACE http://h/ HTTP/1.1
            << connect h:80
            << TRACE / HTTP/1.1
               Signature: -
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://i/ HTTP/1.1
            << connect i:80
            server 2 << GET / HTTP/1.1
               Signature: -
            server 2 >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }
}
