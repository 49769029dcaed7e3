extension ManualTopic {
    static let listen = ManualTopic(
        "listen", "where clients connect, and the program itself",
        """
        Tools reach the proxy at its listeners; `attache env` prints the variables that lead them there. Changes of
        `listen`, `admin` and `threads` take effect when the proxy is started again.

        Each client takes two descriptors. How many the system allows (ulimit -n) is said at the start if it is less than
        `limits { clients … }` needs.

        = systemd
        The unit of `attache deploy systemd` is told when the proxy is ready, reloads and stops (Type=notify). The
        unit of `attache deploy systemd --socket`, which the package has and does not enable, has systemd listen on the
        addresses of `listen` and `admin`, and start the proxy with the first client; while the proxy is started anew, clients
        wait instead of being turned away. Change its addresses as those of the rule file. A secret that only root can read is loaded by `LoadCredential=ci:/etc/attache/secrets/ci` in a drop-in of the unit; a rule says
        `password file /run/credentials/attache.service/ci`.

            $ attache deploy systemd
            $ attache deploy systemd --socket
        """, ManualEntry.of(FileDirective.listen, .admin), ManualEntry.of(AdminDirective.users, .certificate, .key),
        ManualEntry.of(FileDirective.threads, .state))

    static let log = ManualTopic(
        "log", "the access log, and the changes of what may answer",
        """
        The log names rules and credentials, never values. Where the rule file says nothing of it, it is `json stdout`, and
        `console stdout` where that is a terminal. Each request leaves a line:

        = console
        For a person: short, and on a terminal with colours, unless the environment has NO_COLOR; its times are UTC.

        = json
        An object, with what was decided: a challenge leaves its schemes and its realm (`challenge`, `realm`), and why
        nobody answered it (`details`).

        = common
        Apache httpd's: client, user, time of the request, request line, status, bytes.

        = combined
        The same with `Referer` and `User-Agent`, which may have queries of other sites in them.

        = squid
        The native format of squid's access.log.

        With `syslog` each line is a message to the system's log daemon, as those of syslog(3), by the socket /dev/log or
        PATH: of the facility daemon and the program attache, with the level as its severity. Where the daemon is away,
        lines are lost and counted until it is back. rsyslog cuts what is longer than 8 KiB.

        A text of others is shown as text: control characters, quotes and marks that turn the direction of writing are
        escaped.

        Beside them, in the order of time of all threads, stand events, with `event` and `level` (info, warning, error):
        each change of what may answer, and what else an operator is told. With common, combined and squid, which have no
        room for them, they stand on standard error, as JSON or, on a terminal, as with console; with syslog they stand
        there. `events` logs these alone.
        Standard error has what the operator is told as well, as plain sentences, unless the log goes there itself.
        SIGUSR1 opens the file anew, for whoever has renamed it. The names of events are:

        = credential.set, credential.removed, credential.default
        in the store, by a command.

        = credential.learned
        A client has shown it, and a rule keeps it, as `persistence` says.

        = credential.changed
        the value of one of the rule file's, as in its secret's file.

        = credential.refused
        A server has refused it. Requests go on to send it, or wait until the proxy has asked the server. `by` names the
        client whose request was refused, here and below; it is proxy for a request of its own. `host` is the server; for a
        KDC it is krb5:REALM.

        = credential.parked
        It is on hold there since `since`, and not sent before `next_try`. `details` has the reason, the state, and what
        ends it ('attache help refusals'). Logged once for each next try, not for each request.

        = credential.lifted
        It is sent again: a server has accepted it (`by` a client, or proxy), `attache credential retry` or `attache reload --retry`
        (`by` a command), or one of its files was written again (`by` file).

        = credential.probed
        The proxy has asked a server by a request of its own whether it is still good; `details` has the request and the
        outcome: accepted, refused or undecided.

        = trust.set, trust.removed
        an exception for a server's key.

        = question.answered
        an operator's answer to a challenge, see `ask`; `details` has its words.

        = answer.forgotten
        An operator has taken back an answer that held for requests to come.

        = store.opened, store.replaced, store.rekeyed
        the store of credentials.

        = rules.loaded, rules.reloaded, rules.rejected
        the rule file; one that is rejected changes nothing.

        = events.omitted
        So many (`count`) were not told: of one server's answers 64 in a minute are.

        = proxy.started, proxy.stopping, proxy.stopped
        the proxy itself.

        = secret.unreadable
        A file of a secret, of users or of a listener's certificate cannot be read.

        = trust.incomplete
        A file of CA certificates or revocation lists cannot be used, or has no list of an issuer: what that issued
        counts as not revoked.

        = limit.met
        Clients were refused, or made room; at most once a minute for each reason.

        = log.reopened, log.troubled
        The log's file was opened anew; it takes no lines, not all, or all again.

        = notice
        anything else that the operator is told.

        `by` says whose doing it is: client (`client`, `user`), command (`uid`, the user of that machine), signal (`uid`),
        file, or proxy. `replica` names the machine where it happened, and `happened` says when, if it came by the store:
        a command, or another proxy. `host`, `port`, `protocol`, `proxy`, `realm` and `method` are the protection space,
        `credential` is a name, and `default` says that it is the space's default from then on. `details` is a
        sentence.
        """, ManualEntry.of(FileDirective.log))

    static let limits = ManualTopic(
        "limits", "sizes, numbers and times that bound what peers may take",
        """
        Where a limit refuses something, the response and the access log say which. A body that has to be sent again
        after a challenge is held in memory, then in an unlinked file; what is larger is sent only when the origin has
        said that it takes it (Expect: 100-continue).
        """, ManualEntry.of(FileDirective.limits),
        ManualEntry.of(
            LimitsDirective.replayMemory, .replayDisk, .replayDiskTotal, .startLine, .head, .upstreamHead, .fields,
            .clients, .clientsPerAddress, .decodeRatio, .questions),
        ManualEntry.of(FileDirective.timeouts),
        ManualEntry.of(TimeoutsDirective.head, .idle, .connect, .response, .drain, .session, .ask))
}
