import Bytes
import Model

/// Reads the parts of a `credential` that is not a password: a ticket or a token.
struct TokenReader: BlockReader {
    let context: ReadingContext

    func kerberos(_ block: CredentialBlock, of name: Value) -> CredentialSource.Kerberos? {
        let proofs = block.said([.keytab, .ccache, .password])
        guard let principal = block.value(.kerberos) else { return nil }
        let parts = principal.text.split(separator: "@", omittingEmptySubsequences: false)
        if parts.count > 2 || parts.contains(where: \.isEmpty) || principal.text.utf8.contains(where: { $0 <= .space })
        {
            refuse(principal, "\(principal.shown) is not a principal such as svc@EXAMPLE.COM")
        }
        guard let proof = proofs.first, let value = proof.values.first else {
            log.report(at: name.range, "the credential \(name.shown) has no 'keytab', 'ccache' or 'password'")
            return nil
        }
        refuseOthers(proofs, "write only one of 'keytab', 'ccache' and 'password'")
        switch proof.name {
        case .keytab:
            return CredentialSource.Kerberos(principal: principal.text, proof: .keytab(context.kerberosFile(value)))
        case .ccache: return CredentialSource.Kerberos(principal: principal.text, proof: .cache(ticketCache(value)))
        default:
            return parse.secret(value).map {
                CredentialSource.Kerberos(principal: principal.text, proof: .password($0))
            }
        }
    }

    /// Parses a path, or a name as MIT Kerberos writes it, with its type.
    private func ticketCache(_ value: Value) -> TicketCacheName {
        guard let name = TicketCacheName(typed: value.text) else { return .file(context.keyFile(value)) }
        if case .file = name { return .file(context.kerberosFile(value)) }
        if value.text.hasPrefix("MEMORY:") {
            refuse(
                value, "another program cannot fill a MEMORY cache: use a cache of the type FILE, DIR, KCM or KEYRING")
        }
        if let prefix = ["DIR::", "DIR:"].first(where: value.text.hasPrefix) {
            let folder = value.without(prefix: prefix)
            if folder.text.isEmpty { refuse(value, "\(value.shown) names no directory") }
            return .other(prefix + parse.path(folder))
        }
        return name
    }

    func oauth(_ block: CredentialBlock) -> CredentialSource.OAuth? {
        guard let server = server(block), let proof = proof(block, of: server),
            let grant = grant(block, of: server, isProven: proof != .none), let resource = resource(block, of: server)
        else { return nil }
        for scope in block.values(.scope) where scope.text.isEmpty || !scope.text.utf8.allSatisfy(\.isOfScope) {
            refuse(scope, "\(scope.shown) is not a scope")
        }
        var source = CredentialSource.OAuth(
            server: server, clientID: block.value(.clientID)?.text, proof: proof, grant: grant,
            scopes: block.values(.scope).map(\.text), audience: block.value(.audience)?.text)
        source.resource = resource
        source.parameters = parameters(block)
        return source
    }

    private func grant(
        _ block: CredentialBlock, of server: AuthorizationServer, isProven: Bool
    ) -> CredentialSource.OAuth.Grant? {
        let grants = block.said([.refreshToken, .assertion, .subjectToken])
        refuseOthers(grants, "write only one grant")
        let signs = block.directive(.assertion)?.values.first.map { $0.namesToken && $0.text == "key" } ?? false
        if !signs { refuse(block.said([.subject]), "needs 'assertion key'") }
        if grants.first?.name != .subjectToken {
            refuse(block.said([.actorToken, .requested]), "needs 'subject-token'")
        }
        guard let said = grants.first else {
            if !isProven, let directive = block.directive(.clientID) {
                log.report(
                    at: directive.node.name.range,
                    "the client cannot prove its identity: add 'client-secret', 'key', or 'certificate' and 'key'")
            }
            return .clientCredentials
        }
        switch said.name {
        case .refreshToken: return said.values.first.flatMap(parse.secret).map { .refreshToken($0) }
        case .subjectToken:
            guard let subject = token(said, isTyped: true) else { return nil }
            var actor: TokenSource?
            if let directive = block.directive(.actorToken) {
                guard let token = token(directive, isTyped: true) else { return nil }
                actor = token
            }
            let requested = block.value(.requested).flatMap { parse.keyword($0, TokenType.self) }
            return .exchange(subject: subject, actor: actor, requested: requested)
        case _ where signs:
            guard said.values.count == 2 else {
                log.report(at: said.range, "'assertion key' needs the path of a key, and nothing else")
                return nil
            }
            return .signed(
                key: context.keyFile(said.values[1]), passphrase: block.value(.passphrase).flatMap(parse.secret),
                id: block.value(.keyID)?.text, audience: assertionAudience(block.value(.assertionAudience), of: server),
                subject: block.value(.subject)?.text)
        default: return token(said, isTyped: false).map { .assertion($0) }
        }
    }

