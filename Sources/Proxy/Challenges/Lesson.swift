import Authentication
import Bytes
import Crypto
import HTTP
import IO
import Rules

/// A client's own answer in its request (`Authorization`, which the rules leave alone), to be kept as a rule with `learn`
/// says if the server is seen to accept it. Only Basic has user and password in it; of the others nothing can be learned.
struct Lesson {
    private let user: String
    private let password: Secret
    private let request: AnswerSightings<SessionClient>.Request

    /// Nil when the request brings no Basic answer.
    init?(_ exchange: Exchange, to origin: Origin) {
        let head = exchange.headBytes
        guard let field = exchange.request.fields.first(.authorization) else { return nil }
        let value = head.readable.extracting(field.value)
        // RFC 7617 section 2.
        guard value.count > 6, value.extracting(first: 6).equalsIgnoringCase("basic " as StaticString) else {
            return nil
        }
        let pair = exchange.fieldValue
        pair.clear()
        defer { pair.clear() }
        guard Base64.decode(value.extracting(value.trimmingBlanks(6..<value.count)), into: pair),
            let colon = pair.readable.firstIndex(of: .colon), colon > 0,
            let user = String(validating: pair.readable.extracting(first: colon).array, as: UTF8.self)
        else { return nil }
        self.user = user
        password = Secret(pair.readable.extracting(colon + 1..<pair.count))
        request = Self.request(exchange, to: origin)
    }

    static func request(_ exchange: Exchange, to origin: Origin) -> AnswerSightings<SessionClient>.Request {
        let (head, target) = (exchange.headBytes, exchange.target)
        return .init(
            origin.authority, method: head.readable.extracting(exchange.request.methodName), target: target.readable)
    }

    /// Learns from the response's head.
    func judge(_ exchange: Exchange, by learning: Learning) {
        let status = exchange.upstream.head.status.rawValue
        let credential = Credential(name: "learned", user: user, password: password)
        if status == 401 {
            learning.sawChallenges(exchange.upstream.challenges(in: .wwwAuthenticate), to: request)
            learning.sightings.refused(credential, of: learning.sessionClient, to: request)
        } else if (200..<300).contains(status) {
            let spaces = learning.sightings.accepted(
                credential, of: learning.sessionClient, to: request, at: learning.upstreams.loop.epochMilliseconds)
            for space in spaces { learning.keep(user, password, for: space) }
        }
    }
}
