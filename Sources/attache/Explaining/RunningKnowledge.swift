import Authentication
import Model
import Rules

/// The running proxy's knowledge about an origin, for an explanation.
struct RunningKnowledge {
    /// The knowledge for the explanation; with facts about the origin if a proxy runs.
    let knowledge: Explanation.Knowledge
    private let proxy: RunningProxy?
    private let target: String

    /// - Parameters:
    ///   - path: the rule file's.
    ///   - target: the request's, as the origin gets it.
    init(_ configuration: Configuration, at path: String, of origin: Origin, at target: String) {
        self.target = target
        do throws(CommandError) {
            if (try? ControlSocket.path(state: configuration.state)) != nil {
                let proxy = try RunningProxy(configuration, at: path)
                if let answer = try proxy.ask("GET", "/space\(Self.query(of: origin, at: target))") {
                    self.proxy = proxy
                    knowledge = .running(Self.values(of: "fact", in: answer) + Self.certificate(for: origin, in: proxy))
                    return
                }
            }
            (proxy, knowledge) = (nil, .missing("what is stored or refused: no proxy runs with this 'state'"))
        } catch { (proxy, knowledge) = (nil, .missing(error.sentence)) }
    }

    /// The client certificate stored for a server with TLS.
    private static func certificate(for origin: Origin, in proxy: RunningProxy) -> [String] {
        guard origin.protocol == .https else { return [] }
        var query = query(of: origin, at: "/")
        query.add("method", AuthenticationMethod.clientCertificate.rawValue)
        guard let answer = try? proxy.ask("GET", "/space\(query)") else { return [] }
        return values(of: "stored", in: answer).map { "the client certificate \($0) is stored for this server" }
    }

    /// The facts about a space; nil if no proxy runs.
    func facts(of space: ProtectionSpace) -> ExplainedSpace? {
        guard let proxy else { return nil }
        var query = Self.query(of: space.origin, at: target)
        query.add("method", space.authenticationMethod.rawValue)
        if let realm = space.realm { query.add("realm", realm) }
        guard let answer = try? proxy.ask("GET", "/space\(query)") else { return nil }
        let refused = Self.values(of: "refused", in: answer).compactMap { line -> ExplainedSpace.Refused? in
            let parts = line.split(separator: "\t", maxSplits: 1)
            return parts.count == 2
                ? ExplainedSpace.Refused(credential: String(parts[0]), end: String(parts[1])) : nil
        }
        return ExplainedSpace(stored: Self.values(of: "stored", in: answer).first, refused: refused)
    }

    private static func query(of origin: Origin, at target: String) -> ControlQuery {
        var query = ControlQuery()
        query.add("format", "text")
        query.add(origin)
        if origin.isProxy { query.add("proxy", "yes") }
        query.add("target", target)
        return query
    }

    /// The values of the answer's lines of this kind.
    private static func values(of kind: String, in answer: String) -> [String] {
        answer.split(separator: "\n").filter { $0.hasPrefix("\(kind)\t") }
            .map { String($0.dropFirst(kind.count + 1)) }
    }
}
