// Invariant: a valid `traceparent` is written as a valid one of version 00 that is read as the same, with any other
// content of the field. A character that is not a letter, digit or hyphen in its place makes it invalid.
import Bytes
import Telemetry

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard let context = TraceContext(input.span) else { return 0 }
    let written = ByteBuffer(capacity: 64)
    context.append(to: written)
    precondition(written.count == 55, "a context of another length")
    precondition(TraceContext(written.readable) == context, "what was read is not what was written")
    let (known, told) = (input.prefix(52).dropFirst(2), written.readable.array.prefix(52).dropFirst(2))
    precondition(known.elementsEqual(told), "other ids than the client's")
    // Of a higher version more may follow, behind a hyphen.
    precondition(input.count == 55 || input[55] == UInt8(ascii: "-") && !input.starts(with: Array("00".utf8)))
    for offset in 0..<55 {
        var other = input
        other[offset] = .space
        precondition(TraceContext(other.span) == nil, "a blank counts")
    }
    return 0
}
