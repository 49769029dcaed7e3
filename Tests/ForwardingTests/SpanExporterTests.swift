import Authentication
import Credentials
import IO
import Model
import Telemetry
import Testing

@testable import Forwarding
@testable import Upstream

/// The queue of spans that wait for their collector.
struct SpanExporterTests {
    @Test func `2048 spans wait at most, and those that are not delivered are counted`() async throws {
        let endpoint = try #require(HTTPEndpoint("http://h.known:4318/v1/traces"))
        let (full, over, end, isIdle) = try await PlayedExchange.play { played in
            let upstreams = played.downstream.upstreams
            let collector = SpanCollector(endpoint, sample: 100, fields: [], service: "attache", version: "1")
            let exporter = SpanExporter(to: collector, over: upstreams)
            let record = ExchangeRecord(keeping: [])
            // The loop calls the collector later.
            func add() -> Int {
                exporter.add(
                    RequestTrace(continuing: nil, samples: true, isCollected: true, on: upstreams.loop), of: record)
                return upstreams.metrics.value(of: .spansDropped)
            }
            let full = (0..<2048).map { _ in add() }.max()
            let over = add()
            exporter.end()
            played.settle()
            played.refuseConnection()
            return (full, over, upstreams.metrics.value(of: .spansDropped), exporter.isIdle)
        }
        #expect(full == 0)
        #expect(over == 1)
        #expect(end == 2049)
        #expect(isIdle)
    }
}
