import Bytes
import Model

/// The checks that need the whole file.
struct RuleChecks: BlockReader {
    let context: ReadingContext

    func check(_ draft: inout RuleDraft) {
        Secrets(context: context).check()
        checkUses(draft)
        checkTokenUses(draft)
        Answers(context: context).check(&draft)
        RouteReader(context: context).resolveDetours(&draft)
        checkListeners(draft)
        // A rule that lost a predicate to an error seems wider than it is.
        guard !log.hasErrors else { return }
        checkUnused(draft)
        checkOpenProxy(draft)
        checkOpenAdmin(draft)
        Warnings(context: context, draft: draft).warn()
    }

    private func checkUses(_ draft: RuleDraft) {
        let names = draft.credentials.keys.sorted().map(\.text)
        for use in draft.uses where !log.isFull && draft.credentials[ExactText(use.name)] == nil {
            log.report(
                at: use.range, "there is no credential \(Token.shown(use.name))",
                suggestion: Suggestion.nearest(to: use.name, among: names))
        }
    }

    /// Checks that credentials whose tokens others use have tokens, and that the chains end.
    private func checkTokenUses(_ draft: RuleDraft) {
        for use in draft.tokenUses {
            guard let used = draft.configuration.credential(named: use.name) else { continue }
            switch used.content {
            case .oauth, .token: break
            default: log.report(at: use.range, "\(Token.shown(use.name)) is \(used.content.words), and has no token")
            }
            checkChain(from: use, draft)
        }
    }

    private func checkChain(from use: RuleDraft.TokenUse, _ draft: RuleDraft) {
        var reached: Set = [ExactText(use.name)]
        for _ in 2...Self.longestChain {
            if reached.contains(ExactText(use.user)) {
                return log.report(at: use.range, "\(Token.shown(use.user)) needs its own token, by this credential")
            }
            reached = Set(draft.tokenUses.filter { reached.contains(ExactText($0.user)) }.map { ExactText($0.name) })
        }
        if !reached.isEmpty {
            log.report(at: use.range, "more than \(Self.longestChain) credentials need each other's tokens in a chain")
        }
    }

    /// The limit of credentials in a chain, each of which needs the token of the next.
    private static let longestChain = 4

    private func checkUnused(_ draft: RuleDraft) {
        let used = Set(draft.uses.map { ExactText($0.name) })
        for credential in draft.configuration.credentials where !used.contains(ExactText(credential.name)) {
            guard let range = draft.credentials[ExactText(credential.name)] else { continue }
            log.report(
                .warning, at: range,
                "no challenge uses the credential \(Token.shown(credential.name)): add a challenge with 'use \(credential.name)'"
            )
        }
    }

    private func checkListeners(_ draft: RuleDraft) {
        if let admin = draft.configuration.admin, admin.port != 0, let range = draft.listeners.first,
            draft.configuration.listeners.contains(where: { $0.endpoint == admin })
        {
            log.report(at: range, "'listen' and 'admin' name the same address and port")
        }
        guard !draft.configuration.clients.methods.isEmpty else { return }
        for (listener, range) in zip(draft.configuration.listeners, draft.listeners)
        where listener.isTransparent && listener.client == nil {
            log.report(
                at: range,
                "clients of a transparent listener know of no proxy and cannot log in: remove 'authenticate', or say who they are "
                    + "with 'as \"NAME\"'")
        }
        guard draft.configuration.clients.methods.contains(.negotiate) else { return }
        for (listener, range) in zip(draft.configuration.listeners, draft.listeners)
        where listener.speaksHTTP2 && listener.client == nil {
            log.report(
                at: range,
                "clients cannot log in by Negotiate on streams of HTTP/2: remove 'h2c' here or 'negotiate' from 'authenticate', or "
                    + "say who the clients are with 'as \"NAME\"'")
        }
    }

    private func checkOpenProxy(_ draft: RuleDraft) {
        guard draft.configuration.clients.methods.isEmpty,
            draft.configuration.clients.allow.contains(where: { $0.length == 0 })
        else { return }
        for (listener, range) in zip(draft.configuration.listeners, draft.listeners)
        where !(listener.tls?.clients?.isRequired ?? false) {
            guard let address = listener.endpoint?.address, !address.isLoopback else { continue }
            log.report(.warning, at: range, "anyone who reaches this address can use the proxy and its credentials")
        }
    }

    private func checkOpenAdmin(_ draft: RuleDraft) {
        guard let admin = draft.configuration.admin, let range = draft.admin,
            draft.configuration.adminLogin.metricsToken == nil, !admin.address.isLoopback
        else { return }
        log.report(
            .warning, at: range,
            "anyone who reaches this address can read the metrics: write 127.0.0.1, or add 'metrics token file PATH'"
        )
    }
}
