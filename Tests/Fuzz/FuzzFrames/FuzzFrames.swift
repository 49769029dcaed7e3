// Invariant: frames of any client never trap. The text of a request without a defect begins with one head, which the parser
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

/// The first byte chooses the form of the target, the second where the frames are split.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzFrames(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard input.count >= 2, let server = try? ServerConnection(.init(form: input[0] & 1 == 0 ? .absolute : .origin))
    else { return 0 }
    let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]
    let frames = Array(input[2...])
    let split = Int(input[1]) % (frames.count + 1)
    let out = ByteBuffer(capacity: 64 * 1024)
    for piece in [preface, Array(frames[..<split]), Array(frames[split...])] {
        server.receive(piece.span, at: 1_000_000_000)
        for stream in server.takeChanged() where !stream.isReleased { check(stream) }
        server.produce(into: out, limit: .max, at: 1_000_000_000)
        out.clear()
    }
    server.lose()
    return 0
}
