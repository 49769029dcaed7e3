// Invariant: no chain, stapled response or revocation list traps the evaluation. It gives each problem as one plain
// line, and trusts only the server whose key the root's CA has signed.

import Bytes
import Model
import TLS

/// The first byte says what the others are: PEM, certificates in DER one after the other, or edits of the genuine chain.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard let kind = input.first else { return 0 }
    let rest = Array(input.dropFirst())
    switch kind & 3 {
    case 0: judge((try? Certificate.all(inPEM: rest.span)) ?? [])
    case 1: judge(elements(of: rest).compactMap { try? Certificate(der: $0) })
    default:
        let parts = edited(by: rest)
        let certificates = parts.prefix(2).compactMap { try? Certificate(der: $0) }
        judge(certificates, staple: kind & 4 == 0 ? nil : parts[2], list: kind & 8 == 0 ? nil : parts[3])
        if rest.isEmpty { precondition(believed(certificates, nil, nil), "the genuine chain was refused") }
    }
    return 0
}

private func judge(_ certificates: [Certificate], staple: [UInt8]? = nil, list: [UInt8]? = nil) {
    let lists = list.flatMap { try? RevocationLists(files: [$0]) }
    if believed(certificates, staple, lists) {
        precondition(certificates[0].publicKeyPin == genuineKey, "somebody else was believed")
    }
}

/// Whether nothing speaks against the chain.
private func believed(_ certificates: [Certificate], _ staple: [UInt8]?, _ lists: RevocationLists?) -> Bool {
    guard let leaf = certificates.first, let anchors else { return false }
    let chain = PresentedChain(leaf: leaf, others: Array(certificates.dropFirst()), staple: staple)
    let name = ServerName(Genuine.host)
    let evaluation = TrustEvaluation.of(
        chain, for: name, anchors: anchors, revocation: lists, at: WallTime(seconds: Genuine.time))
    precondition((evaluation.verified == nil) == !evaluation.findings.isEmpty)
    for finding in evaluation.findings {
        precondition(!finding.detail.isEmpty && finding.detail.utf8.count < 600, "a finding of no use")
        precondition(finding.detail.unicodeScalars.allSatisfy(isPlain), "a finding steers the terminal")
    }
    guard case .trusted = evaluation.forgiving(TrustFindings.all) else { fatalError("not all was forgiven") }
    guard let verified = evaluation.verified else { return false }
    return verified.leaf == leaf
}

private func isPlain(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.generalCategory != .control }

private let anchors = (try? Certificate(der: Genuine.anchor)).flatMap { try? TrustAnchors(only: [$0]) }
private let genuineKey = (try? Certificate(der: Genuine.parts[0]))?.publicKeyPin

/// DER elements with a length of two bytes, as certificates have; what follows them is left out.
private func elements(of bytes: [UInt8]) -> [[UInt8]] {
    var found: [[UInt8]] = []
    var start = 0
    while start + 4 <= bytes.count, bytes[start] == 0x30, bytes[start + 1] == 0x82 {
        let end = start + 4 + Int(bytes[start + 2]) << 8 + Int(bytes[start + 3])
        guard end <= bytes.count else { break }
        found.append(Array(bytes[start..<end]))
        start = end
    }
    return found
}

/// The genuine parts after edits of four bytes each: part and kind, place, value.
private func edited(by edits: [UInt8]) -> [[UInt8]] {
    var parts = Genuine.parts
    for start in stride(from: 0, to: edits.count - edits.count % 4, by: 4) {
        let part = Int(edits[start] & 3)
        guard !parts[part].isEmpty else { continue }
        let place = (Int(edits[start + 1]) << 8 | Int(edits[start + 2])) % parts[part].count
        switch edits[start] >> 2 & 3 {
        case 0: parts[part].insert(edits[start + 3], at: place)
        case 1: parts[part].remove(at: place)
        default: parts[part][place] = edits[start + 3]
        }
    }
    return parts
}
