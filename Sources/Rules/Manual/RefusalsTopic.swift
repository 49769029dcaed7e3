extension ManualTopic {
    static let refusals = ManualTopic(
        "refusals", "when a server refuses a credential: what is sent again, and when",
        """
        A directory counts the wrong passwords of a user, and may lock the account. So the proxy counts refused answers for
        each value of a credential: those of all clients, pages, realms, methods and servers together, and those of all
        proxies that share a store. But one refusal says little about a value. The server may have refused the page, the
        method or a field of the request, or it cannot reach its directory. The proxy finds out before it gives a value up.

        The list of credentials has the state of each value, the servers that have accepted or refused it, and what changes
        the state at once:

            $ attache credential list
            $ attache credential retry ci

        If the password is wrong, write the right one into the file that the list names, or set it with `attache credential
        set`. If it is right, as after an administrator has unlocked the account, run `attache credential retry NAME`. It is
        sent again at once, on all proxies that share the store. `retry` without a name is for all credentials, with a URL
        for those that this server has judged, with krb5:REALM for those that the KDC of the realm has judged. Writing the
        same value into the file again does the same, and so does `attache reload --retry`, for all. If only the server had trouble, you do nothing.

        The proxy promises:

        = No lock-out
        In any half hour servers refuse at most 4 answers with one value. A value that no server has ever accepted is refused
        at most twice in the first half hour, then once after 30 minutes, 1, 2, 4, 8 and 16 hours, then once a day. An
        acceptance starts the count anew. A server may have a directory of its own: so each server, too, refuses at most 4
        answers, until it accepts one itself. Answers that are under way when the first refusal comes are not counted: the
        proxy cannot call them back. Without a store each proxy counts alone.

        = A client cannot take a credential from the others
        Suppose a server has accepted the value before, and still does. Then no request of one client delays another
        client's answer by more than one exchange with that server, or two if other servers refuse an answer meanwhile, or
        another proxy asks. This needs a request that the proxy can repeat: see `probe`. Two other servers that refuse the
        value at the same time delay it by up to 30 seconds, three or more by up to half an hour. So name hosts in rules
        instead of wildcards.

        = It heals by itself
        A value that the server accepted before is used again at most 30 seconds after the server accepts it again, if the
        trouble was shorter than that; at most 5 minutes later, if it was shorter than 5 minutes; else at most 30 minutes
        later. These are the times of `retry`. If several servers refuse the value at once, it is 30 seconds or 30 minutes. A
        new value is used at once.

        = It is visible
        Each state but `good` stands in `attache credential list`, with its reason, its beginning, the next try and what ends
        it. `attache status`, the dashboard and the metrics count the states, `attache challenges` has what a client was
        refused for, and the log has each change: credential.refused, credential.parked, credential.lifted.

        A value has a state at each server. The list names the worst one first:

        = good
        The server has accepted the value, and nothing is against it. All requests send it.

        = unknown
        The server has never accepted the value. One request sends it, the others wait for the verdict. After a refusal
        the value is sent once more, for another target, then paused. A login at a SOCKS server or a KDC, and a client
        certificate, have no other target: there the value is sent again after 30 minutes, and to another server at once.

        = doubted
        The server has accepted the value before, but some server has refused it since. The proxy asks this server by a
        request of its own; requests wait for the verdict, at most for `timeouts connect`. If the server accepts the value,
        it is good again, here and at all servers that have not refused it themselves. If not, it is paused.

        = paused
        The server has refused the value, also when the proxy asked. It is tried again after the times of `retry`, by one
        request of all proxies. Until then it counts as refused without being sent: the rules are asked for another answer.

        = held
        So many answers were refused in the last half hour that no more may be risked, until the time shown.

        = unproven
        A server has refused the value, and none has ever accepted it. After two refusals it waits for the next of the long
        times above. A new value of a credential whose last value was accepted gets its second try after a minute, since
        servers may learn of a new password later than the proxy.

        What counts: a challenge in response to a complete, fresh answer. Errors (5xx, 429, 408), time-outs, closed
        connections, `stale=true` and a missing Kerberos ticket say nothing about the value. A KDC and a token endpoint
        count as servers. The list shows a KDC as krb5:REALM. A Kerberos ticket is no password: a server accepts one until it
        expires, also after the password has changed. So only the KDC can accept or refuse the password, and a ticket that
        the proxy has is used in every state. A parent that speaks SOCKS is a server, too: a request goes on to the next
        answer on another connection. A server refuses a client certificate by an alert of TLS, and nginx by its page with
        status 400 or 495. Credentials that a client brings, in a URL or in an answer of its own (`learn`), have accounts of
        their own, which push out no others.

        A request by which the proxy asks repeats one that the server has accepted: GET, HEAD, OPTIONS or PROPFIND without a
        body, cookies, or fields other than Accept, User-Agent, Range and the like; at a parent a GET of a URL, or a CONNECT.
        At a SOCKS server it is the login alone: the proxy closes the connection when it has the verdict.
        It goes the same way as a client's, under the same rules. The log has it as credential.probed, and the metric
        attache_credential_probes_total counts it.
        """, ManualEntry.of(ChallengeDirective.retry, .probe))
}
