extension ManualTopic {
    static let operators = ManualTopic(
        "operators", "ask: a person answers a challenge",
        """
        With `ask`, a request waits until a person answers its challenge. Use it where no rule can decide.

            challenge "people" { host lab.example.com; secure yes; ask }
            challenge "new certificates" { host *.lab.example.com; method server-trust; ask }
            timeouts { ask 5m }

        The challenge is a login, a request for a client certificate, or a server's certificate with a problem. All requests
        to the protection space wait together. `attache ask` shows what waits, and answers it:

            $ attache ask
            $ attache ask answer 7 user builder
            $ attache ask answer 7 use ci
            $ attache ask answer 7 trust --until 2099-12-31

        The dashboard can do the same. Both show the server's response: its status, its fields, and up to 1 KB of its text,
        such as "account locked".

        If there is no answer within `timeouts { ask }`, the client gets a 502 that says so. If `default` has a credential for
        the challenge, it is used and no person is asked. The same is true for an answer that was saved for later requests.

        = Notification
        Each question is a line on standard error. With `ask webhook`, it is also a POST with a JSON object. 'attache help json'
        lists its fields. Secrets in the server's response are masked.

        The POST is signed as in Standard Webhooks: `webhook-id`, `webhook-timestamp` and `webhook-signature`. The signature is
        the HMAC-SHA256 of the id, the timestamp and the content, joined by dots. If the response is not 2xx, the proxy logs
        that. It calls twice more while the question is open. It sends thirty calls at once, then one every two seconds.
        """, ManualTopic.Entry.of(FileDirective.ask), ManualTopic.Entry.of(AskReader.Word.key))
}
