// Invariant: the text that is made of a message's fields says the same to the parser of HTTP/1.1 as the fields: no field, and
// no part of the start line, appears, vanishes or changes.
import Bytes
import HTTP
import HTTP2

private typealias FieldBytes = (name: [UInt8], value: [UInt8])

private let time: UInt64 = 1_000_000_000

/// Fields as `length name length value`.
private func readFields(_ input: [UInt8]) -> [FieldBytes] {
    var fields: [FieldBytes] = []
    var rest = input[...]
    func take() -> [UInt8]? {
        guard let length = rest.popFirst() else { return nil }
        let part = rest.prefix(Int(length & 0x7F))
        rest = rest.dropFirst(part.count)
        return Array(part)
    }
    while let name = take(), let value = take() { fields.append((name, value)) }
    return fields
}

/// HEADERS of literals that no table keeps.
private func headers(_ fields: [FieldBytes], ends: Bool) -> [UInt8] {
    var block: [UInt8] = []
    for field in fields {
        guard field.name.count < 127, field.value.count < 127 else { return [] }
        block.append(0)
        for part in [field.name, field.value] {
            block.append(UInt8(part.count))
            block += part
        }
    }
    guard block.count <= 16_384 else { return [] }
    let length = [UInt8(block.count >> 16), UInt8(block.count >> 8 & 0xFF), UInt8(block.count & 0xFF)]
    return length + [1, ends ? 5 : 4, 0, 0, 0, 1] + block
}

private func value(_ name: StaticString, in fields: [FieldBytes]) -> [UInt8]? {
    fields.first { $0.name.span.equals(name) }?.value
}

/// The names of the lines that the text has in another place, or of its own.
private func isMoved(_ name: [UInt8]) -> Bool {
    let moved = ["host", "cookie", "content-length", "transfer-encoding", "http2-settings"] as [StaticString]
    return name.first == .colon || moved.contains { name.span.equals($0) }
}

/// Checks that the parsed fields are those that were sent.
private func compare(_ parsed: FieldTable, of bytes: Span<UInt8>, with sent: [FieldBytes]) {
    var expected = sent.filter { !isMoved($0.name) }[...]
    for field in parsed {
        let name = bytes.extracting(field.name).array
        if isMoved(name) { continue }
        guard let next = expected.popFirst() else { preconditionFailure("a field that was not sent") }
        precondition(next.name == name, "another name")
        let trimmed = next.value.span.extracting(next.value.span.trimmingBlanks(0..<next.value.count))
        precondition(bytes.extracting(field.value).equals(trimmed), "another value")
    }
    precondition(expected.isEmpty, "a field vanished")
    let length = parsed.first(.contentLength).map { bytes.extracting($0.value).array }
    let stated = value("content-length", in: sent)
    precondition(length == nil || stated == nil || length == stated || length == [0x30], "another length")
}

private func read(_ stream: MultiplexedStream) -> ByteBuffer {
    let text = ByteBuffer(capacity: 64 * 1024)
    while case .moved(let count) = stream.read(into: text, limit: .max), count > 0 {}
    return text
}

private func checkRequest(_ fields: [FieldBytes], _ ends: Bool) {
    guard let server = try? ServerConnection(.init(form: .origin)) else { return }
    // A lost connection is freed once its streams were taken.
    defer {
        server.lose()
        while server.nextChanged() != nil {}
    }
    let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]
    server.receive((preface + headers(fields, ends: ends)).span, at: time)
    guard let stream = server.nextChanged(), stream.isComplete, stream.defect == nil, !stream.isLost else {
        return
    }
    let text = read(stream)
    let bytes = text.readable
    let head = RequestHead()
    // A WebSocket's handshake has fields of the proxy's.
    guard case .complete? = try? head.parse(bytes), value(":protocol", in: fields) == nil else { return }
    precondition(bytes.extracting(head.methodName).array == value(":method", in: fields), "another method")
    var authority = value(":authority", in: fields) ?? value("host", in: fields)
    // An empty port is like no port (RFC 3986 section 6.2.3).
    if head.authority?.explicitPort == nil, authority?.last == .colon { authority?.removeLast() }
    precondition(head.authority.map { bytes.extracting($0.text).array } == authority, "another authority")
    if head.method != .connect, head.target.form == .origin {
        precondition(bytes.extracting(head.target.path).array == value(":path", in: fields), "another path")
    }
    compare(head.fields, of: bytes, with: fields)
}

private func checkResponse(_ fields: [FieldBytes], _ ends: Bool) {
    guard let client = try? ClientConnection() else { return }
    defer {
        client.lose()
        while client.nextChanged() != nil {}
    }
    let stream = client.open(scheme: .https)
    let request = ByteBuffer(capacity: 256)
    request.append("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
    _ = stream.write(from: request, limit: .max)
    let out = ByteBuffer(capacity: 1024)
    client.produce(into: out, limit: .max, at: time)
    client.receive(([0, 0, 0, 4, 0, 0, 0, 0, 0] + headers(fields, ends: ends)).span, at: time)
    guard !stream.isLost else { return }
    let text = read(stream)
    guard !text.isEmpty else { return }
    let bytes = text.readable
    let head = ResponseHead()
    guard case .complete? = try? head.parse(bytes, answering: .get) else {
        preconditionFailure("a text that is no response")
    }
    let code = value(":status", in: fields) ?? []
    precondition(code == Array("\(head.status.rawValue)".utf8), "another status")
    precondition(head.framing != .untilClose || head.status.isInterim, "a body without an end")
    compare(head.fields, of: bytes, with: fields)
}

/// The first byte chooses request or response, and whether the section ends the message.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzStreamText(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard let first = input.first else { return 0 }
    let fields = readFields(Array(input.dropFirst()))
    if first & 1 == 0 { checkRequest(fields, first & 2 != 0) } else { checkResponse(fields, first & 2 != 0) }
    return 0
}
