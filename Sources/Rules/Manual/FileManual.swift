extension FileDirective {
    static let manuals: [FileDirective: DirectiveManual] = [
        .listen: DirectiveManual(
            "ADDRESS:PORT [tls certificate FILE key FILE [clients FILE [required]]]", default: "127.0.0.1:3128",
            example: """
                listen 127.0.0.1:3128
                listen [::1]:3128
                listen 0.0.0.0:3130 tls certificate proxy.pem key proxy.key clients staff-ca.pem required
                """,
            """
            Where clients connect. Several lines, several listeners; port 0 is any free port. With `tls` clients connect to
            the proxy itself by TLS, as with https_proxy=https://proxy.example.com:3130: PEM files, the certificate
            followed by its issuers, read again when they change. With `clients` and a file of roots a client may prove
            who it is by a certificate of its own; with `required` behind it, it must.

            WARNING: every client that reaches the address and is admitted by `clients` uses your credentials. 0.0.0.0 is
            usual inside a container; then let the container's network, `clients { allow … }` or `authenticate` decide
            who that is.
            """),
        .admin: DirectiveManual(
            "ADDRESS:PORT [{ … }]",
            example: "admin 127.0.0.1:3127",
            """
            Health (/healthz, /readyz), metrics (/metrics), a practice origin (/practice/), and the dashboard, which
            `attache admin token` prints a link to. Without it there are none, and `attache healthcheck` has nobody to ask.
            Keep it on loopback: it says what the proxy does, and but for the dashboard to everybody who reaches it. With a
            certificate the dashboard is reached by https alone, at the same port; the rest stays as it is.
            """),
        .threads: DirectiveManual(
            "auto|NUMBER", default: "auto", example: "threads 2",
            "Event loops: `auto` is one for each core that the container may use."),
        .state: DirectiveManual(
            "DIRECTORY", example: "state /var/lib/attache",
            """
            Where the proxy keeps what outlives a run: the authority and the store; and the socket `control`, which
            commands such as `attache challenges`, `status`, `reload` and `credential` reach the running proxy by. Each
            proxy has one of its own. Default: $XDG_STATE_HOME/attache, else ~/.local/state/attache.
            """),
        .log: DirectiveManual(
            "console|json|common|combined|squid|events|off [stdout|stderr|file PATH|syslog [PATH]]",
            default: "json stdout",
            example: "log common file /var/log/attache/access.log",
            """
            Which lines, and where they go. No request waits for the log: what it does not take is dropped and counted
            (attache_log_lines_dropped_total; for standard error attache_report_lines_dropped_total), and a log that fails,
            as on a full disk, is reported once, and once more when it works again.
            """),
        .limits: DirectiveManual(
            "{ … }", example: "limits { head 32k; clients 500 }", "The most that peers may take, in sizes and numbers."),
        .timeouts: DirectiveManual(
            "{ … }", example: "timeouts { connect 5s; response 60s }", "The longest that peers may take."),
        .clients: DirectiveManual(
            "{ … }", example: "clients { allow 10.0.0.0/8; authenticate basic; users file /etc/attache/users }",
            "The clients that may use the proxy."),
        .egress: DirectiveManual(
            "{ … }", example: "egress { allow 10.20.0.0/16; deny private }", "Where the proxy may connect."),
        .route: DirectiveManual(
            "HOST[:PORT] { … }", default: "* { tunnel }",
            example: """
                route *.internal.example.com { deny }
                route legacy.example.com:8080 { decode }
                route * { tunnel }
                """,
            "How requests to these hosts travel; the first that fits decides."),
        .authority: DirectiveManual(
            "{ … }", example: "authority { names *.corp.example.com 10.0.0.0/8 }",
            "The issuer of the certificates that clients are shown in tunnels that are looked into."),
        .credential: DirectiveManual(
            "NAME { … }", example: "credential ci { user builder; password file /run/secrets/ci }",
            """
            A credential, of one kind. Rules, logs and explanations speak of its name, and never of its value.
            """),
        .challenge: DirectiveManual(
            "[NAME] { … }",
            example: """
                challenge "build server" {
                    host   ci.example.com
                    realm  "Jenkins*"
                    method digest basic
                    secure yes
                    use    ci
                }
                """,
            """
            A rule: predicates, one answer, and modifiers of it. The first block whose predicates all hold decides. Where
            none does, the answer is `default`.
            """),
        .parent: DirectiveManual(
            "NAME { … }",
            example: """
                parent corp { http proxy1.corp.example.com:8080 proxy2.corp.example.com:8080; except 10.0.0.0/8 *.local }
                route * { via corp direct }
                """,
            "Proxies that a route may lead through, the first that works first."),
        .mode: DirectiveManual(
            "enforce|report", default: "enforce", example: "mode report",
            """
            report: every `challenge` that says nothing of it is only tried. It decides, the log and `attache challenges`
            say what would have been answered, and the client gets the challenge as it came.
            """),
        .ask: DirectiveManual(
            "webhook URL { key … }",
            example: "ask webhook https://chat.example.com/hook { key env HOOK_KEY }",
            "The program that is told of challenges that wait: a POST for each, by https or to this machine."),
        .traces: DirectiveManual(
            "{ … }", example: "traces { collector http://127.0.0.1:4318 }",
            "The collector of the spans of requests whose `route` says `trace`. Without it none are made."),
        .store: DirectiveManual(
            "sqlite PATH|postgresql TEXT [{ key … }]",
            example: """
                store postgresql "host=db.example.com dbname=attache user=attache" { key env STORE_KEY }
                """,
            """
            Where credentials are kept that outlive a run: in a file, or in a database that several replicas share, by
            libpq's connection string; `attache help store` says more. Where the database cannot be reached a
            proxy does not start; one that runs goes on with what it knows, stays ready, and says so in its log, /readyz
            and the metric attache_store_up. Once the tables are made, a role that may read and write their rows is
            enough.
            """),
    ]
}