    /// Reads a token: a value or a credential, and perhaps its type.
    private func token(_ directive: Directive<CredentialDirective>, isTyped: Bool) -> TokenSource? {
        var values = directive.values[...]
        guard let first = values.popFirst() else { return nil }
        let origin: TokenSource.Origin
        var type = TokenType.jwt
        if first.namesToken {
            guard first.text == "credential", let name = values.popFirst() else {
                log.report(
                    at: directive.range, "'\(directive.name.rawValue)' needs a value, or 'credential' and a name")
                return nil
            }
            origin = .credential(name.text)
            type = .accessToken
        } else {
            guard let value = parse.secret(first) else { return nil }
            origin = .value(value)
        }
        if isTyped, let word = values.popFirst() {
            guard let said = parse.keyword(word, TokenType.self) else { return nil }
            type = said
        }
        if let extra = values.first {
            log.report(at: extra.range, "'\(directive.name.rawValue)' takes one token")
            return nil
        }
        return TokenSource(origin, type: type)
    }

    private func resource(_ block: CredentialBlock, of server: AuthorizationServer) -> CredentialSource.OAuth.Resource?
    {
        guard let value = block.value(.resource) else {
            return server.issuer == nil ? CredentialSource.OAuth.Resource.none : .auto
        }
        switch value.text {
        case "none": return CredentialSource.OAuth.Resource.none
        case "auto": return .auto
        default:
            // RFC 8707 section 2: an absolute URI without a fragment.
            if value.text.contains(":"), HTTPEndpoint(value.text) != nil || value.text.hasPrefix("urn:") {
                return .url(value.text)
            }
            refuse(value, "\(value.shown) is neither 'auto' nor 'none' nor a URL such as https://mcp.example.com/mcp")
            return nil
        }
    }

    private func parameters(_ block: CredentialBlock) -> [CredentialSource.OAuth.Parameter] {
        var parameters: [CredentialSource.OAuth.Parameter] = []
        for directive in block.said([.parameter]) {
            guard directive.values.count == 2, let name = directive.values.first, !name.text.isEmpty,
                name.source == .written, let value = parse.secret(directive.values[1])
            else {
                log.report(at: directive.range, "'parameter' needs a name and a value")
                continue
            }
            if Self.standardFields.contains(name.text) {
                log.report(
                    at: name.range, "a 'parameter' cannot set this field of the request: it has its own directive")
            } else if parameters.contains(where: { $0.name.hasSameBytes(as: name.text) }) {
                log.report(at: name.range, "this parameter is already set")
            } else {
                parameters.append(CredentialSource.OAuth.Parameter(name: name.text, value: value))
            }
        }
        return parameters
    }

    /// The fields of RFC 6749, 7521, 7523, 8693 and 8707.
    private static let standardFields: Set = [
        "grant_type", "client_id", "client_secret", "scope", "refresh_token", "code", "redirect_uri", "username",
        "password", "response_type", "state", "assertion", "client_assertion", "client_assertion_type", "resource",
        "audience", "requested_token_type", "subject_token", "subject_token_type", "actor_token", "actor_token_type",
    ]

    private func refuse(_ directives: [Directive<CredentialDirective>], _ reason: String) {
        for directive in directives {
            log.report(at: directive.node.name.range, "'\(directive.name.rawValue)' \(reason)")
        }
    }

    private func proof(_ block: CredentialBlock, of server: AuthorizationServer) -> CredentialSource.OAuth.Proof? {
        let passphrase = block.value(.passphrase).flatMap(parse.secret)
        let signs = block.directive(.assertion)?.values.first.map { $0.namesToken && $0.text == "key" } ?? false
        var companions: [CredentialDirective] = [.clientAuthentication]
        if !signs { companions += [.keyID, .assertionAudience, .passphrase] }
        var proof = CredentialSource.OAuth.Proof.none
        let proofs = block.said([.clientSecret, .key, .certificate, .clientAssertion])
        if block.value(.clientID) == nil { refuse(proofs, "needs 'client-id'") }
        if let value = block.value(.clientSecret) {
            guard let secret = parse.secret(value) else { return nil }
            refuseOthers(proofs, "write only one proof of the client")
            companions.removeFirst()
            let way = block.value(.clientAuthentication).flatMap { parse.keyword($0, TokenReader.SecretPlace.self) }
            proof = .secret(secret, inBody: way == .post)
        } else if let directive = block.directive(.clientAssertion) {
            refuseOthers(proofs, "write only one proof of the client")
            guard let token = token(directive, isTyped: false) else { return nil }
            proof = .assertion(token)
        } else if let key = block.value(.key) {
            companions = [.clientAuthentication]
            if let certificate = block.value(.certificate) {
                if !signs { companions += [.keyID, .assertionAudience] }
                proof = .certificate(path: parse.path(certificate), key: context.keyFile(key), passphrase: passphrase)
            } else {
                proof = .key(
                    path: context.keyFile(key), passphrase: passphrase, id: block.value(.keyID)?.text,
                    audience: assertionAudience(block.value(.assertionAudience), of: server))
            }
        } else {
            companions.append(.certificate)
        }
        for directive in block.said(companions) {
            let partner = directive.name == .clientAuthentication ? "client-secret" : "key"
            let isForKeyAlone =
                [.keyID, .assertionAudience].contains(directive.name) && block.value(.certificate) != nil
            log.report(
                at: directive.node.name.range,
                isForKeyAlone
                    ? "remove '\(directive.name.rawValue)': it is for a 'key' without a certificate"
                    : "'\(directive.name.rawValue)' needs '\(partner)'")
        }
        return proof
    }

