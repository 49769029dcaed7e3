import Bytes
import HTTP
import IO
import Model
import TestSupport
import Testing

@testable import Telemetry

struct MetricsTests {
    static func exchange(_ change: (inout ExchangeRecord.Facts) -> Void) -> ExchangeRecord {
        let record = ExchangeRecord(keeping: [])
        change(&record.facts)
        return record
    }

    static func page(_ loops: [Metrics]) -> ExpositionText {
        ExpositionText(MetricsPage(loops).text(as: .prometheus), isOpenMetrics: false)
    }

    static func expect(_ loops: [Metrics], _ values: [String: Double]) {
        let page = page(loops)
        #expect(page.faults.isEmpty, "\(page.faults)")
        for (series, value) in values { #expect(page.value(of: "attache_\(series)") == value, "\(series)") }
    }

    @Test func `challenges that nobody answered are counted by scheme and reason, unknown ones together`() {
        let metrics = Metrics()
        for scheme in [AnsweredScheme.method(.basic), .method(.basic), .method(.htmlForm), nil] {
            metrics.addUnanswered(scheme, because: .noRule)
        }
        metrics.addUnanswered(.method(.basic), because: .parked)
        metrics.addUnanswered(.method(.default), because: .parked)
        Self.expect(
            [metrics],
            [
                "challenges_unanswered_total{scheme=\"basic\",reason=\"no-rule\"}": 2,
                "challenges_unanswered_total{scheme=\"basic\",reason=\"parked\"}": 1,
                "challenges_unanswered_total{scheme=\"html-form\",reason=\"no-rule\"}": 1,
                "challenges_unanswered_total{scheme=\"other\",reason=\"no-rule\"}": 1,
                "challenges_unanswered_total{scheme=\"other\",reason=\"parked\"}": 1,
                "challenges_unanswered_total{scheme=\"digest\",reason=\"no-rule\"}": 0,
            ])
    }

    @Test func `every counter, error and reason has a place of its own`() {
        let metrics = Metrics()
        for counter in Metrics.Counter.allCases { metrics.add(to: counter) }
        for error in ProxyError.allCases { metrics.add(error) }
        for method in Metrics.LoginMethod.allCases {
            metrics.add(.accepted, by: method)
            metrics.add(.refused, by: method)
        }
        let schemes = AnsweredScheme.challenged + [nil]
        for scheme in schemes {
            for cause in UnansweredCause.allCases { metrics.addUnanswered(scheme, because: cause) }
        }
        let page = Self.page([metrics])
        for family in page.families
        where family.type == "counter" && family.name != MetricFamily.challengesAnswered.rawValue {
            for (series, value) in family.samples { #expect(value == 1, "\(series)") }
        }
        #expect(page.value(of: "attache_tunnels_open") == 0)
        let counts = Dictionary(uniqueKeysWithValues: page.families.map { ($0.name, $0.samples.count) })
        #expect(counts["attache_errors_total"] == ProxyError.allCases.count)
        #expect(counts["attache_challenges_unanswered_total"] == schemes.count * UnansweredCause.allCases.count)
    }

    @Test func `answers are counted by scheme`() {
        for method in AuthenticationMethod.allCases {
            guard let scheme = AnsweredScheme(method) else { continue }
            let metrics = Metrics()
            metrics.add(Self.exchange { $0.answer = AnswerRecord(scheme: scheme) })
            let series = "challenges_answered_total{scheme=\"\(scheme.token)\"}"
            Self.expect([metrics, metrics], [series: 2])
            let answered = Self.page([metrics]).families.first { $0.name == "attache_challenges_answered_total" }
            #expect(answered?.samples.map(\.value).reduce(0, +) == 1)
        }
        let metrics = Metrics()
        metrics.addIdentityAnswer(rule: nil, credential: "")
        metrics.add(Self.exchange { $0.answer = AnswerRecord(scheme: .signature(.aws)) })
        Self.expect(
            [metrics],
            [
                "challenges_answered_total{scheme=\"client-certificate\"}": 1,
                "challenges_answered_total{scheme=\"aws\"}": 1,
            ])
    }

    @Test func `loops are summed`() {
        let loops = [Metrics(), Metrics(), Metrics()]
        loops[0].add(7, to: .bytesIn)
        loops[2].add(5, to: .bytesIn)
        loops[1].add(3, to: .tunnelsOpened)
        loops[2].add(2, to: .tunnelsClosed)
        loops[0].add(.dnsError)
        loops[1].add(.dnsError)
        loops[0].idleConnections = 3
        loops[1].idleConnections = 1
        loops[1].idleConnections = 2
        for (index, milliseconds) in [3, 5, 90_000].enumerated() {
            loops[index].note(.nameLookup, from: .zero + 1, to: .zero + 1 + Milliseconds(milliseconds))
        }
        Self.expect(
            loops,
            [
                "received_bytes_total": 12, "tunnels_total": 3, "tunnels_open": 1,
                "errors_total{type=\"dns_error\"}": 2,
                "upstream_connections_idle": 5, "phase_duration_seconds_sum{phase=\"dns\"}": 90.008,
                "phase_duration_seconds_count{phase=\"dns\"}": 3, "phase_duration_seconds_count{phase=\"tls\"}": 0,
                "phase_duration_seconds_bucket{phase=\"dns\",le=\"0.004194304\"}": 1,
                "phase_duration_seconds_bucket{phase=\"dns\",le=\"68.719476736\"}": 2,
            ])
    }

    @Test func `exceptions are counted by the rule that made them, over all loops`() {
        let loops = [Metrics(), Metrics()]
        loops[0].addTrustException(by: "lab")
        loops[1].addTrustException(by: "lab")
        loops[1].addTrustException(by: "a\"b\\c\nd")
        Self.expect(
            loops,
            [
                "trust_exceptions_total{rule=\"lab\"}": 2, "trust_exceptions_total{rule=\"a\\\"b\\\\c\\nd\"}": 1,
            ])
    }

    @Test func `an exchange is counted as what it was`() {
        let metrics = Metrics()
        for status in [0, 101, 200, 204, 302, 401, 407, 502] {
            metrics.add(Self.exchange { $0.status = status })
        }
        metrics.add(
            Self.exchange {
                ($0.status, $0.bytesIn, $0.bytesOut) = (200, 10, 20)
                $0.answer = AnswerRecord(
                    scheme: .method(.digest), credential: "builder",
                    rule: RuleReference(name: "ci", file: "proxy.conf", line: 5))
                ($0.upstream, $0.wait) = (.reused, 3_000_000)
            })
        metrics.add(
            Self.exchange {
                ($0.status, $0.error) = (504, .httpResponseTimeout)
                $0.parentAnswer = AnswerRecord(
                    scheme: .method(.basic), credential: "corp",
                    rule: RuleReference(name: "parents", file: "proxy.conf", line: 6))
                $0.upstream = .opened
            })
        metrics.addIdentityAnswer(rule: nil, credential: "device")
        Self.expect(
            [metrics],
            [
                "requests_total{code=\"none\"}": 1, "requests_total{code=\"1xx\"}": 1,
                "requests_total{code=\"2xx\"}": 3,
                "requests_total{code=\"3xx\"}": 1, "requests_total{code=\"4xx\"}": 2, "requests_total{code=\"5xx\"}": 2,
                "received_bytes_total": 10, "sent_bytes_total": 20,
                "challenges_answered_total{scheme=\"digest\"}": 1, "challenges_answered_total{scheme=\"basic\"}": 1,
                "challenges_answered_total{scheme=\"client-certificate\"}": 1,
                "answers_total{rule=\"ci\",credential=\"builder\",scheme=\"digest\"}": 1,
                "answers_total{rule=\"parents\",credential=\"corp\",scheme=\"basic\"}": 1,
                "answers_total{rule=\"\",credential=\"device\",scheme=\"client-certificate\"}": 1,
                "upstream_connections_opened_total": 1, "upstream_connections_reused_total": 1,
                "phase_duration_seconds_sum{phase=\"first-byte\"}": 0.003,
                "errors_total{type=\"http_response_timeout\"}": 1,
            ])
    }

    @Test func `names are counted up to a hundred, and all others together`() {
        let metrics = Metrics()
        for round in 0..<3 {
            for number in 0..<1000 {
                metrics.add(
                    Self.exchange {
                        $0.answer = AnswerRecord(
                            scheme: .method(.basic), credential: "user \(number)",
                            rule: RuleReference(name: "any", file: "proxy.conf", line: 7))
                    })
                metrics.add(
                    Self.exchange {
                        $0.answer = AnswerRecord(
                            scheme: .method(.basic), credential: "url:\(round) \(number)",
                            rule: RuleReference(name: "any", file: "proxy.conf", line: 7))
                    })
                metrics.addTrustException(by: "rule \(number)")
            }
        }
        let page = Self.page([metrics])
        let answers = page.families.first { $0.name == "attache_answers_total" }
        #expect(answers?.samples.count == 101)
        #expect(answers?.samples.map(\.value).reduce(0, +) == 6000)
        #expect(page.value(of: #"attache_answers_total{rule="any",credential="url",scheme="basic"}"#) == 3000)
        #expect(page.value(of: #"attache_answers_total{rule="any",credential="user 7",scheme="basic"}"#) == 3)
        #expect(page.value(of: #"attache_trust_exceptions_total{rule="other"}"#) == 2700)
    }

    @Test(arguments: [
        (0, "0.000065536"), (1, "0.000065536"), (65_535, "0.000065536"), (65_536, "0.000131072"),
        (1_000_000, "0.001048576"), (1_048_576, "0.002097152"), (68_719_476_735, "68.719476736"),
        (68_719_476_736, "+Inf"), (UInt64.max, "+Inf"),
    ])
    func `a duration counts from the smallest bound above it`(nanoseconds: UInt64, bound: String) {
        let metrics = Metrics()
        metrics.add(Self.exchange { $0.duration = nanoseconds })
        let page = Self.page([metrics])
        let buckets = page.families.first { $0.name == "attache_request_duration_seconds" }?.samples.filter {
            $0.series.contains("_bucket{")
        }
        #expect(buckets?.count == DurationHistogram.buckets)
        #expect(buckets?.first { $0.value == 1 }?.series.contains("le=\"\(bound)\"") == true)
        #expect(page.faults.isEmpty, "\(page.faults)")
    }

    @Test func `a histogram has its sum in seconds and its count`() {
        let loops = [Metrics(), Metrics()]
        loops[0].add(Self.exchange { $0.duration = 1_500_000_000 })
        loops[1].add(Self.exchange { $0.duration = 7_000_900 })
        Self.expect(loops, ["request_duration_seconds_sum": 1.5070009, "request_duration_seconds_count": 2])
    }

    @Test func `a loop that writes while others read loses nothing`() async {
        let metrics = Metrics()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for _ in 0..<20_000 { metrics.add(to: .tunnelsOpened) } }
            group.addTask {
                for _ in 0..<20 { _ = MetricsPage([metrics]).text(as: .prometheus) }
            }
        }
        Self.expect([metrics], ["tunnels_total": 20_000])
    }
}
