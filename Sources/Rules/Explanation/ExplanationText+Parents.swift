import Bytes

/// The parents that a request goes through, and what their challenges would be answered with.
extension ExplanationText {
    mutating func addParents(_ explanation: Explanation) {
        guard let detour = explanation.route.detour, explanation.route.action != .deny else { return }
        if detour.isAutomatic {
            add("parent", "as the PAC file says, which is not asked here")
        } else if explanation.parents.isEmpty {
            let names = detour.hops.compactMap { hop in
                if case .parent(let parent) = hop { parent.name } else { nil }
            }
            add("parent", "none: \(names.first ?? "the first") leaves \(explanation.request.host) alone")
        }
        for parent in explanation.parents {
            switch parent.leg {
            case .direct: add("parent", "none, where those above do not work")
            case .server(let server, let name):
                add("parent", "\(name), \(server.scheme.rawValue) \(server.address), \(parent.passage)")
                for outlook in parent.outlooks {
                    add("  if \(outlook.label)", outlook.answers.map(Self.words).joined(separator: "; or "))
                }
            }
        }
    }

    private static func words(_ answer: Configuration.Challenge.Answer) -> String {
        switch answer {
        case .use(let name): "use \(name)"
        case .performDefault: "default: a credential of the store, else the client gets a 502"
        case .reject: "reject: go on to the response's next challenge"
        case .cancel: "cancel: the client gets a 502"
        case .trust: "trust"
        }
    }
}
