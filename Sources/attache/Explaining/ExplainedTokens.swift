import Authentication
import Challenges
import HTTP
import Model
import Rules

/// The tokens that the credentials of a rule file with an issuer, or for registries, would be exchanged for at a server.
struct ExplainedTokens: Sendable {
    private let method: String
    /// The target of the request.
    private let target: String
    /// The metadata that the server announces; the inner nil if it has none, the outer nil if it was not asked.
    var metadata: Result<ResourceMetadata?, TokenError>?

    init(for request: ExplainedRequest) { (method, target) = (request.method, request.target) }

    /// Whether a credential of the rule file is for the tokens that servers announce.
    static func areAnnounced(_ configuration: Configuration) -> Bool {
        configuration.credentials.contains { credential in
            if case .oauth(let source) = credential.content { source.resource == .auto } else { false }
        }
    }

    /// The lines of the explanation, by the names of the credentials.
    func lines(
        for challenge: HeaderChallenge, of origin: Origin, by configuration: Configuration
    ) -> [String: [ExplainedLine]] {
        var lines: [String: [ExplainedLine]] = [:]
        for credential in configuration.credentials {
            switch credential.content {
            case .oauth(let source):
                guard let issuer = source.server.issuer else { break }
                lines[credential.name] =
                    [ExplainedLine("issuer", "\(issuer), as credential \(credential.name) says")]
                    + self.lines(for: source, of: issuer, named: credential.name, challenge, origin)
            case .registry(let source):
                lines[credential.name] = self.lines(for: source, named: credential.name, challenge, origin)
            default: break
            }
        }
        return lines.merging(Self.programs(of: origin, by: configuration)) { $0 + $1 }
    }

    private func lines(
        for source: CredentialSource.OAuth, of issuer: TokenIssuer, named name: String, _ challenge: HeaderChallenge,
        _ origin: Origin
    ) -> [ExplainedLine] {
        switch source.resource {
        case .none: return [ExplainedLine("resource", "none"), Self.scopes(source.scopes)]
        case .url(let url): return [ExplainedLine("resource", url), Self.scopes(source.scopes)]
        case .auto: break
        }
        let announced = challenge.text("resource_metadata")
        var (lines, known): ([ExplainedLine], ResourceMetadata?) = ([], nil)
        do throws(TokenError) {
            switch metadata {
            case nil:
                let place = ResourceMetadata.places(on: origin, announced: announced, for: Array(target.utf8)).places
                    .first
                let words = place.map { "it is read from \($0); 'explain --ask' shows it" } ?? "it has no place"
                lines.append(ExplainedLine("metadata", words))
            case let result?:
                known = try result.get()
                if known == nil { lines.append(ExplainedLine("metadata", "the server has none")) }
            }
            if let known {
                try known.check(issuer, on: origin)
                lines.append(ExplainedLine("resource", known.resource))
            }
            let scope = challenge.text("scope")
            let allowed = try ResourceMetadata.scopes(scope, of: known, within: source.scopes)
            lines.append(Self.scopes(allowed))
            let others = (known?.scopes(for: scope) ?? ResourceMetadata.words(of: scope)).filter {
                !allowed.contains($0)
            }
            if !others.isEmpty {
                let words = others.joined(separator: " ")
                lines.append(ExplainedLine("left out", "\(words): not in 'scope' of credential \(name)"))
            }
        } catch { lines.append(ExplainedLine("token", "none is requested: \(error)")) }
        return lines
    }

    /// The lines about programs that give credentials, by the names of the credentials. `explain` runs none.
    static func programs(of origin: Origin, by configuration: Configuration) -> [String: [ExplainedLine]] {
        var lines: [String: [ExplainedLine]] = [:]
        for credential in configuration.credentials {
            for command in credential.content.commands {
                let helper = credential.content.helper
                let isAsked = helper.map { $0.command == command && $0.kind.asksForServer } ?? false
                let server = isAsked ? " about \(origin.protocol.rawValue)://\(origin.host):\(origin.port)" : ""
                let words = "\(command), which the proxy would \(isAsked ? "ask" : "run")\(server)"
                lines[credential.name, default: []].append(ExplainedLine("program", words))
            }
        }
        return lines
    }

