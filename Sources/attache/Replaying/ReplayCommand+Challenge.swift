import Authentication
import Bytes
import Challenges
import Model
import Rules

extension ReplayCommand {
    /// A challenge from a line of the JSON log: the server, its challenge, the client, and the answer.
    struct Challenge {
        let origin: Origin
        /// The schemes as the server names them, in lower case.
        let schemes: [String]
        let realm: String?
        let client: ClientIdentity
        let answer: ReplayCommand.Answer

        /// Creates it; nil for a line without a challenge of an origin.
        init?(_ line: [UInt8]) {
            guard let members = JSONMembers(line), let schemes = members.text("challenge"),
                let target = members.text("target"), let address = members.text("client")
            else { return nil }
            guard let endpoint = HTTPEndpoint(String(decoding: target, as: UTF8.self)),
                let client = IPAddress(String(decoding: address, as: UTF8.self))
            else { return nil }
            let text = { (name: String) in members.text(name).map { String(decoding: $0, as: UTF8.self) } }
            origin = Origin(host: endpoint.host, port: endpoint.port, protocol: endpoint.isSecure ? .https : .http)
            self.schemes = String(decoding: schemes, as: UTF8.self).split(separator: " ").map(String.init)
            realm = text("realm")
            self.client = ClientIdentity(address: client, user: text("user"))
            let rule = members.object("rule").map { rule in
                RuleReference(
                    name: rule.text("name").map { String(decoding: $0, as: UTF8.self) },
                    file: String(decoding: rule.text("file") ?? [], as: UTF8.self), line: 0)
            }
            answer = ReplayCommand.Answer(rule: rule?.label, words: text("credential").map { "use \($0)" })
        }

        /// Returns the answer that the rules would give: that to the first answered challenge, in the order in which
        /// they are tried.
        func answer(by rules: RuleSet) -> ReplayCommand.Answer {
            let parameters = realm.map { [HeaderChallenge.Parameter(name: "realm", value: Array($0.utf8))] } ?? []
            let challenges = schemes.map { scheme in
                // The log has no nonce, without which a Digest challenge cannot be answered (RFC 7616 section 3.3).
                let nonce = HeaderChallenge.Parameter(name: "nonce", value: Array("replay".utf8))
                return HeaderChallenge(scheme: scheme, parameters: parameters + (scheme == "digest" ? [nonce] : []))
            }
            for offer in rules.offers(in: challenges, from: origin, client: client).offers {
                let ruling = rules.decide(ChallengeQuery(offer.space, client: client))
                guard let rule = ruling.rule else { continue }
                switch ruling.action {
                case .use, .cancel, .ask:
                    let words = ruling.isReport ? "only report '\(ruling.action.words)'" : ruling.action.words
                    return ReplayCommand.Answer(rule: rule.label, words: words)
                case .performDefault: return ReplayCommand.Answer(rule: rule.label, words: "default")
                case .reject, .trust: continue
                }
            }
            return ReplayCommand.Answer(rule: nil, words: nil)
        }
    }

    /// An answer from the log, or by the rules.
    struct Answer: Hashable {
        /// The rule's name, or its place; nil if none decided.
        let rule: String?
        /// The answer in words; nil if there was no answer.
        let words: String?

        var text: String { (words ?? "no answer") + (rule.map { ", by rule \($0)" } ?? "") }

        /// Whether the same credential is sent, or none. Lines of a rule file may move.
        func isSame(as other: ReplayCommand.Answer) -> Bool {
            if words == other.words { return true }
            // The rule decided, but its credential could not be sent: it was on hold, or its file could not be read.
            if words == nil, let rule, rule == other.rule { return true }
            // A rule with several credentials has used one of them; only the store knows what is stored.
            guard let words, let later = other.words, words.hasPrefix("use ") else { return false }
            if later == "default" { return words.contains(":") }
            return later.hasPrefix("use ") && later.dropFirst(4).split(separator: " ").first == words.dropFirst(4)
        }
    }
}
