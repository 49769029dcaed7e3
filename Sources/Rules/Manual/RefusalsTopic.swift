extension ManualTopic {
    static let refusals = ManualTopic(
        "refusals", "when a server refuses a credential: what is sent again, and when",
        """
        This page says what to do when a server refuses a credential, and how the proxy avoids a locked account.

            $ attache credential list
            $ attache credential retry ci

        `attache credential list` shows the state of each credential, the servers that have accepted or refused it, and what
        to do. Then:

        = The password is wrong
        Write the right one into the file that the list names, or run `attache credential set`.

        = The password is right
        For example, an administrator has unlocked the account. Run `attache credential retry NAME`. The credential is sent
        again at once, on all proxies that share the store. Without a name, `retry` is for all credentials. With a URL it is
        for those that this server has judged, and with krb5:REALM for those that the KDC of the realm has judged. You can
        also write the same value into the file again, or run `attache reload --retry` for all.

        = Only the server had trouble
        Do nothing.

        A directory counts wrong passwords, and may lock the account. So the proxy counts refused answers for each value of a
        credential: those of all clients, pages, realms, methods and servers together, and of all proxies that share a store.
        But one refusal says little about a value. The server may have refused the page, the method or a field of the request,
        or it may not reach its directory. So the proxy asks again before it stops using a value. It promises:

        = No lock-out
        In any half hour, servers refuse at most 4 answers with one value. A value that was never accepted is refused at most
        twice in the first half hour. Then it is tried once after 30 minutes, 1, 2, 4, 8 and 16 hours, then once a day. An
        acceptance resets the count, and so does `attache credential retry`. A server may have a directory of its own. So each
        server also refuses at most 4 answers, until it accepts one itself. Answers that are already sent when the first
        refusal comes are not counted: the proxy cannot call them back. Without a store, each proxy counts for itself.

        = A client cannot take a credential from the others
        Suppose that a server has accepted the value before, and still does. Then no request of one client delays another
        client's answer by more than one exchange with that server. It is two if other servers refuse an answer meanwhile, or
        another proxy asks. This needs a request that the proxy can repeat (`probe`). Two other servers that refuse the value
        at the same time delay it by up to 30 seconds. Three or more delay it by up to half an hour. So name hosts in rules
        instead of wildcards.

        = It heals by itself
        A value that was accepted before is used again soon after the server accepts it again. If the trouble was shorter than
        30 seconds, it takes at most 30 seconds. If it was shorter than 5 minutes, at most 5 minutes. Otherwise at most 30
        minutes. These are the times of `retry`. If several servers refuse the value at once, it is 30 seconds or 30 minutes.
        A new value is used at once.

        = It is visible
        `attache credential list` shows each state except `good`, with its reason, its beginning, the next try and the way out.
        `attache status`, the dashboard and the metrics count the states. `attache challenges` shows why a client was
        refused. The log has each change: credential.refused, credential.parked, credential.lifted.

        A value has a state at each server. The list shows the worst one first:

        = good
        The server has accepted the value. All requests send it.

        = unknown
        The server has never accepted the value. One request sends it, and the others wait for the result. After a refusal the
        value is sent once more, for another target, then paused. A login at a SOCKS server or a KDC, and a client certificate,
        have no other target. There the value is sent again after 30 minutes, and to another server at once.

        = doubted
        The server has accepted the value before, but some server has refused it since. The proxy asks this server by a request
        of its own. Other requests wait for the result, at most for `timeouts connect`. If the server accepts the value, it is
        good again, here and at all servers that have not refused it themselves. If not, it is paused.

        = paused
        The server has refused the value, also when the proxy asked. One request of all proxies tries it again after the times
        of `retry`. Until then it counts as refused without being sent: the rules are asked for another answer.

        = held
        So many answers were refused in the last half hour that another could lock the account. It is not sent until the time
        shown.

        = unproven
        A server has refused the value, and none has ever accepted it. After two refusals it waits for the next of the long
        times above. If the credential's last value was accepted, a new value gets its second try after a minute. Servers may
        learn of a new password later than the proxy.

        A refusal is a challenge in response to a complete, fresh answer. These say nothing about the value: errors (5xx, 429,
        408), time-outs, closed connections, `stale=true` and a missing Kerberos ticket.

        A KDC and a token endpoint count as servers. The list shows a KDC as krb5:REALM. A Kerberos ticket is no password. A
        server accepts a ticket until it expires, also after the password has changed. So only the KDC can accept or refuse the
        password, and an existing ticket is used in every state.

        A SOCKS parent is a server too. After its refusal, a request sends the next answer on another connection. A server
        refuses a client certificate by a TLS alert. nginx refuses it by its page with status 400 or 495. Credentials that a
        client brings, in a URL or in an answer of its own (`learn`), are counted separately, and push out no others.

        When the proxy asks a server, it repeats a request that the server has accepted. Such a request is GET, HEAD, OPTIONS
        or PROPFIND, without a body and without cookies. It has no fields other than Accept, User-Agent, Range and the like. At
        a parent it is a GET of a URL, or a CONNECT. At a SOCKS server it is the login only: the proxy closes the connection
        after the result. It goes the same way as a client's request, under the same rules. The log has it as
        credential.probed, and the metric attache_credential_probes_total counts it.
        """, ManualTopic.Entry.of(ChallengeDirective.modifier(.retry), .modifier(.probe)))
}