    // MARK: - Registries

    private func lines(
        for source: RegistrySource, named name: String, _ challenge: HeaderChallenge, _ origin: Origin
    ) -> [ExplainedLine] {
        do throws(TokenError) {
            let registry = try RegistryChallenge(challenge, from: origin, named: source.server)
            return [Self.tokenServer(registry.server.withoutQuery, source, name)]
                + Self.scopes(registry.scopes, source, name)
        } catch {
            var lines = [ExplainedLine("token", "none is requested: \(error)")]
            // Some reasons have the line to write.
            if !"\(error)".contains("write '"), let naming = RegistryChallenge.naming(challenge, from: origin) {
                lines.append(
                    ExplainedLine("to allow it", "write '\(naming.directive)', if you trust it with the credential"))
            }
            return lines
        }
    }

    /// The lines by the names of the credentials for registries, before the origin has sent a challenge.
    func expected(of origin: Origin, by configuration: Configuration) -> [String: [ExplainedLine]] {
        let place = RegistryPlace(of: Method(method.utf8Span.span), at: target.utf8Span.span)
        let wanted = place.usualScopes
        var lines: [String: [ExplainedLine]] = [:]
        for credential in configuration.credentials {
            guard case .registry(let source) = credential.content else { continue }
            let host = origin.host.contains(":") ? "[\(origin.host)]" : origin.host
            let own = "https://\(host)\(origin.port == 443 ? "" : ":\(origin.port)")/…"
            let server = source.server.map { "\($0)" } ?? own
            let scope = wanted.isEmpty ? "" : ",scope=\"\(wanted)\""
            lines[credential.name] =
                [
                    ExplainedLine("expected", "Bearer realm=\"\(server)\",service=\"…\"\(scope)"),
                    Self.tokenServer(server, source, credential.name),
                ] + Self.scopes(wanted, source, credential.name)
        }
        return lines.merging(Self.programs(of: origin, by: configuration)) { $0 + $1 }
    }

    /// The token server of a registry's challenge; nil for the challenges of other servers.
    ///
    /// - Parameter target: the target of the request. Only registries have a `service`, but some have none.
    static func registry(
        _ challenge: HeaderChallenge, of origin: Origin, at target: String
    ) -> RegistryChallenge.Naming? {
        guard challenge.text("resource_metadata") == nil, target.hasPrefix("/v2/") || challenge.text("service") != nil
        else { return nil }
        return RegistryChallenge.naming(challenge, from: origin)
    }

    /// The lines for a registry's challenge that no credential answers; empty for other challenges.
    func unanswered(_ challenge: HeaderChallenge, of origin: Origin) -> [ExplainedLine] {
        guard let naming = Self.registry(challenge, of: origin, at: target) else { return [] }
        let server = challenge.text("realm").map { String($0.prefix { $0 != "?" }) } ?? ""
        return [
            ExplainedLine("token server", "\(server), which no credential of the rules is for"),
            ExplainedLine(
                "to allow it", "write '\(naming.directive)' in a credential with a user and a password, if you trust it"
            ),
        ]
    }

    private static func tokenServer(_ server: String, _ source: RegistrySource, _ name: String) -> ExplainedLine {
        let what = source.login == nil ? "is asked without a login" : "gets user and password of credential \(name)"
        return ExplainedLine("token server", "\(server), which \(what)")
    }

    /// The scopes to ask for, and those that the rule file leaves out.
    private static func scopes(
        _ wanted: RegistryScopes, _ source: RegistrySource, _ name: String
    ) -> [ExplainedLine] {
        do throws(TokenError) {
            let allowed = try wanted.allowed(within: source.scopes)
            let rest = wanted.without(allowed)
            return [scopes(allowed.texts)]
                + (rest.isEmpty
                    ? [] : [ExplainedLine("left out", "\(rest.words): not in 'scope' of credential \(name)")])
        } catch { return [ExplainedLine("token", "none is requested: \(error)")] }
    }

    private static func scopes(_ scopes: [String]) -> ExplainedLine {
        ExplainedLine("scopes", scopes.isEmpty ? "none" : scopes.joined(separator: " "))
    }
}