extension AskDirective {
    static let manuals: [AskDirective: DirectiveManual] = [
        .key: DirectiveManual(
            "file PATH|env NAME",
            example: "ask webhook https://chat.example.com/hook { key file /run/secrets/hook.key }",
            "The key of the signature: any text, or `whsec_` and base64. It is read for each question.")
    ]
}

extension LimitsDirective {
    static let manuals: [LimitsDirective: DirectiveManual] = [
        .replayMemory: DirectiveManual(
            "SIZE", default: "64k", example: "limits { replay-memory 256k }",
            "Of a request's body, held in memory until it is known whether a challenge comes."),
        .replayDisk: DirectiveManual(
            "SIZE", default: "64m", example: "limits { replay-disk 0 }",
            "As much more of it in an unlinked file; 0 holds none."),
        .replayDiskTotal: DirectiveManual(
            "SIZE", default: "1g", example: "limits { replay-disk-total 256m }",
            """
            Of all bodies together; beyond it the origin is asked first (Expect: 100-continue). The metrics
            attache_replay_disk_bytes and attache_replay_disk_refused_total show how far it is used.
            """),
        .startLine: DirectiveManual(
            "SIZE", default: "16k", example: "limits { start-line 8k }", "A request line or status line."),
        .head: DirectiveManual("SIZE", default: "64k", example: "limits { head 32k }", "A client's whole head."),
        .upstreamHead: DirectiveManual(
            "SIZE", default: "256k", example: "limits { upstream-head 512k }",
            "An origin's whole head: larger, because Kerberos tickets are."),
        .fields: DirectiveManual("NUMBER", default: "128", example: "limits { fields 64 }", "Field lines in a head."),
        .clients: DirectiveManual(
            "NUMBER", default: "10000", example: "limits { clients 500 }",
            """
            Client connections at once, over all threads. At the limit the client makes room that has been silent longest
            since it connected, then the one that has waited longest for its next request. If there is none, a new one
            waits a second and gets a 503.
            """),
        .clientsPerAddress: DirectiveManual(
            "NUMBER", example: "limits { clients-per-address 100 }",
            """
            Of those, from one address, or one IPv6 network of 64 bits; this machine is not counted. Default: a quarter.
            """),
        .decodeRatio: DirectiveManual(
            "NUMBER", default: "100", example: "limits { decode-ratio 20 }",
            "`decode` gives up when a body grows more than this: it is a bomb, not a page."),
        .questions: DirectiveManual(
            "NUMBER", default: "100", example: "limits { questions 10 }",
            """
            Challenges that wait for an operator (`ask`) at once, and requests that wait with each. Where one challenge too
            many comes up, the oldest is cancelled.
            """),
    ]
}

extension TimeoutsDirective {
    static let manuals: [TimeoutsDirective: DirectiveManual] = [
        .head: DirectiveManual(
            "DURATION", default: "10s", example: "timeouts { head 5s }",
            "From the first byte of a request to the end of its head; a new connection without a byte."),
        .idle: DirectiveManual(
            "DURATION", default: "60s", example: "timeouts { idle 5m }",
            "A kept connection without a request; a body or tunnel without a byte."),
        .connect: DirectiveManual(
            "DURATION", default: "10s", example: "timeouts { connect 3s }",
            """
            Name to connection, over all addresses of the name; also how long a request waits for a KDC, or for the verdict
            on a password that another one has sent.
            """),
        .response: DirectiveManual(
            "DURATION", default: "300s", example: "timeouts { response 1h }",
            "End of the request to the head of its response."),
        .drain: DirectiveManual(
            "DURATION", default: "30s", example: "timeouts { drain 10s }",
            "The time that a stop leaves to requests in flight."),
        .session: DirectiveManual(
            "DURATION", default: "15m", example: "timeouts { session 8h }",
            "A client's session, see `persistence`, without a request that needs it."),
        .ask: DirectiveManual(
            "DURATION", default: "60s", example: "timeouts { ask 10m }",
            "A request that is held for an operator's answer."),
    ]
}

extension AdminDirective {
    static let manuals: [AdminDirective: DirectiveManual] = [
        .users: DirectiveManual(
            "file FILE", example: "admin 127.0.0.1:3127 { users file /etc/attache/admins }",
            """
            People who log in to the dashboard with a password, beside the links of `attache admin token`: lines of
            `attache password` or htpasswd. Beyond loopback `certificate` and `key` have to be said too.
            """),
        .certificate: DirectiveManual(
            "FILE", example: "admin 10.0.0.7:3127 { certificate admin.pem; key admin.key; users file admins }",
            "Has the dashboard reached by https, and by nothing else: PEM, the certificate followed by its issuers."),
        .key: DirectiveManual(
            "FILE", example: "admin 127.0.0.1:3127 { certificate admin.pem; key admin.key }",
            "The certificate's key: PEM."),
    ]
}
