extension ManualTopic {
    static let operators = ManualTopic(
        "operators", "ask: a person answers what no rule can",
        """
        A rule says `ask`, and the request whose challenge it decides about is held: a login, a server's wish for a client
        certificate, or a server's own certificate in which something was found. All requests to the space wait together.
        An operator sees what waits, and answers:

            $ attache ask
            $ attache ask answer 7 user builder
            $ attache ask answer 7 use ci
            $ attache ask answer 7 trust --until 2099-12-31

        `attache ask` and the dashboard show what the response says that challenges: its status, its fields, and up to 1 KB of
        its text, such as "account locked".

        What nobody answers within `timeouts { ask }` is refused with a 502 that says so. A credential that `default` would
        use answers without an operator, and so does an answer that was given for more than one request.

            challenge "people" { host lab.example.com; secure yes; ask }
            challenge "new certificates" { host *.lab.example.com; method server-trust; ask }
            timeouts { ask 5m }

        Each question is a line on standard error, and, where `ask webhook` says so, a POST with a JSON object: `id`,
        `challenge` in words, `host`, `port`, `protocol`, `realm`, `method`, `rule`, `user`, `details`, `pin` and `client`.
        Of the server's response it has `status`, `fields`, and up to 1 KB of `text`, in which secrets are masked.
        It is signed as Standard Webhooks are: `webhook-id`, `webhook-timestamp`, and in `webhook-signature` the HMAC-SHA256
        of the two and the content, with points between. An answer other than 2xx is reported, and the call made again
        twice while the question is open. Thirty questions are announced at once, and then one in two seconds.
        """, ManualEntry.of(FileDirective.ask), ManualEntry.of(AskDirective.key))
}
