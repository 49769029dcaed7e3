extension ManualTopic {
    static let traces = ManualTopic(
        "traces", "OpenTelemetry traces of requests",
        """
        Traces show which part of a request took how long, across programs. The proxy reads and writes `traceparent` (W3C
        Trace Context), and sends its spans to a collector by OTLP.

            traces { collector https://otel.example.com:4318; header Authorization file /run/secrets/otel }
            route *.corp.example.com { intercept; trace start }
            route * { trace continue }

        The route says which requests belong to a trace. `continue` means those with a valid `traceparent`. `start` means
        all of them. Each message to a server gets a `traceparent` with a span of its own. A request that meets a challenge
        has two or more. `tracestate` is forwarded unchanged. An invalid `traceparent` is dropped. On other routes the proxy
        does not look at these fields.

        If `traceparent` says that the request is recorded, the proxy sends these spans: the request, each DNS lookup, each
        connection and handshake, and each message to a server. A message's span has the challenge (method, realm, rule,
        disposition) and the result of the answer. There is also a span for each thing that an answer waited for: another
        request (`wait`), a Kerberos ticket, a token, a login (`session`), an operator (`question`). A tunnel that is not
        intercepted is one span.

        Spans contain URLs without user information and without the values of the query, addresses, and the names of rules.
        They contain no credential, no body and no field.

        Spans are sent every two seconds, or when there are 512, as JSON over HTTP. No request waits for that. If the
        collector cannot be reached, or answers 429, 502, 503 or 504, the proxy tries up to four times more. It waits a
        second or longer, or as Retry-After says. Meanwhile each thread keeps the 2048 oldest spans. The metrics are
        attache_spans_sent_total and attache_spans_dropped_total. Spans that the collector rejects (`partialSuccess`) count
        as dropped. When the proxy stops, it waits at most two seconds for the collector.
        """, ManualTopic.Entry.of(FileDirective.traces),
        ManualTopic.Entry.of(TracesReader.Word.collector, .serviceName, .sample, .header))
}

extension TracesReader.Word {
    static let manuals: [TracesReader.Word: DirectiveManual] = [
        .collector: DirectiveManual(
            "URL", example: "traces { collector https://otel.example.com:4318/v1/traces }",
            """
            The collector's URL. It takes OTLP over HTTP, in JSON. Without a path, the path is /v1/traces. `route` and
            `challenge` rules apply to it as to any server. `egress` does not.
            """),
        .serviceName: DirectiveManual(
            "NAME", default: "attache",
            example: "traces { collector http://127.0.0.1:4318; service-name egress-proxy }",
            "The name of this program at the collector (service.name)."),
        .sample: DirectiveManual(
            "NUMBER", default: "100", example: "traces { collector http://127.0.0.1:4318; sample 5 }",
            "The percentage of traces to record, of those that begin here. A client decides for its own traces."),
        .header: DirectiveManual(
            "NAME file PATH|NAME env NAME",
            example: "traces { collector https://otel.example.com; header X-Api-Key env OTEL_KEY }",
            "A field to add to each request to the collector. The collector must use https or be on this machine. The value is read each time."
        ),
    ]
}
