import Authentication
import Model
import Rules

/// The tokens that the credentials of a rule file with an issuer would be exchanged for at a server.
struct ExplainedTokens: Sendable {
    /// The target of the request.
    let target: String
    /// The metadata that the server announces; the inner nil if it has none, the outer nil if it was not asked.
    var metadata: Result<ResourceMetadata?, TokenError>?

    init(target: String) { self.target = target }

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
            guard case .oauth(let source) = credential.content, let issuer = source.server.issuer else { continue }
            lines[credential.name] =
                [ExplainedLine("issuer", "\(issuer), as credential \(credential.name) says")]
                + self.lines(for: source, of: issuer, named: credential.name, challenge, origin)
        }
        return lines
    }

    private func lines(
        for source: OAuthSource, of issuer: TokenIssuer, named name: String, _ challenge: HeaderChallenge,
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

    private static func scopes(_ scopes: [String]) -> ExplainedLine {
        ExplainedLine("scopes", scopes.isEmpty ? "none" : scopes.joined(separator: " "))
    }
}
