import Testing

/// W3C Trace Context through the proxy, and the spans that the collector gets.
struct TraceConversations {
    private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    private static let unsampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"

    @Test func `where no route says so the fields are the client's own`() async {
        await play(
            rules: "route h { trace no }",
            """
            >> GET http://h/ HTTP/1.1
               traceparent: nonsense
               tracestate: a=1
            << connect h:80
            << GET / HTTP/1.1
               traceparent: nonsense
               tracestate: a=1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://other/ HTTP/1.1
               traceparent: \(Self.parent)
            << connect other:80
            server 2 << GET / HTTP/1.1
               traceparent: \(Self.parent)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `a trace is continued with a span of our own, its state as it came, and no trace is begun`() async {
        await play(
            rules: "route * { trace continue }",
            """
            >> GET http://h/ HTTP/1.1
               TraceParent: \(Self.parent)
               tracestate: a=1
               TRACESTATE: b=2
            << connect h:80
            << GET / HTTP/1.1
               traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-{span}-01
               tracestate: a=1
               tracestate: b=2
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://h/ HTTP/1.1
               traceparent: \(Self.unsampled)
            << GET / HTTP/1.1
               traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-{other}-00
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://h/ HTTP/1.1
            << GET / HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `an invalid context counts as none, and its state does not go on`() async {
        await play(
            rules: "route * { trace continue }",
            """
            >> GET http://h/ HTTP/1.1
               traceparent: 00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01
               tracestate: a=1
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://h/ HTTP/1.1
               traceparent: \(Self.parent)
               traceparent: \(Self.parent)
               tracestate: a=1
            << GET / HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://h/ HTTP/1.1
               tracestate: a=1
            << GET / HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    @Test func `start begins a trace for a request without one, and continues the others`() async {
        await play(
            rules: "route * { trace start }",
            """
            >> GET http://h/ HTTP/1.1
               tracestate: a=1
            << connect h:80
            << GET / HTTP/1.1
               traceparent: 00-{trace}-{span}-00
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://h/ HTTP/1.1
               traceparent: \(Self.parent)
            << GET / HTTP/1.1
               traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-{other}-01
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            """)
    }

    private static let rules = """
        traces { collector http://c:4318; service-name proxy }
        credential a { user u; password p }
        challenge "lab" { host h; use a }
        route h { trace start }
        """

    @Test func `each leg has a span of its own, and the collector gets them together with the request's`() async {
        await play(
            rules: Self.rules,
            """
            >> GET http://h/x?key=secret HTTP/1.1
               traceparent: \(Self.parent)
            << connect h:80
            << GET /x?key=secret HTTP/1.1
               traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-{first}-01
            after 1s
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << GET /x?key=secret HTTP/1.1
               traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-{second}-01
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            after 2s
            << connect c:4318
            server 2 << POST /v1/traces HTTP/1.1
               Content-Type: application/json
               User-Agent: attache/1.2.3

               *"proxy"*"parentSpanId":"00f067aa0ba902b7"*"name":"dns"*"name":"connect"*"spanId":"{first}"*.disposition"*"use"*"intValue":"401"*"spanId":"{second}"*"accepted"*
            server 2 >> HTTP/1.1 200 OK

                        {}
            server 2 << close
            metric attache_spans_sent_total 5
            metric attache_spans_dropped_total 0
            """)
    }

    @Test func `a request that is not sampled is told on, and not to the collector`() async {
        await play(
            rules: Self.rules + "\nroute * { trace continue }",
            """
            >> GET http://other/ HTTP/1.1
               traceparent: \(Self.unsampled)
            << connect other:80
            << GET / HTTP/1.1
               traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-{span}-00
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            after 10s
            metric attache_spans_sent_total 0
            """)
    }

    private static let request = """
        >> GET http://h/ HTTP/1.1
        << connect h:80
        << GET / HTTP/1.1
           traceparent: *
        >> HTTP/1.1 200 OK
        << HTTP/1.1 200 OK
        after 2s
        """

    @Test func `a collector that is busy is called again when it says`() async {
        await play(
            rules: Self.rules,
            """
            \(Self.request)
            << connect c:4318
            server 2 << POST /v1/traces HTTP/1.1

               *
            server 2 >> HTTP/1.1 503 Service Unavailable
                        Retry-After: 7
            server 2 << close
            report the collector c:4318 of 'traces' did not accept spans: it answers 503
            after 6s
            after 1s
            << connect c:4318
            server 3 << POST /v1/traces HTTP/1.1

               *
            server 3 >> HTTP/1.1 200 OK
            server 3 << close
            metric attache_spans_sent_total 4
            metric attache_spans_dropped_total 0
            """)
    }

    @Test func `a collector may name a date for the next call`() async {
        await play(
            rules: Self.rules,
            """
            \(Self.request)
            << connect c:4318
            server 2 << POST /v1/traces HTTP/1.1

               *
            server 2 >> HTTP/1.1 429 Too Many Requests
                        Retry-After: Thu, 01 Jan 2026 00:00:09 GMT
            server 2 << close
            report the collector c:4318 of 'traces' did not accept spans: it answers 429
            after 6s
            after 1s
            << connect c:4318
            server 3 << POST /v1/traces HTTP/1.1

               *
            server 3 >> HTTP/1.1 200 OK
            server 3 << close
            metric attache_spans_sent_total 4
            """)
    }

    @Test(arguments: [
        (
            #"{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}"#,
            "rejects spans: 3, and says: too old", 1
        ),
        (#"{"partialSuccess":{"rejectedSpans":99,"errorMessage":""}}"#, "rejects spans: 99", 0),
        (
            #"{"partialSuccess":{"errorMessage":"an old \"version\""}}"#,
            #"has taken spans, and says: an old "version""#, 4
        ),
    ])
    func `a collector may reject some, and say why`(answer: String, report: String, kept: Int) async {
        await play(
            rules: Self.rules,
            """
            \(Self.request)
            << connect c:4318
            server 2 << POST /v1/traces HTTP/1.1

               *
            server 2 >> HTTP/1.1 200 OK

                        \(answer)
            server 2 << close
            report the collector c:4318 of 'traces' \(report)
            metric attache_spans_sent_total \(kept)
            metric attache_spans_dropped_total \(4 - kept)
            """)
    }

    @Test(arguments: ["{}", #"{"partialSuccess":{}}"#, #"{"partialSuccess":{"rejectedSpans":"-1"}}"#, "<html>", "{\"a"])
    func `an answer that rejects nothing is taken for that`(answer: String) async {
        await play(
            rules: Self.rules,
            """
            \(Self.request)
            << connect c:4318
            server 2 << POST /v1/traces HTTP/1.1

               *
            server 2 >> HTTP/1.1 200 OK

                        \(answer)
            server 2 << close
            metric attache_spans_sent_total 4
            metric attache_spans_dropped_total 0
            """)
    }

    @Test func `a collector that cannot be reached is called five times, and the spans are dropped`() async {
        await play(
            rules: Self.rules,
            """
            \(Self.request)
            << connect c:4318 refused
            report the collector c:4318 of 'traces' did not accept spans: *
            after 1s
            << connect c:4318 refused
            after 2s
            << connect c:4318 refused
            after 4s
            << connect c:4318 refused
            after 8s
            << connect c:4318 refused
            metric attache_spans_dropped_total 4
            metric attache_spans_sent_total 0
            """)
    }

    @Test func `a collector that refuses what it gets is not asked again`() async {
        await play(
            rules: Self.rules,
            """
            \(Self.request)
            << connect c:4318
            server 2 << POST /v1/traces HTTP/1.1

               *
            server 2 >> HTTP/1.1 400 Bad Request
            server 2 << close
            report the collector c:4318 of 'traces' did not accept spans: it answers 400
            metric attache_spans_dropped_total 4
            after 20s
            """)
    }

    @Test func `a parent gets the context of each message to it`() async {
        await play(
            rules: """
                parent p { http p:3128 }
                route * { trace continue; via p }
                """,
            """
            >> GET http://h/ HTTP/1.1
               traceparent: \(Self.parent)
            << connect p:3128
            << GET http://h/ HTTP/1.1
               traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-{span}-01
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            client 2 >> CONNECT h:443 HTTP/1.1
               traceparent: \(Self.parent)
            << connect p:3128
            server 2 << CONNECT h:443 HTTP/1.1
               traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-{other}-01
            server 2 >> HTTP/1.1 200 OK
                        Content-Length: -
            client 2 << HTTP/1.1 200 Connection established
            """)
    }
}
