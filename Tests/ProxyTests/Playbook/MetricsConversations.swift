import Testing

/// The metrics of exchanges.
struct MetricsConversations {
    @Test func `a connection and a first byte are timed apart, and a kept connection waits in the pool`() async {
        await play(
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80 pending
            metric attache_upstream_connections_idle 0
            after 2s
            server >> accept
            << GET / HTTP/1.1
            after 3s
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            metric attache_phase_duration_seconds_sum{phase="dns"} 0.000
            metric attache_phase_duration_seconds_count{phase="dns"} 1
            metric attache_phase_duration_seconds_sum{phase="connect"} 2.000
            metric attache_phase_duration_seconds_count{phase="connect"} 1
            metric attache_phase_duration_seconds_sum{phase="first-byte"} 3.000
            metric attache_phase_duration_seconds_count{phase="challenge"} 0
            metric attache_request_duration_seconds_sum 5.000
            metric attache_upstream_connections_idle 1
            >> GET http://h/ HTTP/1.1
            << GET / HTTP/1.1
            metric attache_upstream_connections_idle 0
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            metric attache_phase_duration_seconds_count{phase="connect"} 1
            metric attache_phase_duration_seconds_count{phase="first-byte"} 2
            server >> close
            metric attache_upstream_connections_idle 0
            """)
    }

    @Test func `a connection that is not made is none that was timed`() async {
        await play(
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80 refused
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *
            metric attache_phase_duration_seconds_count{phase="dns"} 1
            metric attache_phase_duration_seconds_count{phase="connect"} 0
            """)
    }

    @Test func `a connection to a known address is timed, and so is the look at the address`() async {
        await play(
            """
            >> GET http://h.known/ HTTP/1.1
            << connect h.known:80
            << GET / HTTP/1.1
            metric attache_phase_duration_seconds_count{phase="dns"} 1
            metric attache_phase_duration_seconds_count{phase="connect"} 1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            >> GET http://other.known/ HTTP/1.1
            << connect other.known:80 refused
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *
            metric attache_phase_duration_seconds_count{phase="dns"} 2
            metric attache_phase_duration_seconds_count{phase="connect"} 1
            """)
    }

    @Test func `a parent has its connections, its requests and its refusals`() async {
        await play(
            rules: """
                parent corp { http proxy:8080 }
                route * { via corp }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect proxy:8080
            << GET http://h/ HTTP/1.1
            metric attache_parent_up{parent="corp",address="proxy:8080"} 1
            metric attache_parent_connections{parent="corp",address="proxy:8080",state="active"} 1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            metric attache_parent_connections{parent="corp",address="proxy:8080",state="active"} 0
            metric attache_parent_connections{parent="corp",address="proxy:8080",state="idle"} 1
            metric attache_parent_requests_total{parent="corp",address="proxy:8080"} 1
            >> GET http://h/ HTTP/1.1
            << GET http://h/ HTTP/1.1
            metric attache_parent_connections{parent="corp",address="proxy:8080",state="idle"} 0
            >> HTTP/1.1 407 Proxy Authentication Required
               Proxy-Authenticate: Basic realm="corp"
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *
            server << close
            metric attache_parent_requests_total{parent="corp",address="proxy:8080"} 2
            metric attache_parent_refusals_total{parent="corp",address="proxy:8080"} 1
            metric attache_parent_connections{parent="corp",address="proxy:8080",state="active"} 0
            >> CONNECT h:443 HTTP/1.1
            << connect proxy:8080
            << CONNECT h:443 HTTP/1.1
            server 2 >> "HTTP/1.1 200 OK\\r\\n\\r\\n"
            << HTTP/1.1 200 Connection established
            metric attache_parent_connections{parent="corp",address="proxy:8080",state="active"} 1
            client >> end
            server 2 << end
            server 2 >> close
            client << close
            metric attache_parent_connections{parent="corp",address="proxy:8080",state="active"} 0
            metric attache_parent_requests_total{parent="corp",address="proxy:8080"} 3
            """)
    }

