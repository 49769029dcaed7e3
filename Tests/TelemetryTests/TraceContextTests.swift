import Bytes
import TestSupport
import Testing

@testable import Telemetry

/// `traceparent`, with the cases of W3C Trace Context, level 1, sections 3.2 and 4.3.
struct TraceContextTests {
    private static let valid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    private static func read(_ text: String) -> TraceContext? { TraceContext(text.utf8Span.span) }

    private static func written(_ context: TraceContext) -> String {
        let buffer = ByteBuffer(capacity: 64)
        context.append(to: buffer)
        return buffer.readable.text
    }

    @Test func `the specification's own example is read, and written as it was`() throws {
        let context = try #require(Self.read(Self.valid))
        #expect(context.isSampled)
        #expect(Self.written(context) == Self.valid)
    }

    @Test(arguments: [
        ("00", false), ("01", true), ("02", false), ("03", true), ("fe", false), ("ff", true),
    ])
    func `of the flags the first is known, and the others do not go on`(flags: String, isSampled: Bool) throws {
        let context = try #require(Self.read(Self.valid.dropLast(2) + flags))
        #expect(context.isSampled == isSampled)
        #expect(Self.written(context).hasSuffix(isSampled ? "-01" : "-00"))
    }

    @Test(arguments: ["cc\(rest)", "cc\(rest)-", "01\(rest)-and-more"])
    func `of a higher version the known parts count, and version 00 goes on`(text: String) throws {
        #expect(Self.written(try #require(Self.read(text))) == Self.valid)
    }

    private static let rest = String(valid.dropFirst(2))
    private static let invalid: [String] = [
        "", "00", "00-", String(valid.dropLast()), "\(valid)-", "\(valid)-00", "\(valid)0", "\(valid) ", " \(valid)",
        "ff\(rest)", "cc\(rest).", "cc\(rest)0",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00F067AA0BA902B7-01",
        "0-04bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473-600f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b-701",
        "00-4bf92f3577b34da6a3ce929d0e0e473.-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b.-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0x",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
        ".0-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00_4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7_01",
        "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", String(repeating: "-", count: 55),
        String(repeating: "0", count: 100_000), "00-é\(valid.dropFirst(5))",
    ]

    @Test(arguments: invalid)
    func `anything else is none`(text: String) { #expect(Self.read(text) == nil, "\(text)") }

    @Test func `whatever one byte of it becomes, it is read whole or not at all`() {
        for place in Self.valid.utf8.indices {
            for byte in UInt8.min ... .max {
                var bytes = Array(Self.valid.utf8)
                bytes[Self.valid.utf8.distance(from: Self.valid.utf8.startIndex, to: place)] = byte
                guard let context = TraceContext(bytes.span) else { continue }
                #expect(Self.read(Self.written(context)) == context)
            }
        }
    }

    @Test func `new ids differ`() {
        let ids = (0..<1000).map { _ in TraceContext.TraceID.random() }
        #expect(Set(ids).count == 1000)
        #expect(Set((0..<1000).map { _ in TraceContext.SpanID.random() }).count == 1000)
    }
}
