extension ManualTopic {
    static let traces = ManualTopic(
        "traces", "traces: which part of a request took how long, across programs",
        """
        A route says which requests belong to a trace, as W3C Trace Context has it: `continue` those that come with a
        valid `traceparent`, `start` all. Each message to a server then has a `traceparent` with a span of its own: of a
        request that meets a challenge, two or more. `tracestate` goes on as it came. What is no valid `traceparent`
        counts as none, and does not go on. On other routes the proxy does not look at these fields.

            traces { collector https://otel.example.com:4318; header Authorization file /run/secrets/otel }
            route *.corp.example.com { intercept; trace start }
            route * { trace continue }

        Where `traceparent` says that the request is recorded, the collector gets its spans: the request, each look-up of
        a name, each connection and handshake, each message to a server, with the challenge that it met (method, realm,
        rule, disposition) and what became of its answer, and each thing that an answer waited for: another request's
        verdict (`wait`), a Kerberos ticket, a token, a login (`session`), an operator (`question`). They hold URLs
        without user information and without the values of the query, addresses, and the names of rules; no credential, no
        body, no field. A tunnel that is not looked into is one span.

        The spans are sent together, every two seconds or as soon as 512 are there, by OTLP over HTTP, in JSON. No request
        waits for that. A collector that cannot be reached, or answers 429, 502, 503 or 504, is called again up to four
        times, after a second and more, or when its Retry-After says; of the spans that wait meanwhile the 2048 oldest of
        each thread are kept. attache_spans_sent_total and attache_spans_dropped_total count them; those that it takes and
        rejects (`partialSuccess`) are dropped ones. At a stop the collector has two seconds to take what is left.
        """, ManualEntry.of(FileDirective.traces),
        ManualEntry.of(TracesDirective.collector, .serviceName, .sample, .header))
}

extension TracesDirective {
    static let manuals: [TracesDirective: DirectiveManual] = [
        .collector: DirectiveManual(
            "URL", example: "traces { collector https://otel.example.com:4318/v1/traces }",
            """
            Takes OTLP over HTTP, in JSON. Without a path, at /v1/traces. Its route and the trust in its certificate are
            those of any server; `egress` has no say.
            """),
        .serviceName: DirectiveManual(
            "NAME", default: "attache",
            example: "traces { collector http://127.0.0.1:4318; service-name egress-proxy }",
            "The name of this program at the collector (service.name)."),
        .sample: DirectiveManual(
            "NUMBER", default: "100", example: "traces { collector http://127.0.0.1:4318; sample 5 }",
            "Of a hundred traces that begin here, those that are recorded. A client's word on its own traces holds."),
        .header: DirectiveManual(
            "NAME file PATH|NAME env NAME",
            example: "traces { collector https://otel.example.com; header X-Api-Key env OTEL_KEY }",
            "A field of each request to the collector, by https or to this machine. The value is read each time."),
    ]
}
