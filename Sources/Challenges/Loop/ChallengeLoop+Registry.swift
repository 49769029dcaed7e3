import Authentication
import Model

/// The challenges of registries, other than `Bearer` for a token that is missing.
extension ChallengeLoop {
    /// The decision about a registry's login. Its user and password answer a Basic challenge only if the response has
    /// no Bearer challenge, and the token server is on the registry's own host.
    ///
    /// - Parameter trouble: gets the reason why they do not.
    func registryDecision(
        _ decision: Decision, on challenge: AuthenticationChallenge, trouble: inout Trouble
    ) -> Decision {
        let space = challenge.protectionSpace
        guard case .useCredential(let credential) = decision.disposition, credential.isRegistry,
            space.authenticationMethod == .basic
        else { return decision }
        let rejection = Decision(.rejectProtectionSpace, reason: decision.reason)
        // What became of the Bearer challenge has been said.
        if challenge.failureResponse?.challenges.contains(where: { $0.scheme == "bearer" }) ?? false {
            return rejection
        }
        let (login, name) = (credential.answering(in: space), credential.version.name)
        if login === credential {
            trouble = .tokenless("credential \(name) has no user and password, which the server asks for")
            return rejection
        }
        if let server = otherServer(of: credential, than: space.origin) {
            trouble = .tokenless("user and password of credential \(name) are for \(server), and not for this server")
            return rejection
        }
        return Decision(
            .useCredential(login), attempts: decision.attempts, persistence: decision.persistence,
            reason: decision.reason)
    }

    /// The token server of the credential, if the rule file names one on another host or port.
    private func otherServer(of credential: Credential, than origin: Origin) -> TokenIssuer? {
        guard case .registry(let named?)? = credential.grant?.server else { return nil }
        return named.isOn(host: origin.host, port: origin.port) ? nil : named
    }

    /// Whether the registry may have ignored its token: Harbor challenges any request with an `Authorization` that it
    /// cannot use by Basic alone.
    func mayHaveIgnoredToken(_ challenges: [HeaderChallenge]) -> Bool {
        guard let answer = preparation.performer.answer, answer.credential.registryScopes != nil, task.maySendBare
        else { return false }
        return !challenges.contains { $0.scheme == "bearer" }
    }

    /// The sentence about a valid token that has not got the scopes that were asked for; nil for other responses.
    func missingRight(in challenges: [HeaderChallenge], after refusal: RepeatedChallenge?) -> String? {
        guard refusal == .denied, let credential = preparation.performer.answer?.credential,
            credential.registryScopes != nil,
            let wanted = challenges.first(where: { $0.scheme == "bearer" })?["scope"]
        else { return nil }
        let scopes = RegistryScopes(wanted)
        // A token server mostly grants the right to read.
        let rest = scopes.resources.flatMap { scope in
            let actions = scope.actions.count > 1 ? scope.actions.filter { $0 != "pull" } : scope.actions
            return actions.map { "no \($0) on \(scope.name)" }
        }
        return "the registry gives credential \(credential.version.name) \(rest.joined(separator: ", "))"
    }
}
