extension ManualTopic {
    static let listen = ManualTopic(
        "listen", "where clients connect, the admin address, systemd",
        """
        These directives say where tools reach the proxy, and where you reach its metrics and its dashboard.

            listen 127.0.0.1:3128
            admin 127.0.0.1:3127

        `attache env` prints the variables that send tools to the listener. After a change of `listen`, `admin` or `threads`,
        start the proxy again.

            $ attache env

        Each client needs two file descriptors. If the system's limit (ulimit -n) is too low for `limits { clients … }`,
        the proxy says so at the start.

        = systemd
        `attache deploy systemd` prints the unit of the service. The proxy tells systemd when it is ready, reloads and stops
        (Type=notify). For a secret that only root can read, write `LoadCredential=ci:/etc/attache/secrets/ci` in a drop-in of
        the unit. Then write `password file /run/credentials/attache.service/ci` in the rule file.

        = systemd sockets
        `attache deploy systemd --socket` prints the unit of the sockets. The Debian package installs it, but does not enable
        it. systemd then listens on the addresses of `listen` and `admin`, and starts the proxy with the first client. While
        the proxy restarts, clients wait instead of getting an error. When you change an address in the rule file, change it
        in this unit too.

            $ attache deploy systemd
            $ attache deploy systemd --socket
        """, ManualTopic.Entry.of(FileDirective.listen, .admin),
        ManualTopic.Entry.of(AdminReader.Word.users, .metrics, .certificate, .key),
        ManualTopic.Entry.of(FileDirective.threads, .state))

    static let log = ManualTopic(
        "log", "the access log and its events",
        """
        The log has one line for each request, and one for each event: a change to credentials or rules, or a message for
        the operator. It names rules and credentials, and never has a secret.

            log json file /var/log/attache/access.log

        The default is `json stdout`, and `console stdout` if that is a terminal. The formats of a request's line are:

        = console
        Short, for people. On a terminal it has colours, unless NO_COLOR is set. Its times are UTC.

        = json
        An object that also has the decision. A challenge has its methods and realm (`challenge`, `realm`). If it got no
        answer, `details` says why.

        = common
        The format of Apache httpd: client, user, time of the request, request line, status, bytes.

        = combined
        The same with `Referer` and `User-Agent`. These may contain queries of other sites.

        = squid
        The native format of squid's access.log.

        = events
        Events only, no requests.

        = off
        No log.

        The targets are `stdout`, `stderr`, `file PATH` and `syslog`. After logrotate has renamed the file, send SIGUSR1:
        the proxy opens the file again. With `syslog`, each line is a message to /dev/log or PATH. Its facility is daemon,
        its tag is attache, and its severity is the level. While the daemon is down, lines are lost and counted. rsyslog
        cuts lines of more than 8 KiB.

        Text from clients and servers is escaped: control characters, quotes, and marks that change the direction of
        writing.

        Events have the fields `event` and `level` (info, warning, error). They are in the same log, in the order of time.
        common, combined and squid cannot hold them. Then events go to standard error, as JSON, or as in console on a
        terminal. With syslog they go to syslog. Messages for the operator also go to standard error as plain sentences,
        unless the log goes there. The events are:

        = credential.set, credential.removed, credential.default
        A command changed the store.

        = credential.learned
        A client sent a credential, and a rule saved it (`persistence`).

        = credential.changed
        A value of the rule file changed, for example in its secret file.

        = credential.refused
        A server refused a credential. The proxy still sends it, or first asks the server again. `host` is the server; for
        a KDC it is krb5:REALM. `by` names the client whose request was refused. It is proxy if the proxy sent the request
        by itself.

        = credential.parked
        The credential is on hold at this server since `since`. It is not sent before `next_try`. `details` has the reason,
        the state, and the way out ('attache help refusals'). There is one event for each next try, not for each request.

        = credential.lifted
        The credential is sent again. A server accepted it (`by` a client, or proxy). Or a command asked for it: `attache
        credential retry` or `attache reload --retry`. Or one of its files was written again (`by` file).

        = credential.probed
        The proxy asked a server by a request of its own whether the credential is still good. `details` has the request
        and the result: accepted, refused or undecided.

        = placeholder.misplaced
        A client has written the placeholder of a credential where it is not replaced, and got a 403. `attache help
        placeholders` has the reasons.

        = login.refused
        This proxy refused the login of a client: a wrong password, an unknown token, or a ticket. `client` and `user` say
        who, and `method` how. See 'attache help fail2ban'.

        = trust.set, trust.removed
        An exception for a server's key changed.

        = question.answered
        An operator answered a challenge (`ask`). `details` has the answer.

        = answer.forgotten
        An operator took back an answer that was saved for later requests.

        = store.opened, store.replaced, store.rekeyed
        The credential store changed.

        = rules.added
        Suggested lines were added to the rule file on the dashboard. `details` has the lines.

        = rules.loaded, rules.reloaded, rules.rejected
        The rule file was read. A rejected one changes nothing.

        = events.omitted
        `count` events were suppressed. At most 64 a minute are logged about the answers of one server.

        = proxy.started, proxy.stopping, proxy.stopped
        The proxy itself.

        = secret.unreadable
        A file with a secret, with users or with a listener's certificate cannot be read.

        = trust.incomplete
        A file of CA certificates or revocation lists cannot be used, or it has no list of an issuer. Certificates of that
        issuer count as not revoked.

        = limit.met
        Clients were refused or disconnected because of a limit. There is at most one event a minute for each reason.

        = log.reopened, log.troubled
        The log file was opened again. Or it takes no lines, or only some, or it works again.

        = notice
        Any other message for the operator.

        'attache help json' lists all fields of a line.
        """, ManualTopic.Entry.of(FileDirective.log))

    static let limits = ManualTopic(
        "limits", "sizes, numbers and times that limit clients and servers",
        """
        Limits protect the proxy and its users from large, many or slow requests. The defaults fit most cases.

            limits {
                clients 500; replay-memory 256k
                requests-per-client 100/s burst 200; concurrent-requests-per-client 50
            }
            timeouts { connect 3s; response 1h }

        On a shared proxy, limit the requests of each client. A client is a user or, without a login, an address.

        When a limit refuses something, the response and the access log say which. A request's body may be needed again
        after a challenge. The proxy keeps it in memory, then in an unlinked file. If it is larger, the proxy asks the
        server first, and sends it only when the server agrees (Expect: 100-continue).
        """, ManualTopic.Entry.of(FileDirective.limits),
        ManualTopic.Entry.of(
            SettingsReader.LimitsWord.replayMemory, .replayDisk, .replayDiskTotal, .startLine, .head, .upstreamHead,
            .fields,
            .clients, .clientsPerAddress, .requestsPerClient, .concurrentRequestsPerClient, .streams, .exchanges,
            .decodeRatio, .questions),
        ManualTopic.Entry.of(FileDirective.timeouts),
        ManualTopic.Entry.of(
            SettingsReader.TimeoutsWord.head, .idle, .connect, .response, .drain, .session, .ask, .helper))
}