    @Test func `a parent that takes no connection is down until one is made`() async {
        await play(
            rules: """
                parent corp { http proxy:8080 }
                route * { via corp direct }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect proxy:8080 refused
            << connect h:80
            << GET / HTTP/1.1
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            metric attache_parent_up{parent="corp",address="proxy:8080"} 0
            metric attache_parent_failures_total{parent="corp",address="proxy:8080"} 1
            metric attache_parent_requests_total{parent="corp",address="proxy:8080"} 0
            after 1s
            << connect proxy:8080
            server 3 << close
            metric attache_parent_up{parent="corp",address="proxy:8080"} 1
            metric attache_parent_failures_total{parent="corp",address="proxy:8080"} 1
            """)
    }

    @Test func `an answer is counted by its rule and credential, and its challenge is timed to the last response`()
        async
    {
        await play(
            rules: """
                credential a { user u; password p }
                challenge "lab" { host h; use a }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect h:80
            << GET / HTTP/1.1
            after 1s
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            after 4s
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            metric attache_phase_duration_seconds_sum{phase="challenge"} 4.000
            metric attache_phase_duration_seconds_count{phase="challenge"} 1
            metric attache_answers_total{rule="lab",credential="a",scheme="basic"} 1
            >> GET http://h/ HTTP/1.1
            << GET / HTTP/1.1
               Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            metric attache_phase_duration_seconds_count{phase="challenge"} 1
            metric attache_answers_total{rule="lab",credential="a",scheme="basic"} 2
            """)
    }

    @Test func `an answer to a parent is counted by its rule`() async {
        await play(
            rules: """
                parent corp { http proxy:8080 }
                route * { via corp }
                credential a { user u; password p }
                challenge "corp" { proxy yes; host proxy; use a }
                """,
            """
            >> GET http://h/ HTTP/1.1
            << connect proxy:8080
            << GET http://h/ HTTP/1.1
            >> HTTP/1.1 407 Proxy Authentication Required
               Proxy-Authenticate: Basic realm="x"
            << GET http://h/ HTTP/1.1
               Proxy-Authorization: Basic base64(u:p)
            >> HTTP/1.1 200 OK
            << HTTP/1.1 200 OK
            metric attache_answers_total{rule="corp",credential="a",scheme="basic"} 1
            """)
    }

    @Test(
        arguments: [
            ("", "no-rule"), ("challenge { host h; realm y; use a }", "mismatch"),
            ("challenge { host h; reject }", "rejected"), ("challenge { host h; default }", "no-credential"),
        ])
    func `a challenge that nobody answers is counted by its reason`(rule: String, reason: String) async {
        await play(
            rules: "credential a { user u; password p }\n\(rule)",
            """
            challenged GET http://h/
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
               Proxy-Status: *
            metric attache_challenges_unanswered_total{scheme="basic",reason="\(reason)"} 1
            report *
            """)
    }

    @Test func `a refusal and a parked credential are reasons of their own`() async {
        await play(
            rules: """
                credential a { user u; password p }
                challenge { host h; use a }
                """,
            """
            answered GET http://h/
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: *
               Proxy-Status: *
            report *
            metric attache_challenges_unanswered_total{scheme="basic",reason="refused"} 1
            >> GET http://h/ HTTP/1.1
            << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Basic realm="x"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: *
               Proxy-Status: *
            metric attache_challenges_unanswered_total{scheme="basic",reason="parked"} 1
            metric attache_credentials_refused_total 1
            """)
    }

    @Test func `a request that the rules cancel, and one that asks for a scheme nobody knows`() async {
        await play(
            rules: "challenge { host h; cancel }",
            """
            challenged GET http://h/
            << HTTP/1.1 502 Bad Gateway
               Proxy-Status: *

               *
            metric attache_challenges_unanswered_total{scheme="basic",reason="cancelled"} 1
            report *
            server << close
            >> GET http://other/ HTTP/1.1
            << connect other:80
            server 2 << GET / HTTP/1.1
            >> HTTP/1.1 401 Unauthorized
               WWW-Authenticate: Hawk ts="1"
            << HTTP/1.1 401 Unauthorized
               WWW-Authenticate: *
               Proxy-Status: *
            report *
            metric attache_challenges_unanswered_total{scheme="other",reason="unsupported"} 1
            """)
    }
}
