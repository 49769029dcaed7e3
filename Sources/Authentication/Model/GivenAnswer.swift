import Crypto

/// The fields of a request that a program has made as its answer. The proxy does not know the scheme, and sends them as
/// they are.
public final class GivenAnswer: Sendable {
    /// Gives the next answer of a login that takes several requests on one connection.
    public protocol Next: Sendable {
        /// - Parameter challenges: the challenges to the latest answer.
        /// - Throws: `notGiven` with the reason if the program makes no answer.
        func answer(to challenges: [HeaderChallenge]) async throws(AuthenticationError) -> GivenAnswer
    }

    /// A field beside the one that answers.
    public struct Field: Sendable {
        public let name: String
        public let value: Secret

        public init(name: String, value: Secret) {
            self.name = name
            self.value = value
        }
    }

    /// The value of the field that answers; nil if there are only other fields.
    public let authorization: Secret?
    public let fields: [GivenAnswer.Field]
    /// Whether it is for one request alone.
    public let isEphemeral: Bool
    /// The source of the next answer, if the server challenges this one on its connection; nil for the last answer.
    public let successor: (any Next)?

    public init(
        authorization: Secret?, fields: [GivenAnswer.Field] = [], isEphemeral: Bool = false,
        successor: (any Next)? = nil
    ) {
        self.authorization = authorization
        self.fields = fields
        self.isEphemeral = isEphemeral
        self.successor = successor
    }

    /// Whether no later request is sent with it.
    public var isForOneRequest: Bool { isEphemeral || successor != nil }

    /// All its secrets.
    var secrets: [Secret] { (authorization.map { [$0] } ?? []) + fields.map(\.value) }

    /// Equal for equal answers. All answers of one name that are for one request count as one value: a server's refusal
    /// of one is about the account behind them.
    func fingerprint(of name: String) -> UInt128 {
        isForOneRequest
            ? CredentialVersion.Fingerprint.of(["given", name], secrets: [])
            : CredentialVersion.Fingerprint.of(["given"] + fields.map(\.name), secrets: secrets)
    }
}
