// Invariant: any output of a helper is read without a trap. What is taken from it has no byte that could end a line, and a
// line of git's protocol is read the same if others that have no meaning stand before it.
import Authentication
import Bytes
import Credentials
import Crypto
import Model

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let output = Array(UnsafeBufferPointer(start: start, count: count))
    for kind in HelperSource.Kind.allCases {
        guard let answer = try? HelperOutput.read(output, as: kind) else { continue }
        check(answer)
        guard kind == .git else { continue }
        let longer = Array("later=1\n".utf8) + output
        if let again = try? HelperOutput.read(longer, as: kind) {
            precondition(text(again) == text(answer) && again.end == answer.end, "an unknown line has a meaning")
        }
    }
    return 0
}

private func check(_ answer: HelperOutput.Answer) {
    for part in text(answer) {
        precondition(part.allSatisfy { $0 >= .space && $0 != .delete || $0 == .tab }, "a line ends in a value")
        precondition(part.count <= 65_535, "a value is longer than a line")
    }
}

private func text(_ answer: HelperOutput.Answer) -> [[UInt8]] {
    switch answer.content {
    case .password(let user, let password): [Array(user.utf8), password.withBytes { $0.array }]
    case .token(let token), .tokenAndIdentity(let token, _, _): [token.withBytes { $0.array }]
    case .fields(let authorization, let fields):
        (authorization.map { [$0.withBytes { $0.array }] } ?? [])
            + fields.flatMap { [Array($0.name.utf8), $0.value.withBytes { $0.array }] }
    case .keys(let access, let secret, let token):
        [Array(access.utf8)] + [secret, token].compactMap { $0?.withBytes { $0.array } }
    // A certificate is no part of a line.
    case .identity: []
    }
}
