// Invariant: any bytes are read without a trap; of what is taken for Digest credentials every part lies inside, no name
// is longer than what it was read from, and the same bytes written with more blanks are read the same.
import Authentication
import Bytes
import Crypto

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard let digest = try? DigestAuthorization(input.span) else { return 0 }
    precondition(digest.count > 0)
    for range in [digest.nonce, digest.countText, digest.clientNonce, digest.response] {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
    }
    precondition(digest.response.count == digest.algorithm.length * 2)
    let texts = ByteBuffer(capacity: 64)
    try? digest.appendUser(of: input.span, to: texts)
    digest.appendRealm(of: input.span, to: texts)
    digest.appendTarget(of: input.span, to: texts)
    precondition(texts.count <= count)
    let wider = [.space, .comma, .tab] + input + [.comma, .space]
    guard let again = try? DigestAuthorization(wider.span) else { fatalError("blanks and commas have no meaning") }
    precondition(again.count == digest.count && again.nonce.count == digest.nonce.count)
    let others = ByteBuffer(capacity: 64)
    try? again.appendUser(of: wider.span, to: others)
    again.appendRealm(of: wider.span, to: others)
    again.appendTarget(of: wider.span, to: others)
    precondition(others.readable.equals(texts.readable))
    return 0
}
