import Foundation
import Testing

/// `route … { decode }`: compressed content for clients that did not ask for it.
struct DecodingTests {
    private static let text = (0..<20_000).map { "line \($0 &* 7919 % 10_007) of the content\n" }.joined()

    private func compressed(_ text: String) throws -> [UInt8] {
        let path = Scratch.folder("gzip") + "/text"
        try Scratch.write(text, to: path)
        let run = try Finished.run("gzip", ["-k", path])
        guard run.succeeded else { throw Spawn.Failure(description: run.description) }
        return Scratch.bytes(path + ".gz")
    }

    private func origin(
        sending content: [UInt8], coding: String = "gzip", more: [String] = []
    ) throws -> RecordingOrigin {
        try RecordingOrigin.answering { _, connection in
            let fields =
                ["Content-Encoding: \(coding)", "Content-Length: \(content.count)", "ETag: \"strong\""] + more
            try connection.wire.send((["HTTP/1.1 200 OK"] + fields + ["", ""]).joined(separator: "\r\n"))
            try connection.wire.send(content)
        }
    }

    @Test func `gzip is decoded for a client that did not ask for it`() throws {
        let origin = try origin(sending: compressed(Self.text))
        try AttacheProcess.running("route 127.0.0.1 { decode }") { proxy throws in
            let answered = try proxy.get(origin.url(), "-H", "Accept-Encoding:")
            #expect(answered.text == Self.text)
            #expect(answered["Content-Encoding"] == nil)
            #expect(answered["Content-Length"].map { $0 == "\(Self.text.utf8.count)" } ?? true)
        }
    }

    @Test func `gzip stays for a client that asked for it`() throws {
        let origin = try origin(sending: compressed(Self.text))
        try AttacheProcess.running("route 127.0.0.1 { decode }") { proxy throws in
            let answered = try proxy.get(origin.url(), "--compressed")
            #expect(answered.text == Self.text)
            #expect(answered["Content-Encoding"] == "gzip")
        }
    }

    @Test func `content that must not be changed is not decoded`() throws {
        let origin = try origin(
            sending: compressed(Self.text), more: ["cache-control: max-age=60", "Cache-Control: private, No-Transform"])
        try AttacheProcess.running("route 127.0.0.1 { decode }") { proxy throws in
            #expect(try proxy.get(origin.url(), "-H", "Accept-Encoding:")["Content-Encoding"] == "gzip")
        }
    }

    @Test func `without decode nothing is touched`() throws {
        let origin = try origin(sending: compressed(Self.text))
        try AttacheProcess.running { proxy throws in
            #expect(try proxy.get(origin.url())["Content-Encoding"] == "gzip")
        }
    }

    @Test func `a coding that nobody knows is passed on`() throws {
        let origin = try origin(sending: Array("as it is".utf8), coding: "unheard-of")
        try AttacheProcess.running("route 127.0.0.1 { decode }") { proxy throws in
            let answered = try proxy.get(origin.url())
            #expect(answered.text == "as it is")
            #expect(answered["Content-Encoding"] == "unheard-of")
        }
    }

    @Test func `content that unfolds without measure is cut off`() throws {
        let origin = try origin(sending: compressed(String(repeating: "\u{0}", count: 50 << 20)))
        try AttacheProcess.running("route 127.0.0.1 { decode }") { proxy throws in
            let answered = try proxy.get(origin.url(), "-H", "Accept-Encoding:")
            #expect(answered.run.status != 0 || answered.status == 502, "\(answered.status)")
            #expect(answered.text.utf8.count < 50 << 20)
        }
    }

    @Test func `broken content does not look whole`() throws {
        let content = try compressed(Self.text)
        let origin = try origin(sending: Array(content.prefix(content.count / 2)) + [UInt8](repeating: 0, count: 500))
        try AttacheProcess.running("route 127.0.0.1 { decode }") { proxy throws in
            let answered = try proxy.get(origin.url(), "-H", "Accept-Encoding:")
            #expect(answered.run.status != 0 || answered.status == 502)
        }
    }
}
