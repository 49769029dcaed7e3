import Bytes
import Foundation
import HTTP
import IO
import Model
import Telemetry
import TestSupport
import Testing

struct MetricsPageTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden")

    /// A bit of everything.
    private static func page(_ format: MetricsPage.Format) -> String {
        let loops = [Metrics(), Metrics()]
        for (number, loop) in loops.enumerated() {
            loop.add(
                MetricsTests.exchange {
                    ($0.status, $0.duration, $0.wait) = (200, 12_345_678, 90_000)
                    $0.answer = AnswerRecord(
                        scheme: .method(.basic), credential: "builder \(number)",
                        rule: RuleReference(name: "ci", file: "proxy.conf", line: 5))
                })
            loop.note(.queue, from: .zero, to: .zero)
            loop.note(.challenge, from: .zero, to: .zero + 100)
            loop.addTrustException(by: "lab")
            loop.idleConnections = 2
        }
        loops[0].addUnanswered(.method(.ntlm), because: .mismatch)
        var page = MetricsPage(loops)
        page.set(version: "1.2.3")
        var process = ProcessFigures()
        process.processorSeconds = 1.25
        process.openDescriptors = 21
        process.descriptorLimit = 1024
        process.virtualBytes = 1 << 30
        process.virtualLimit = 1 << 40
        process.residentBytes = 20 << 20
        process.startSeconds = 1_795_000_000.5
        page.set(process)
        let lag = DurationHistogram()
        lag.add(0)
        lag.add(40_000_000)
        page.set(loopLag: [lag.durations, lag.durations])
        page.set((bytes: 4096, refused: 1))
        page.set(.parkedCredentials, 3)
        page.set(.credentials, [("good", 4), ("paused", 3)])
        var questions = MetricsPage.Questions()
        (questions.open, questions.asked) = (2, 9)
        (questions.answered, questions.unanswered) = ([.use: 3, .user: 1], [.timeout: 1, .displaced: 2])
        questions.requestsRefused = 5
        page.set(questions)
        page.set(.storeUp, 1)
        page.set(.storeFollowedTimestampSeconds, 1_795_000_100.25)
        page.set(.rulesLoadedTimestampSeconds, 1_795_000_050)
        page.set(.rulesReloadFailed, 1)
        page.set(.rulesReloads, [("loaded", 2), ("rejected", 1)])
        page.set(.reportLinesDropped, 4)
        page.set(.helperRuns, [("success", 3), ("failure", 2), ("timeout", 1)])
        page.set([
            Expiry(kind: "client certificate", name: "device", end: WallTime(seconds: 1_796_000_000)),
            Expiry(
                kind: "stored exception", name: "lab", place: "https://lab:443", end: WallTime(seconds: 1_795_500_000)),
            Expiry(
                kind: "stored exception", name: "lab", place: "https://lab:443", end: WallTime(seconds: 1_795_400_000)),
        ])
        var parent = ParentState(ParentName("corp", kind: "http", at: "proxy.example:3128"))
        (parent.connections, parent.idle, parent.requests, parent.refusals, parent.failures) = (3, 1, 7, 2, 4)
        var other = ParentState(ParentName("corp", kind: "socks5", at: "other:1080"))
        (parent.isUsed, other.isUsed, other.failingSince) = (true, true, 1)
        page.set([parent, other])
        return page.text(as: format)
    }

    /// `ATTACHE_GOLDEN=write` rewrites the expectations. Removing a name or changing its meaning breaks users'
    /// dashboards: mention it in the changelog.
    @Test(arguments: [(MetricsPage.Format.prometheus, "prometheus.txt"), (.openMetrics, "openmetrics.txt")])
    func `the page is what its golden file says, and what its format allows`(format: MetricsPage.Format, name: String)
        throws
    {
        let (url, page) = (Self.folder.appending(path: name), Self.page(format))
        if ProcessInfo.processInfo.environment["ATTACHE_GOLDEN"] == "write" {
            try page.write(to: url, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: url, encoding: .utf8) == page)
        let text = ExpositionText(page, isOpenMetrics: format == .openMetrics)
        #expect(text.faults.isEmpty, "\(text.faults)")
    }

    /// The families that `attache help json` lists are written, with their labels, and no others.
    @Test func `the page has the families of the manual`() {
        let text = ExpositionText(Self.page(.prometheus), isOpenMetrics: false)
        #expect(Set(text.families.map(\.name)) == Set(MetricFamily.allCases.map(\.rawValue)))
    }

    @Test func `of many ends the first hundred are told`() {
        var page = MetricsPage([])
        page.set(
            (0..<1000).map { Expiry(kind: "token", name: "token \($0)", end: WallTime(seconds: 2000 - $0)) })
        let text = ExpositionText(page.text(as: .prometheus), isOpenMetrics: false)
        let ends = text.families.first { $0.name == "attache_expiry_timestamp_seconds" }?.samples.map(\.value)
        #expect(ends == (1001...1100).map(Double.init))
    }

    @Test func `both formats have the same samples`() {
        let pages = [MetricsPage.Format.prometheus, .openMetrics].map { format in
            Self.page(format).split(separator: "\n").filter { !$0.hasPrefix("#") }
        }
        #expect(pages[0] == pages[1])
    }

    @Test(
        arguments: [
            ("a\"b", #"a\"b"#), (#"a\b"#, #"a\\b"#), ("a\nb", #"a\nb"#),
            ("a\r\u{1B}[2J\u{0}b", "a\u{FFFD}\u{FFFD}[2J\u{FFFD}b"),
            ("a\u{202E}b\u{2028}", "a\u{FFFD}b\u{FFFD}"), ("} 1\n# EOF", #"} 1\n# EOF"#), ("<script>", "<script>"),
            ("ä 😀", "ä 😀"), (String(decoding: [0x61, 0xFF, 0xC3, 0x28], as: UTF8.self), "a\u{FFFD}\u{FFFD}("),
            ("", ""), (String(repeating: "r", count: 1 << 20), String(repeating: "r", count: 128) + "…"),
        ] as [(String, String)])
    func `a label's value is a string of the format, whatever it says`(value: String, escaped: String) {
        let metrics = Metrics()
        metrics.addTrustException(by: value)
        metrics.add(
            MetricsTests.exchange {
                $0.answer = AnswerRecord(
                    scheme: .method(.basic), credential: value, rule: RuleReference(name: value, file: "", line: 1))
            })
        for format in [MetricsPage.Format.prometheus, .openMetrics] {
            let page = MetricsPage([metrics]).text(as: format)
            let text = ExpositionText(page, isOpenMetrics: format == .openMetrics)
            #expect(text.faults.isEmpty, "\(text.faults)")
            #expect(text.value(of: "attache_trust_exceptions_total{rule=\"\(escaped)\"}") == 1)
            #expect(
                text.value(of: "attache_answers_total{rule=\"\(escaped)\",credential=\"\(escaped)\",scheme=\"basic\"}")
                    == 1)
        }
    }

    @Test(
        arguments: [
            ([], .prometheus), (["*/*"], .prometheus), (["text/plain"], .prometheus),
            (["application/openmetrics-text"], .openMetrics),
            (["application/openmetrics-text; version=1.0.0; charset=utf-8"], .openMetrics),
            (["Application/OpenMetrics-Text;Version=1.0.0"], .openMetrics),
            (["application/openmetrics-text;version=0.0.1"], .prometheus),
            (["application/openmetrics-text;q=0"], .prometheus), (["application/openmetrics-text;q=x"], .prometheus),
            (["text/plain;q=0.9", "application/openmetrics-text;q=0.8"], .prometheus),
            (["text/plain;q=0.8, application/openmetrics-text;q=0.8"], .openMetrics),
            // Prometheus 2.42 and 3.0.
            (
                [
                    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
                        + "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
                ], .openMetrics
            ),
            (
                [
                    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
                        + "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
                        + "text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
                ], .openMetrics
            ),
            // A browser.
            (["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"], .prometheus),
            ([",;, ;q=;=,\"", "application/openmetrics-text;;;"], .openMetrics),
        ] as [([String], MetricsPage.Format)])
    func `a reader has the format that it asks for`(accept: [String], format: MetricsPage.Format) {
        #expect(MetricsPage.Format(accepting: accept) == format)
    }
}
