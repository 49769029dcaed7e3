// Invariant: no second message of a server traps the reader. A challenge is answered with a third message whose fields
// lie inside it; any other message ends the handshake.
import Authentication
import Bytes
import Crypto
import Model

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard case .connection(let connections)? = authenticator?.binding else { fatalError("NTLM binds connections") }
    let context = connections.makeContext(over: nil, under: LoginTerms())
    precondition(said(context)?.count == 40)
    let challenge = HeaderChallenge(scheme: "ntlm", token68: Base64.encode(input))
    switch context.refused(by: [challenge]) {
    case .aborted: precondition(said(context) == nil)
    case .proceed:
        guard let answer = said(context) else { fatalError("the challenge was taken and not answered") }
        precondition(answer.starts(with: Array("NTLMSSP\0".utf8) + [3, 0, 0, 0]))
        for field in 0..<6 {
            let (length, offset) = (number(answer, 12 + field * 8, 2), number(answer, 16 + field * 8, 4))
            precondition(offset >= 88 && offset + length <= answer.count)
        }
        precondition(context.refused(by: [challenge]) == .refused)
    case .retry, .renewed, .denied, .refused, .unrelated: fatalError("nothing was said about the credential")
    }
    return 0
}

private let authenticator = try? NTLMScheme().authenticator(
    for: HeaderChallenge(scheme: "ntlm"),
    in: ProtectionSpace(
        origin: Origin(host: "host.example", port: 80, protocol: .http), realm: nil, authenticationMethod: .ntlm),
    at: "/".utf8Span.span, with: Credential(name: "fuzz", user: "D\\user", password: Secret("password")))

private func said(_ context: any SecurityContext) -> [UInt8]? {
    let value = ByteBuffer(capacity: 256)
    guard (try? context.authorize(at: 0, into: value)) != nil else { return nil }
    return Base64.decode(value.readable.text.dropFirst("NTLM ".count))
}

private func number(_ bytes: [UInt8], _ offset: Int, _ length: Int) -> Int {
    (0..<length).reduce(0) { $0 | Int(bytes[offset + $1]) << ($1 * 8) }
}
