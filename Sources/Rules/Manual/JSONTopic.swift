import Model

extension ManualTopic {
    static let json = ManualTopic(
        "json", "the fields of --json, of the JSON log and of the metrics",
        """
        Use this page to write programs that read the output of this proxy.

            $ attache status --json
            $ attache challenges --json
            $ attache ask --json
            $ attache ask answers --json
            $ attache credential list --json
            $ attache metrics

        Each document is one object, and its `version` is the version of this format. The version counts up when a field is
        removed, renamed, or gets another meaning. New fields may come at any time: ignore what you do not know. A field
        without a value is left out. A time is in UTC, as 2026-01-31T12:00:00Z.

        The list of `attache challenges --json` is `challenges`, that of `attache ask --json` is `questions`, that of `attache
        ask answers --json` is `answers`, and that of `attache credential list --json` is `credentials`:

        \(rows(DocumentField.self))

        `attache status --json`:

        \(rows(StatusField.self))

        An entry of `parent_servers`:

        \(rows(ParentField.self))

        An entry of `expiries`:

        \(rows(ExpiryField.self))

        An entry of `weak_logins`:

        \(rows(WeakUseField.self))

        An entry of `challenges`, beside the protection space:

        \(rows(ChallengeField.self))

        An entry of `questions`, beside the protection space:

        \(rows(QuestionField.self))

        An entry of `answers`, beside the protection space:

        \(rows(AnswerField.self))

        An entry of `credentials`, beside its state and, for a stored one, its protection space:

        \(rows(CredentialField.self))

        The state of a credential, in its entry and in each entry of `servers`:

        \(rows(StandingField.self))

        An entry of `servers`, beside the state:

        \(rows(JudgeField.self))

        A line of the JSON log about a request:

        \(rows(RequestField.self))

        A line of the JSON log that is an event. It has `event`, which a line about a request has not:

        \(rows(EventField.self))

        The object that `ask webhook` sends:

        \(rows(WebhookField.self))

        A protection space, in each entry of `challenges`, `questions` and `answers`, and in that of a stored credential:

        \(rows(SpaceField.self))

        A rule, wherever there is a field `rule` or `trust_rule`:

        \(rows(RuleField.self))

        A response, in the field `response`:

        \(rows(ResponseField.self))

        The metrics, with their types and labels. A label `rule` is the rule's name, or else FILE:LINE.

        \(MetricFamily.allCases.map(item).joined(separator: "\n\n"))
        """)

    private static func rows<Field: JSONField>(_: Field.Type) -> String {
        Field.allCases.map { "| \($0.rawValue) | \($0.manual.type) | \($0.manual.meaning)" }.joined(separator: "\n")
    }

    private static func item(_ family: MetricFamily) -> String {
        let (traits, name) = (family.traits, family.rawValue)
        let labels = traits.labels.isEmpty ? "" : ", by \(traits.labels.joined(separator: ", "))"
        return "= \(name)\n\(traits.kind)\(labels): \(traits.help)"
    }

    static let fail2ban = ManualTopic(
        "fail2ban", "ban the addresses of clients that try passwords",
        """
        Use this if your proxy has `authenticate` and can be reached from outside. fail2ban reads the events
        `login.refused` in the JSON log, and bans an address after some refused logins.

            log json file /var/log/attache/access.log

        \(fail2banFilter)

            /etc/fail2ban/jail.d/attache.conf:
            [attache]
            enabled = true
            port = 3128
            logpath = /var/log/attache/access.log
            maxretry = 5
            findtime = 10m
            bantime = 1h

        Try the filter with your log:

            $ fail2ban-regex /var/log/attache/access.log /etc/fail2ban/filter.d/attache.conf

        An event is logged for a wrong user or password, an unknown token, and a Kerberos ticket that is refused or whose
        principal may not use the proxy. A request without a login is not logged. The event has the client's address, the user's
        name (at most 64 characters, control characters replaced) and the method. It never has a password or a token. At most
        64 events a minute are logged for one client. `attache_client_logins_total{result="refused"}` counts all of them.

        Behind a load balancer all clients have its address. Do not ban it.
        """)

    static let fail2banFilter = #"""
            /etc/fail2ban/filter.d/attache.conf:
            [Definition]
            failregex = ^,"level":"warning","event":"login\.refused","by":"client","client":"<HOST>"
            datepattern = ^\{"time":"%%Y-%%m-%%dT%%H:%%M:%%S\.%%f%%z"
        """#
}
