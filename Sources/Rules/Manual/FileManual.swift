extension FileDirective {
    static let manuals: [FileDirective: DirectiveManual] = [
        .listen: DirectiveManual(
            "ADDRESS:PORT|unix:PATH [tls certificate FILE key FILE [clients FILE|clients spiffe DOMAIN FILE … [required]] [http2 yes|no]] [h2c] [as NAME] [socks] [proxy-protocol from ADDRESS …] [transparent] [{ … }]",
            default: "127.0.0.1:3128",
            example: """
                listen 127.0.0.1:3128
                listen [::1]:3128
                listen 0.0.0.0:3130 tls certificate proxy.pem key proxy.key clients staff-ca.pem required
                listen unix:/run/attache/ci.sock as "ci" { mode 0660; group ci }
                listen 0.0.0.0:3131 proxy-protocol from 10.0.0.2 10.0.0.3
                """,
            """
            Where clients connect. Each line is one listener. Port 0 is any free port.

            With `tls`, clients speak TLS to the proxy itself, as with https_proxy=https://proxy.example.com:3130. The files
            are PEM: the certificate followed by its issuers, and the key. They are read again when they change. With
            `clients` and a file of root certificates, a client can log in with a certificate of its own. With `required`,
            it must. Clients may choose HTTP/2, unless it says `http2 no` ('attache help http2').

            With `clients spiffe`, a trust domain and a file, clients are workloads with X.509-SVIDs. There may be several, each
            with its own file: `clients spiffe a.example a.pem clients spiffe b.example b.pem required`. The client's name is
            the SPIFFE ID, not the common name. Any other certificate ends the handshake.

            With `h2c`, clients without TLS may speak HTTP/2 too, if they know that the proxy does. See 'attache help http2'.

            With `as` and a name, every client of the listener is that user, without a login. `unix:PATH` is a socket in the file
            system, which always has a name. 'attache help sockets' explains both.

            With `socks`, clients may also speak SOCKS 5, 4a or 4. See 'attache help socks'.

            With `proxy-protocol from` and addresses, the listener is for load balancers at these addresses, such as HAProxy with
            `send-proxy` or `send-proxy-v2`. They say at the beginning of a connection whose it is, before TLS. `clients`, limits,
            rules and the log then use that address. A connection from another address, or without such a header within
            `timeouts head`, is closed. A balancer's own connection (LOCAL, UNKNOWN) has the balancer's address.

            With `transparent`, the listener is for clients that know of no proxy, and that a firewall redirects to it. See
            'attache help transparent'.

            WARNING: every client that reaches this address and is admitted by `clients` can use your credentials. In a
            container 0.0.0.0 is usual. Then limit the clients by the container's network, by `clients { allow … }` or by
            `authenticate`.
            """),
        .admin: DirectiveManual(
            "ADDRESS:PORT [{ … }]",
            example: "admin 127.0.0.1:3127",
            """
            The address of the dashboard, of health (/healthz, /readyz), metrics (/metrics) and the practice server
            (/practice/). `attache admin token` prints a link to the dashboard ('attache help dashboard'). `attache metrics` prints a Grafana board
            and alert rules. Without this line there are none of these addresses, and `attache healthcheck` fails.

            Keep it on loopback: every client that reaches it can read all of this, except the dashboard. On another address,
            protect the metrics by `metrics token`. With a certificate the dashboard needs https, at the same port. The other
            pages also stay on http.
            """),
        .threads: DirectiveManual(
            "auto|NUMBER", default: "auto", example: "threads 2",
            "The number of event loops. `auto` is one for each core that the container may use."),
        .state: DirectiveManual(
            "DIRECTORY", example: "state /var/lib/attache",
            """
            The directory for the CA, the store and the socket `control`. Commands such as `attache challenges`, `status`,
            `reload` and `credential` reach the running proxy by that socket. Each proxy needs a directory of its own. The
            default is $XDG_STATE_HOME/attache, or ~/.local/state/attache.
            """),
        .log: DirectiveManual(
            "console|json|common|combined|squid|events|off [stdout|stderr|file PATH|syslog [PATH]]",
            default: "json stdout",
            example: "log common file /var/log/attache/access.log",
            """
            The format of the log, and where it goes. No request waits for the log. Lines that cannot be written in time are
            dropped and counted (attache_log_lines_dropped_total; for standard error attache_report_lines_dropped_total). If
            the log fails, for example because the disk is full, the proxy reports that once. It reports once more when the
            log works again.
            """),
        .limits: DirectiveManual(
            "{ … }", example: "limits { head 32k; clients 500 }",
            "Sizes and numbers that clients and servers must not exceed."),
        .timeouts: DirectiveManual(
            "{ … }", example: "timeouts { connect 5s; response 60s }", "How long clients and servers may take."),
        .clients: DirectiveManual(
            "{ … }", example: "clients { allow 10.0.0.0/8; authenticate basic; users file /etc/attache/users }",
            "The clients that may use the proxy."),
        .egress: DirectiveManual(
            "{ … }", example: "egress { allow 10.20.0.0/16; deny private }",
            "The addresses and ports that the proxy may connect to. Several blocks count together."),
        .route: DirectiveManual(
            "HOST[:PORT] { … }", default: "* { tunnel }",
            example: """
                route *.internal.example.com { deny }
                route legacy.example.com:8080 { decode }
                route * { tunnel }
                """,
            "How requests to these hosts travel. The first `route` that matches decides."),
        .authority: DirectiveManual(
            "{ … }", example: "authority { names *.corp.example.com 10.0.0.0/8 }",
            "The CA that issues the certificates for intercepted https. The names of several blocks count together."),
        .credential: DirectiveManual(
            "NAME { … }", example: "credential ci { user builder; password file /run/secrets/ci }",
            "A credential. Rules, logs and explanations use its name, and never show its value."),
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
            A rule: conditions, one answer, and options of the answer. The first block whose conditions are all true decides.
            If there is none, the answer is `default`.
            """),
        .parent: DirectiveManual(
            "NAME { … }",
            example: """
                parent corp { http proxy1.corp.example.com:8080 proxy2.corp.example.com:8080; except 10.0.0.0/8 *.local }
                route * { via corp direct }
                """,
            "Other proxies that a route can use. The first one that works is used."),
        .mode: DirectiveManual(
            "enforce|report", default: "enforce", example: "mode report",
            """
            `report` tests the rules without sending a credential. The log and `attache challenges` show what each rule would
            have answered, and the client gets the challenge unchanged. A `challenge` with its own `mode` keeps it.
            """),
        .ask: DirectiveManual(
            "webhook URL { key … }",
            example: "ask webhook https://chat.example.com/hook { key env HOOK_KEY }",
            "Sends a POST to this URL for each challenge that waits for an operator. The URL is https, or on this machine."
        ),
        .traces: DirectiveManual(
            "{ … }", example: "traces { collector http://127.0.0.1:4318 }",
            "Where to send the spans of requests whose `route` says `trace`. Without it there are no spans."),
        .store: DirectiveManual(
            "sqlite PATH|postgresql TEXT [{ key … }]",
            example: "store postgresql \"host=db.example.com dbname=attache user=attache\" { key env STORE_KEY }",
            """
            Where credentials are stored: in a file, or in a PostgreSQL database that several replicas share. For PostgreSQL,
            write a connection string of libpq. See `attache help store`.

            If the database cannot be reached, the proxy does not start. A running proxy continues with what it knows and
            stays ready. The log, /readyz and the metric attache_store_up show it. After the tables are created, a role that
            can read and write rows is enough.
            """),
    ]
}

extension AskReader.Word {
    static let manuals: [AskReader.Word: DirectiveManual] = [
        .key: DirectiveManual(
            "file PATH|env NAME",
            example: "ask webhook https://chat.example.com/hook { key file /run/secrets/hook.key }",
            "The key of the signature: any text, or `whsec_` and base64. It is read again for each question.")
    ]
}

extension SettingsReader.LimitsWord {
    static let manuals: [SettingsReader.LimitsWord: DirectiveManual] = [
        .replayMemory: DirectiveManual(
            "SIZE", default: "64k", example: "limits { replay-memory 256k }",
            "How much of a request's body is kept in memory, to send it again after a challenge."),
        .replayDisk: DirectiveManual(
            "SIZE", default: "64m", example: "limits { replay-disk 0 }",
            "How much more of a body is kept in an unlinked file. 0 uses no file."),
        .replayDiskTotal: DirectiveManual(
            "SIZE", default: "1g", example: "limits { replay-disk-total 256m }",
            """
            How much disk all bodies may use together. Beyond that, the proxy asks the server before it sends a body (Expect:
            100-continue). The metrics attache_replay_disk_bytes and attache_replay_disk_refused_total show the use.
            """),
        .startLine: DirectiveManual(
            "SIZE", default: "16k", example: "limits { start-line 8k }", "The longest request line or status line."),
        .head: DirectiveManual(
            "SIZE", default: "64k", example: "limits { head 32k }",
            "The largest head of a request: the request line and all fields."),
        .upstreamHead: DirectiveManual(
            "SIZE", default: "256k", example: "limits { upstream-head 512k }",
            "The largest head of a response. It is larger than `head`, because Kerberos tickets are large."),
        .fields: DirectiveManual(
            "NUMBER", default: "128", example: "limits { fields 64 }", "How many field lines a head may have."),
        .clients: DirectiveManual(
            "NUMBER", default: "10000", example: "limits { clients 500 }",
            """
            How many client connections there may be at once, over all threads. At the limit the proxy closes the connection
            that has sent nothing for the longest time since it connected. Next is the one that has been idle longest between
            requests. If all are in use, a new client waits a second and gets a 503.
            """),
        .clientsPerAddress: DirectiveManual(
            "NUMBER", example: "limits { clients-per-address 100 }",
            """
            How many of those may come from one address, or one IPv6 network of 64 bits. Clients on this machine do not count.
            The default is a quarter of `clients`.
            """),
        .requestsPerClient: DirectiveManual(
            "NUMBER/s|m|h [burst NUMBER]",
            example: "limits { requests-per-client 100/s burst 200 }",
            """
            How many requests one client may make in a second, a minute or an hour. `burst` is how many it may make at once after
            a pause; without it, the number before the slash. One more request gets a 429, and `Retry-After` has the seconds to
            wait. No server is asked then. By default there is no limit.

            A client is a user who has logged in to the proxy, or the name that `listen … as` gives. Without a name it is an
            address, or an IPv6 network of 64 bits; programs on this machine without a name are one client. A CONNECT counts as a
            request, and so does each request in an intercepted tunnel. A login that the proxy refuses does not count.
            """),
        .concurrentRequestsPerClient: DirectiveManual(
            "NUMBER", example: "limits { concurrent-requests-per-client 50 }",
            """
            How many requests of one client may be in progress at once, on all its connections. A tunnel that is not intercepted,
            and a WebSocket, is in progress until it ends. One more request gets a 429. By default there is no limit.
            """),
        .streams: DirectiveManual(
            "NUMBER", default: "100", example: "limits { streams 50 }",
            "How many requests an HTTP/2 connection of a client may carry at once. See 'attache help http2'."),
        .exchanges: DirectiveManual(
            "NUMBER", default: "2000", example: "limits { exchanges 200 }",
            """
            How many requests by HTTP/2 a thread carries at once; a quarter of them for one client address. At the limit the
            request ends whose client has taken or sent nothing for the longest time, if that is 5 seconds or more. Else a new
            one is refused with REFUSED_STREAM, and clients send it again. A request takes up to 150 KiB of memory.
            """),
        .decodeRatio: DirectiveManual(
            "NUMBER", default: "100", example: "limits { decode-ratio 20 }",
            "How many times larger a body may become by `decode`. This protects against decompression bombs."),
        .questions: DirectiveManual(
            "NUMBER", default: "100", example: "limits { questions 10 }",
            """
            How many challenges may wait for an operator (`ask`) at once, and how many requests may wait for each. One more
            challenge cancels the oldest.
            """),
    ]
}

extension SettingsReader.TimeoutsWord {
    static let manuals: [SettingsReader.TimeoutsWord: DirectiveManual] = [
        .head: DirectiveManual(
            "DURATION", default: "10s", example: "timeouts { head 5s }",
            "How long a client may take to send the head of a request, from its first byte. Also how long a new connection may send nothing."
        ),
        .idle: DirectiveManual(
            "DURATION", default: "60s", example: "timeouts { idle 5m }",
            "How long a connection may stay idle between requests, and how long a body or tunnel may move no byte."),
        .connect: DirectiveManual(
            "DURATION", default: "10s", example: "timeouts { connect 3s }",
            """
            DNS lookup and TCP connect together, over all addresses of the name. Also how long a request waits for a KDC, or
            for the result of a password that another request has sent.
            """),
        .response: DirectiveManual(
            "DURATION", default: "300s", example: "timeouts { response 1h }",
            "How long the proxy waits for the head of the response, after it has sent the request."),
        .drain: DirectiveManual(
            "DURATION", default: "30s", example: "timeouts { drain 10s }",
            "How long a stopping proxy lets requests in flight finish."),
        .session: DirectiveManual(
            "DURATION", default: "15m", example: "timeouts { session 8h }",
            "How long a client's session lasts without a request that uses it (`persistence`)."),
        .ask: DirectiveManual(
            "DURATION", default: "60s", example: "timeouts { ask 10m }",
            "How long a request waits for an operator's answer."),
        .helper: DirectiveManual(
            "DURATION", default: "10s", example: "timeouts { helper 2s }",
            "How long a credential helper may run. Then it gets SIGTERM, and SIGKILL a second later."),
    ]
}

extension AdminReader.Word {
    static let manuals: [AdminReader.Word: DirectiveManual] = [
        .users: DirectiveManual(
            "file FILE", example: "admin 127.0.0.1:3127 { users file /etc/attache/admins }",
            """
            People who can log in to the dashboard with a password, in lines of `attache password` or htpasswd. Links of
            `attache admin token` work too. On an address other than loopback, `certificate` and `key` are required.
            """),
        .metrics: DirectiveManual(
            "token file FILE", example: "admin 10.0.0.7:3127 { metrics token file /etc/attache/metrics.token }",
            """
            Only readers that send this token get /metrics (`Authorization: Bearer …`, RFC 6750). The file has one line. It is
            read again when it changes. In Prometheus, write `authorization { credentials_file }`. Without `certificate` and
            https, everyone on the way can read the token. `attache metrics` needs none.
            """),
        .certificate: DirectiveManual(
            "FILE", example: "admin 10.0.0.7:3127 { certificate admin.pem; key admin.key; users file admins }",
            "The dashboard needs https with this certificate. The file is PEM: the certificate followed by its issuers."
        ),
        .key: DirectiveManual(
            "FILE", example: "admin 127.0.0.1:3127 { certificate admin.pem; key admin.key }",
            "The key of the certificate, as PEM."),
    ]
}
