// Invariant: any bytes are read within the limits and without a trap, and what was read is read the same when written
// out quoted. The bytes are read as challenges and as `Accept-Signature`.
import Authentication
import Bytes
import Model

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeBufferPointer(start: start, count: count)
    var parser = ChallengeParser()
    for line in input.split(separator: .lineFeed, omittingEmptySubsequences: false) {
        parser.parse(Array(line).span)
    }
    precondition(parser.challenges.count <= ChallengeParser.Limits().challenges)
    for challenge in parser.challenges {
        precondition(challenge.parameters.count <= ChallengeParser.Limits().parameters)
        let line = written(challenge)
        var again = ChallengeParser()
        again.parse(line.span)
        precondition(line.count > ChallengeParser.Limits().bytes || again.challenges == [challenge])
        _ = DigestScheme().strength(of: challenge)
        _ = BasicScheme().strength(of: challenge)
        registry(challenge)
    }
    if let request = SignatureRequest(Array(input).span, keyID: "k") {
        precondition(count <= SignatureRequest.Limits.bytes)
        precondition(request.components.count <= SignatureRequest.Limits.components)
        precondition(request.label.utf8.count <= SignatureRequest.Limits.label)
        let list = request.components.map { "\"\($0)\"" }.joined(separator: " ")
        let again = "\(request.label)=(\(list))"
        precondition(SignatureRequest(Array(again.utf8).span, keyID: "k")?.components == request.components)
    }
    return 0
}

/// A registry's challenge names a token server that is the rule's, or its own; its scopes are read again as they are
/// written, and its URL is one request line.
private func registry(_ challenge: HeaderChallenge) {
    let named = TokenIssuer("https://auth.example/token")
    for (origin, server) in [(registryOrigin, nil), (registryOrigin, named)] {
        guard let wish = try? RegistryChallenge(challenge, from: origin, named: server) else { continue }
        precondition(wish.server.isSecure && wish.server.host == (server == nil ? "reg.example" : "auth.example"))
        precondition(wish.server.port == 443)
        precondition(wish.scopes.resources.count <= 16)
        precondition(RegistryScopes(wish.scopes.description.utf8) == wish.scopes)
        precondition(wish.scopes.covers(wish.scopes) && wish.scopes.without(wish.scopes).isEmpty)
        let grant = TokenGrant(server: .registry(server), clientID: nil, proof: .none, kind: .registry(nil))
            .asked(at: wish.server, service: wish.service, scopes: wish.scopes)
        precondition(TokenRequest.url(of: grant, at: wish.server)?.host == wish.server.host)
    }
    for parameter in challenge.parameters {
        let place = RegistryPlace(.read, parameter.value.span)
        precondition(place.repository.count <= 256 && place.source.count <= 256)
        _ = InternetTime.time(parameter.value.span)
    }
}

private let registryOrigin = Origin(host: "reg.example", port: 443, protocol: .https)

private func written(_ challenge: HeaderChallenge) -> [UInt8] {
    var line = Array(challenge.scheme.utf8)
    if let token68 = challenge.token68 { line += [.space] + Array(token68.utf8) }
    for (index, parameter) in challenge.parameters.enumerated() {
        line += index == 0 ? [.space] : [.comma]
        line += Array(parameter.name.utf8) + [.equals, .quote]
        for byte in parameter.value {
            if byte == .quote || byte == .backslash { line.append(.backslash) }
            line.append(byte)
        }
        line.append(.quote)
    }
    return line
}
