// Invariant: a head says the same whole, in two pieces and behind itself, and one that is accepted is written as a head that
// is accepted without being mended and means the same.
import Bytes
import HTTP

/// The final result of a parser.
private enum Outcome: Equatable {
    case progress(HeadProgress)
    case refused(Defect)

    init(_ parse: () throws(HTTPError) -> HeadProgress) {
        do throws(HTTPError) { self = .progress(try parse()) } catch { self = .refused(error.defect) }
    }
}

private func buffer(_ bytes: ArraySlice<UInt8>) -> ByteBuffer {
    let buffer = ByteBuffer(capacity: bytes.count)
    buffer.append(Array(bytes))
    return buffer
}

private func check(request bytes: [UInt8], split: Int, via: Via) {
    let (whole, bytesOfWhole) = (RequestHead(), buffer(bytes[...]))
    let outcome = Outcome { () throws(HTTPError) in try whole.parse(bytesOfWhole) }
    let (pieces, bytesOfPieces) = (RequestHead(), buffer(bytes[..<split]))
    let first = Outcome { () throws(HTTPError) in try pieces.parse(bytesOfPieces) }
    bytesOfPieces.append(Array(bytes[split...]))
    let second = Outcome { () throws(HTTPError) in try pieces.parse(bytesOfPieces) }
    precondition(second == outcome, "the split at \(split) matters")
    if case .refused = first { precondition(first == outcome, "refused too early") }
    let lines = whole.fields.map(\.line)
    whole.reset()
    let again = Outcome { () throws(HTTPError) in try whole.parse(bytesOfWhole) }
    precondition(again == outcome && whole.fields.map(\.line) == lines, "it means something else behind itself")

    guard case .progress(.complete(let length)) = outcome else { return }
    let read = bytesOfWhole.readable
    precondition(length <= read.count && read.equals(bytesOfPieces.readable))
    precondition(pieces.framing == whole.framing && pieces.keepAlive == whole.keepAlive)
    precondition(pieces.fields.map(\.line) == whole.fields.map(\.line))
    for offset in whole.target.text { precondition(read[offset] < 0x80, "the target is not ASCII") }
    let buffer = ByteBuffer(capacity: 64)
    whole.write(read, as: RequestRewrite(), via: via, into: buffer).end()
    // Ours adds a Via line, and a Host line where there was none.
    let sent = RequestHead(limits: Limits(startLine: 1 << 20, head: 1 << 20, fields: 200))
    let reread = Outcome { () throws(HTTPError) in try sent.parse(buffer.readable) }
    if whole.authority == nil {
        precondition(reread == .refused(.missingHost))
        return
    }
    precondition(reread == .progress(.complete(length: buffer.count)), "what we wrote is refused")
    precondition(sent.method == whole.method && sent.framing == whole.framing, "what we wrote means something else")
    precondition(via.occurs(in: sent.fields, of: buffer.readable))
    if let left = sent.authority, let right = whole.authority {
        precondition(buffer.readable.extracting(left.host).equals(read.extracting(right.host)))
    }
    for field in sent.fields { precondition(!FieldSet.hopByHop.contains(field.known)) }
}

private func check(response bytes: [UInt8], split: Int, method: HTTP.Method, via: Via) {
    let (whole, bytesOfWhole) = (ResponseHead(), buffer(bytes[...]))
    let outcome = Outcome { () throws(HTTPError) in try whole.parse(bytesOfWhole, answering: method) }
    let (pieces, bytesOfPieces) = (ResponseHead(), buffer(bytes[..<split]))
    _ = Outcome { () throws(HTTPError) in try pieces.parse(bytesOfPieces, answering: method) }
    bytesOfPieces.append(Array(bytes[split...]))
    let second = Outcome { () throws(HTTPError) in try pieces.parse(bytesOfPieces, answering: method) }
    precondition(second == outcome, "the split at \(split) matters")

    guard case .progress(.complete) = outcome else { return }
    precondition(bytesOfWhole.readable.equals(bytesOfPieces.readable))
    precondition(!(whole.isIrregular && whole.keepAlive), "a connection that may not be used again is kept")
    let buffer = ByteBuffer(capacity: 64)
    whole.write(bytesOfWhole.readable, as: ResponseRewrite(), via: via, into: buffer).end()
    let again = ResponseHead(limits: Limits(startLine: 1 << 20, head: 1 << 20, fields: 300))
    let reread = Outcome { () throws(HTTPError) in try again.parse(buffer.readable, answering: method) }
    precondition(reread == .progress(.complete(length: buffer.count)), "what we wrote is refused")
    precondition(!again.isIrregular, "what we wrote is not as it should be")
    precondition(again.status == whole.status && again.framing == whole.framing, "what we wrote means something else")
    for field in again.fields { precondition(!FieldSet.hopByHop.contains(field.known)) }
}

/// The first two bytes choose what is read and where it is split.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHead(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard input.count >= 2, let via = Via(pseudonym: "attache") else { return 0 }
    let bytes = Array(input[2...])
    let split = Int(input[1]) % (bytes.count + 1)
    switch input[0] % 4 {
    case 0: check(response: bytes, split: split, method: .get, via: via)
    case 1: check(response: bytes, split: split, method: .head, via: via)
    default: check(request: bytes, split: split, via: via)
    }
    return 0
}
