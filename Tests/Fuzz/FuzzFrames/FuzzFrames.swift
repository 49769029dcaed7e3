// Invariant: frames of any peer never trap. The text of a message without a defect begins with one head, which the parser
// takes or refuses, and a head that is taken has the body of its framing alone behind it. An answer can be sent.
import Bytes
import HTTP
import HTTP2

private func check(_ stream: RequestStream) {
    guard stream.isComplete, stream.defect == nil, !stream.isLost else { return }
    let text = ByteBuffer(capacity: 512 * 1024)
    while case .moved = stream.read(into: text, limit: .max) {}
    let head = RequestHead()
    guard case .complete(let length)? = try? head.parse(text) else {
        stream.refuse(with: .internalError)
        return
    }
    precondition(length <= text.count)
    precondition((head.method == .connect) == stream.asksForTunnel, "another method than the stream's")
    let rest = text.count - length
    switch head.framing {
    case .none:
        let isRaw = stream.asksForTunnel || head.upgrade == .webSocket
        precondition(rest == 0 || isRaw, "bytes behind a request without a body")
    case .length(let count): precondition(rest <= count, "more bytes than the length says")
    case .chunked:
        var decoder = ChunkedDecoder(fault: .client, limits: .request)
        text.consume(length)
        guard let consumed = try? decoder.pass(text.readable) else { break }
        precondition(!decoder.isEnded || consumed == text.count, "bytes behind the last chunk")
    case .untilClose: preconditionFailure("a request until the end")
    }
    let answer = ByteBuffer(capacity: 256)
    answer.append("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    _ = stream.write(from: answer, limit: .max)
    stream.release(asFault: false)
}

/// A request to the server that is fuzzed, and the text of its response.
private struct Asked {
    let stream: ResponseStream
    let method: Method
    let text = ByteBuffer(capacity: 512 * 1024)

    init(_ request: String, _ method: Method, by client: ClientConnection) {
        stream = client.open(scheme: .https)
        self.method = method
        let text = ByteBuffer(capacity: 256)
        text.append(request)
        _ = stream.write(from: text, limit: .max)
    }

    /// Reads as a program does that waits for the response.
    func check() {
        while case .moved(let count) = stream.read(into: text, limit: .max), count > 0 {}
        precondition(stream.isLost == (stream.failure != nil), "lost without a reason")
        guard !stream.isLost, stream.isAtEnd else { return }
        let head = ResponseHead()
        while true {
            head.reset()
            guard let progress = try? head.parse(text.readable, answering: method) else { return }
            guard case .complete(let length) = progress else {
                preconditionFailure("an end before a head")
            }
            text.consume(length)
            if !head.status.isInterim { break }
        }
        switch head.framing {
        case .none: precondition(text.isEmpty, "bytes behind a response without a body")
        case .length(let count): precondition(text.count == count, "another length than the head's")
        case .chunked:
            var decoder = ChunkedDecoder(fault: .upstream, limits: .response)
            guard let consumed = try? decoder.pass(text.readable) else { return }
            precondition(decoder.isEnded && consumed == text.count, "another end than the last chunk")
        case .untilClose: preconditionFailure("a response until the end of its connection")
        }
    }
}

private let time: UInt64 = 1_000_000_000

private func fuzzServer(_ pieces: [[UInt8]], _ form: RequestForm) {
    guard let server = try? ServerConnection(.init(form: form)) else { return }
    let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]
    let out = ByteBuffer(capacity: 64 * 1024)
    for piece in [preface] + pieces {
        server.receive(piece.span, at: time)
        while let stream = server.nextChanged() { if !stream.isReleased { check(stream) } }
        server.produce(into: out, limit: .max, at: time)
        out.clear()
    }
    server.lose()
    while server.nextChanged() != nil {}
}

private func fuzzClient(_ pieces: [[UInt8]]) {
    guard let client = try? ClientConnection() else { return }
    let host = "HTTP/1.1\r\nHost: a.test\r\n"
    let asked = [
        Asked("GET / \(host)\r\n", .get, by: client), Asked("HEAD / \(host)\r\n", .head, by: client),
        Asked("POST / \(host)Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n", .post, by: client),
    ]
    let out = ByteBuffer(capacity: 64 * 1024)
    for piece in [[0, 0, 0, 4, 0, 0, 0, 0, 0]] + pieces {
        client.produce(into: out, limit: .max, at: time)
        out.clear()
        client.receive(piece.span, at: time)
        while client.nextChanged() != nil {}
        precondition(client.running <= asked.count && client.limit(at: time) <= 100)
    }
    client.produce(into: out, limit: .max, at: time)
    client.lose()
    for one in asked {
        one.check()
        precondition(one.stream.isAtEnd, "neither whole nor lost")
        one.stream.release(asFault: false)
    }
    precondition(client.running == 0)
    while client.nextChanged() != nil {}
}

/// The first byte chooses the role and the form of the target, the second where the frames are split.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzFrames(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard input.count >= 2 else { return 0 }
    let frames = Array(input[2...])
    let split = Int(input[1]) % (frames.count + 1)
    let pieces = [Array(frames[..<split]), Array(frames[split...])]
    if input[0] & 2 == 0 { fuzzServer(pieces, input[0] & 1 == 0 ? .absolute : .origin) } else { fuzzClient(pieces) }
    return 0
}
