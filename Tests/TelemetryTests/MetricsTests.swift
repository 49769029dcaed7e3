import Bytes
import HTTP
import Telemetry
import Testing

struct MetricsTests {
    static func exchange(_ change: (ExchangeRecord) -> Void) -> ExchangeRecord {
        let record = ExchangeRecord(keeping: [])
        change(record)
        return record
    }

    private static let replayDisk = ReplayDiskUse(bytes: 1, refused: 1)

    static func values(_ loops: [Metrics]) -> [Substring: Substring] {
        var values: [Substring: Substring] = [:]
        for line in PrometheusText.render(loops, replayDisk: replayDisk, reportLinesDropped: 1).split(separator: "\n")
        where !line.hasPrefix("#") {
            let parts = line.split(separator: " ")
            values[parts[0]] = parts[1]
        }
        return values
    }

    @Test func `challenges that nobody answered are counted by scheme, unknown ones together`() {
        let metrics = Metrics()
        for scheme in [AnsweredScheme.basic, .basic, .form, nil] { metrics.addUnanswered(scheme) }
        let values = Self.values([metrics])
        for (scheme, count) in ["basic": "2", "html-form": "1", "other": "1", "digest": "0"] {
            #expect(values["attache_challenges_unanswered_total{scheme=\"\(scheme)\"}"] ?? "" == count)
        }
    }

    @Test func `every counter and every error has a place of its own`() {
        let metrics = Metrics()
        for counter in Counter.allCases { metrics.add(to: counter) }
        for error in ProxyError.allCases { metrics.add(error) }
        let values = Self.values([metrics])
        for (name, value) in values where !name.contains("duration") && !name.hasSuffix("_open") {
            #expect(value == "1", "\(name)")
        }
        #expect(values["attache_tunnels_open"] == "0")
        #expect(values.keys.filter { $0.hasPrefix("attache_errors_total") }.count == ProxyError.allCases.count)
    }

    @Test func `loops are summed`() {
        let loops = [Metrics(), Metrics(), Metrics()]
        loops[0].add(7, to: .bytesIn)
        loops[2].add(5, to: .bytesIn)
        loops[1].add(3, to: .tunnelsOpened)
        loops[2].add(2, to: .tunnelsClosed)
        loops[0].add(.dnsError)
        loops[1].add(.dnsError)
        let values = Self.values(loops)
        #expect(values["attache_received_bytes_total"] == "12")
        #expect(values["attache_tunnels_total"] == "3")
        #expect(values["attache_tunnels_open"] == "1")
        #expect(values["attache_errors_total{type=\"dns_error\"}"] == "2")
    }

    @Test func `exceptions are counted by the rule that made them, over all loops`() {
        let loops = [Metrics(), Metrics()]
        loops[0].addTrustException(by: "lab")
        loops[1].addTrustException(by: "lab")
        loops[1].addTrustException(by: "a\"b\\c\nd")
        let text = PrometheusText.render(loops, replayDisk: Self.replayDisk)
        #expect(text.contains("\nattache_trust_exceptions_total{rule=\"lab\"} 2\n"))
        #expect(text.contains("\nattache_trust_exceptions_total{rule=\"a\\\"b\\\\c\\nd\"} 1\n"))
    }

    @Test func `an exchange is counted as what it was`() {
        let metrics = Metrics()
        for status in [0, 101, 200, 204, 302, 401, 407, 502] {
            metrics.add(Self.exchange { $0.status = status })
        }
        metrics.add(
            Self.exchange {
                $0.status = 200
                $0.bytesIn = 10
                $0.bytesOut = 20
                $0.scheme = .digest
                $0.upstream = .reused
            })
        metrics.add(
            Self.exchange {
                $0.status = 504
                $0.scheme = .basic
                $0.upstream = .opened
                $0.error = .httpResponseTimeout
            })
        let values = Self.values([metrics])
        let codes = ["none": "1", "1xx": "1", "2xx": "3", "3xx": "1", "4xx": "2", "5xx": "2"]
        for (code, count) in codes { #expect(values["attache_requests_total{code=\"\(code)\"}"] ?? "" == count) }
        #expect(values["attache_received_bytes_total"] == "10")
        #expect(values["attache_sent_bytes_total"] == "20")
        #expect(values["attache_challenges_answered_total{scheme=\"digest\"}"] == "1")
        #expect(values["attache_challenges_answered_total{scheme=\"basic\"}"] == "1")
        #expect(values["attache_upstream_connections_opened_total"] == "1")
        #expect(values["attache_upstream_connections_reused_total"] == "1")
        #expect(values["attache_errors_total{type=\"http_response_timeout\"}"] == "1")
    }

    @Test(arguments: [
        (-1, "0.001"), (0, "0.001"), (1, "0.001"), (2, "0.002"), (3, "0.004"), (4, "0.004"), (5, "0.008"),
        (1024, "1.024"), (1025, "2.048"), (65_536, "65.536"), (65_537, "+Inf"), (Int.max, "+Inf"),
    ])
    func `a duration counts from the smallest bound that holds it`(milliseconds: Int, bound: String) {
        let metrics = Metrics()
        metrics.add(Self.exchange { $0.milliseconds = milliseconds })
        let buckets = PrometheusText.render([metrics], replayDisk: Self.replayDisk).split(separator: "\n").filter {
            $0.contains("_bucket{")
        }
        #expect(buckets.count == 18)
        #expect(buckets.first { $0.hasSuffix(" 1") }?.contains("le=\"\(bound)\"") == true)
        #expect(buckets.last?.hasSuffix("le=\"+Inf\"} 1") == true)
    }

    @Test func `a histogram has its sum in seconds and its count`() {
        let loops = [Metrics(), Metrics()]
        loops[0].add(Self.exchange { $0.milliseconds = 1500 })
        loops[1].add(Self.exchange { $0.milliseconds = 7 })
        let values = Self.values(loops)
        #expect(values["attache_request_duration_seconds_sum"] == "1.507")
        #expect(values["attache_request_duration_seconds_count"] == "2")
    }

    @Test func `the text is what Prometheus parses`() {
        let text = PrometheusText.render([Metrics()], replayDisk: Self.replayDisk)
        #expect(text.hasSuffix("\n"))
        var family = ""
        for line in text.split(separator: "\n") {
            if line.hasPrefix("# HELP ") { continue }
            if line.hasPrefix("# TYPE ") {
                let words = line.split(separator: " ")
                #expect(text.contains("# HELP \(words[2]) "))
                #expect(["counter", "gauge", "histogram"].contains(words[3]))
                family = String(words[2])
                continue
            }
            #expect(line.hasPrefix(family))
            #expect(line.wholeMatch(of: #/attache_[a-z_]+(\{[a-z]+="[^"\\]+"\})? [0-9.]+/#) != nil, "\(line)")
        }
    }

    @Test func `a loop that writes while others read loses nothing`() async {
        let metrics = Metrics()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for _ in 0..<20_000 { metrics.add(to: .tunnelsOpened) } }
            group.addTask { for _ in 0..<20 { _ = PrometheusText.render([metrics], replayDisk: Self.replayDisk) } }
        }
        #expect(Self.values([metrics])["attache_tunnels_total"] == "20000")
    }
}