    /// - Parameter value: nil for the default: the issuer if there is one, else the endpoint.
    /// - Returns: the audience; nil for the endpoint.
    private func assertionAudience(_ value: Value?, of server: AuthorizationServer) -> String? {
        guard let value else { return server.issuer.map { "\($0)" } }
        switch value.text {
        case "endpoint": return nil
        case "issuer":
            if let issuer = server.issuer { return "\(issuer)" }
            refuse(value, "'issuer' needs an 'issuer URL' in this credential; or write the issuer's URL here")
            return nil
        default: return value.text
        }
    }

    /// Reads the token endpoint (RFC 6749 section 3.2), the issuer (RFC 8414 section 2), or both.
    private func server(_ block: CredentialBlock) -> AuthorizationServer? {
        var issuer: TokenIssuer?
        if let value = block.value(.issuer) {
            guard let parsed = TokenIssuer(value.text) else {
                refuse(value, "\(value.shown) is not the URL of an issuer such as https://id.example.com")
                return nil
            }
            guard parse.isSafe(parsed.url, value, "an issuer") else { return nil }
            issuer = parsed
        }
        guard let value = block.value(.oauth2) else { return issuer.map { .issuer($0) } }
        guard let endpoint = HTTPEndpoint(value.text) else {
            refuse(value, "\(value.shown) is not the URL of a token endpoint such as https://id.example.com/token")
            return nil
        }
        return parse.isSafe(endpoint, value, "a token endpoint") ? .endpoint(endpoint, issuer: issuer) : nil
    }

    func registry(_ block: CredentialBlock) -> RegistrySource? {
        var server: TokenIssuer?
        if let value = block.value(.registry) {
            guard let parsed = TokenIssuer(value.text) else {
                refuse(
                    value,
                    "\(value.shown) is not the URL of a token server such as https://auth.example.com/token: write it "
                        + "as the registry's 'realm' does, without a query")
                return nil
            }
            guard parse.isSafe(parsed.url, value, "a token server") else { return nil }
            server = parsed
        }
        var login: RegistrySource.Login?
        switch (block.directive(.user), block.directive(.password)) {
        case (nil, nil): break
        case (let user?, nil): refuse([user], "needs 'password'")
        case (nil, let password?): refuse([password], "needs 'user'")
        case (_?, _?):
            guard let user = block.value(.user).flatMap(parse.secret),
                let password = block.value(.password).flatMap(parse.secret)
            else { return nil }
            login = RegistrySource.Login(user: user, password: password)
        }
        let helper = HelperReader(context: context).helper(block)
        if block.directive(.helper) != nil, helper == nil { return nil }
        if let user = block.directive(.user), helper != nil { refuse([user], "does not belong beside 'helper'") }
        var scopes: [RegistryScope] = []
        for value in block.values(.scope) {
            if let scope = RegistryScope(value.text.utf8, isPattern: true) {
                scopes.append(scope)
            } else {
                refuse(value, "\(value.shown) is not a scope of a registry such as repository:team/*:pull")
            }
        }
        var source = RegistrySource(server: server, login: login, scopes: scopes)
        source.helper = helper
        return source
    }

    /// Reports all alternatives but the first.
    private func refuseOthers(_ directives: [Directive<CredentialDirective>], _ reason: String) {
        // A client's certificate and its key belong together.
        guard let first = directives.first else { return }
        for other in directives.dropFirst() {
            log.report(
                at: other.node.name.range,
                "'\(other.name.rawValue)' and '\(first.name.rawValue)' exclude each other: \(reason)")
        }
    }

    fileprivate enum SecretPlace: String, CaseIterable {
        case basic
        case post
    }
}

extension UInt8 {
    /// Whether the byte is allowed in a scope (RFC 6749 section 3.3).
    fileprivate var isOfScope: Bool { self > .space && self < .delete && self != .quote && self != .backslash }
}
