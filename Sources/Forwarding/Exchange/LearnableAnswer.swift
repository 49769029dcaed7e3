import Authentication
import Bytes
import Challenges
import Crypto
import HTTP
import Upstream

/// A client's own answer in its `Authorization`, which the rules leave alone. It is stored as a rule with `learn` says,
/// if the server accepts it. Only Basic contains user and password; other schemes teach nothing.
final class LearnableAnswer {
    private let credential: Credential
    private let learning: Learning

    /// Creates the answer; nil if the value is not a Basic answer.
    ///
    /// - Parameters:
    ///   - value: the content of `Authorization`.
    ///   - pair: an empty buffer; it is empty again afterwards.
    init?(_ value: Span<UInt8>, in pair: ByteBuffer, learning: @autoclosure () -> Learning) {
        // RFC 7617 section 2.
        guard value.count > 6, value.extracting(first: 6).equalsIgnoringCase("basic " as StaticString) else {
            return nil
        }
        pair.clear()
        defer { pair.clear() }
        guard Base64.decode(value.extracting(value.trimmingBlanks(6..<value.count)), into: pair),
            let colon = pair.readable.firstIndex(of: .colon), colon > 0,
            let user = String(validating: pair.readable.extracting(first: colon).array, as: UTF8.self)
        else { return nil }
        let password = Secret(pair.readable.extracting(colon + 1..<pair.count))
        credential = Credential(name: "learned", user: user, password: password)
        self.learning = learning()
    }

    /// Learns from the response's head.
    func judge(_ upstream: UpstreamConnection) {
        let status = upstream.head.status.rawValue
        if status == 401 {
            learning.sawChallenges(upstream.challenges(in: .wwwAuthenticate))
            learning.sawRefusal(of: credential)
        } else if (200..<300).contains(status) {
            learning.sawAcceptance(of: credential)
        }
    }
}
