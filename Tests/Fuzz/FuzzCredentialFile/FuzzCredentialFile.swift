// Invariant: any file is read as netrc and as curl's configuration without a trap, and named by lines that it has; a user
// and a password that were found can be sent, and netrc lines that are written of them are read the same.
import Bytes
import Credentials
import Crypto

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    let lines = input.count { $0 == .lineFeed } + 1
    if let kind = kind(of: input, lines) { check(input, as: kind, lines) }
    for kind in [CredentialFileKind.netrc, .curl] { check(input, as: kind, lines) }
    return 0
}

private func kind(of input: [UInt8], _ lines: Int) -> CredentialFileKind? {
    do throws(CredentialFileKind.Problem) { return try CredentialFileKind(of: input.span) } catch {
        check(error, lines)
        return nil
    }
}

private func check(_ problem: CredentialFileKind.Problem, _ lines: Int) {
    precondition(!problem.sentence.isEmpty)
    precondition((1...lines).contains(problem.line ?? 1), "a line that is not there")
}

private func check(_ input: [UInt8], as kind: CredentialFileKind, _ lines: Int) {
    let found: FoundCredentials?
    do throws(CredentialFileKind.Problem) { found = try kind.read(input.span) } catch { return check(error, lines) }
    guard let found else { return }
    precondition(found.credentials.count + found.omissions.count <= input.count)
    for omission in found.omissions { precondition((1...lines).contains(omission.line)) }
    precondition((1...lines).contains(found.onlyMethod?.line ?? 1))
    var written: [UInt8] = []
    for one in found.credentials {
        precondition((1...lines).contains(one.line), "a line that is not there")
        precondition(!one.user.isEmpty && one.password.count > 0)
        let password = one.password.withBytes { $0.array }
        precondition(password.allSatisfy { $0 >= .space && $0 != .delete }, "a password that none can send")
        guard case .host(let host) = one.server else { continue }
        for (word, value) in [("machine", Array(host.utf8)), ("login", Array(one.user.utf8)), ("password", password)] {
            written += Array("\(word) ".utf8) + quoted(value) + [.space]
        }
        written.append(.lineFeed)
    }
    guard kind == .netrc else { return }
    guard let again = try? CredentialFileKind.netrc.read(written.span) else { fatalError("what we wrote is refused") }
    let said = { (found: FoundCredentials) in found.credentials.map { Said($0) } }
    precondition(said(again) == said(found), "what we wrote means something else")
}

/// A credential without its line.
private struct Said: Equatable {
    let server: FoundCredentials.Entry.Server
    let user: String
    let password: Secret

    init(_ one: FoundCredentials.Entry) { (server, user, password) = (one.server, one.user, one.password) }
}

private func quoted(_ value: [UInt8]) -> [UInt8] {
    var written: [UInt8] = [.quote]
    for byte in value {
        switch byte {
        case .quote, .backslash: written += [.backslash, byte]
        case .lineFeed: written += Array("\\n".utf8)
        case .carriageReturn: written += Array("\\r".utf8)
        case .tab: written += Array("\\t".utf8)
        default: written.append(byte)
        }
    }
    return written + [.quote]
}
