import Authentication
import Bytes
import Crypto
import HTTP
import Model

/// A response, as far as challenges are read from it. Implemented by the side that receives it.
public protocol ChallengeResponse: AnyObject {
    var status: Status { get }

    /// Whether its connection can carry another request (RFC 9112 section 9.3).
    var keepsConnection: Bool { get }

    /// Whether a login holds for the connection's next request: `Persistent-Auth`, where the server says so.
    var persistsLogin: Bool { get }

    /// Every challenge in fields of that name that can be read. A field that cannot be hides no other.
    func challenges(in name: KnownField) -> [HeaderChallenge]

    /// Lends the value of `Authentication-Info`, or of the field that a proxy says the same in; nil: it has none.
    func withInformation<Result>(in name: KnownField, _ body: (Span<UInt8>?) -> Result) -> Result

    /// The response for people to read: its status, its fields, and the part of its text that has come; nil: it says nothing.
    ///
    /// - Parameter mask: hides what this side knows to have been sent; the other side adds to it.
    func excerpt(hiding mask: EchoMask) -> ResponseExcerpt?

    /// Waits for the beginning of a text that has not come with the head, for a moment.
    /// - Returns: whether some has come.
    func awaitText() async -> Bool

    /// Reads the body before any of it is passed on, for the digest of its content, without the framing (RFC 7616
    /// section 3.4.3).
    func digestBody(_ algorithm: DigestAlgorithm) async -> BodyDigest
}

extension ChallengeResponse {
    /// Every challenge by which a server that challenges in these fields does so.
    func challenges(in fields: ChallengeFields) -> [HeaderChallenge] {
        fields.challenging(in: status) { challenges(in: $0) }
    }
}

/// The fields in which a server challenges and is answered: as an origin (RFC 9110 section 11.6) or as a proxy on the way
/// (section 11.7).
public struct ChallengeFields: Sendable {
    public let status: Status
    public let challenge: KnownField
    public let answer: StaticString
    public let information: KnownField

    /// Gathers the values of the fields that challenge in a response with that status. A proxy may refuse a login by a `401`,
    /// and then challenges in the field of an origin, too.
    ///
    /// - Parameter values: gives the values of one field.
    public func challenging<Value>(in status: Status, _ values: (KnownField) -> [Value]) -> [Value] {
        let isBoth = status == .unauthorized && challenge != .wwwAuthenticate
        return isBoth ? values(challenge) + values(.wwwAuthenticate) : values(challenge)
    }

    public static let origin = ChallengeFields(
        status: .unauthorized, challenge: .wwwAuthenticate, answer: "Authorization", information: .authenticationInfo)
    public static let proxy = ChallengeFields(
        status: .proxyAuthenticationRequired, challenge: .proxyAuthenticate, answer: "Proxy-Authorization",
        information: .proxyAuthenticationInfo)
}

/// The decision about a response, by one who may have asked for a credential.
public enum ChallengeVerdict {
    /// The client gets it; with a word in `Proxy-Status` where the challenge was ours to answer and was not, or where
    /// the origin's proof could not be checked.
    case pass(note: String?)
    /// The request goes out again, with the answer that `authorize` appends.
    case again
    /// Apart from the others in memory, since verdicts are handed on several times for each request.
    indirect case cancel(ChallengeFailure)
}

/// The outcome of reading a body that a proof covers.
public enum BodyDigest {
    /// All of it waits to be passed on; the digest of its content.
    case whole([UInt8])
    /// It is larger than may be kept. The part that was read waits to be passed on.
    case tooLarge
    case failed(ChallengeFailure)

    /// The client's word in `Proxy-Status` on a proof that was not checked.
    static let tooLargeNote =
        "the origin's proof that it knows the password (rspauth) was not checked: it covers a response larger than this "
        + "proxy keeps (limits replay-memory, replay-disk and replay-disk-total)"
}

/// Why a request ends with its challenge: the answer that its client gets.
public struct ChallengeFailure: Sendable {
    public let status: Status
    public let error: ProxyError
    /// One sentence for a person, without internals and secrets.
    public let sentence: String

    public init(_ status: Status, _ error: ProxyError, _ sentence: String) {
        self.status = status
        self.error = error
        self.sentence = sentence
    }

    /// The challenge stays unanswered, for that reason.
    public init(unanswered sentence: String) { self.init(.badGateway, .httpRequestDenied, sentence) }

    static let incompletePage = ChallengeFailure(
        .badGateway, .httpResponseIncomplete, "the origin's response ended before it could be told from a login page")

    /// The server that answered in a way that it cannot have had from the credential.
    public static func unproven(_ answer: Answer, by title: String) -> ChallengeFailure {
        let proof =
            answer.space.authenticationMethod.traits.credential == .ticket
            ? "that it is the service of the ticket (its last token)" : "that it knows the password (rspauth)"
        return ChallengeFailure(
            .badGateway, .httpProtocolError,
            "\(title) could not prove \(proof): it is not the one that was asked")
    }
}

extension ChallengeResponse {
    /// Whether the server is in a state to judge anything.
    var hasJudged: Bool { status.rawValue < 500 }
}
