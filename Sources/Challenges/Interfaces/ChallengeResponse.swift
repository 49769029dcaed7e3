import Authentication
import Crypto
import HTTP
import Model

/// A response, as far as challenges are read from it. The side that receives it implements this.
public protocol ChallengeResponse: AnyObject {
    var status: Status { get }

    /// Whether its connection can carry another request (RFC 9112 section 9.3).
    var keepsConnection: Bool { get }

    /// Whether a login also applies to the connection's next request, by the server's `Persistent-Auth`.
    var persistsLogin: Bool { get }

    /// The readable challenges in the fields of this name. An unreadable field hides no other.
    func challenges(in name: KnownField) -> [HeaderChallenge]

    /// Lends the value of `Authentication-Info`, or of a proxy's corresponding field; nil if absent.
    func withInformation<Result>(in name: KnownField, _ body: (Span<UInt8>?) -> Result) -> Result

    /// The excerpt of the response for people: its status, its fields, and the part of its text that has arrived; nil
    /// if it says nothing.
    ///
    /// - Parameter mask: hides what this side knows to have been sent; the other side adds to it.
    func excerpt(hiding mask: EchoMask) -> ResponseExcerpt?

    /// Waits for a moment for the beginning of a text that did not come with the head.
    /// - Returns: whether a part has arrived.
    func awaitText() async -> Bool

    /// Reads the body before any of it is passed on, for the digest of its content, without the framing (RFC 7616
    /// section 3.4.3).
    func digestBody(_ algorithm: DigestAlgorithm) async -> BodyDigest
}

extension ChallengeResponse {
    /// The challenges that the response makes in `fields`.
    func challenges(in fields: ChallengeFields) -> [HeaderChallenge] {
        fields.challenging(in: status) { challenges(in: $0) }
    }

    /// Whether the server is in a state to judge.
    var hasJudged: Bool { status.rawValue < 500 }
}

/// The fields in which a server challenges and is answered: as an origin (RFC 9110 section 11.6) or as a proxy on the way
/// (section 11.7).
public struct ChallengeFields: Sendable {
    public let status: Status
    public let challenge: KnownField
    public let answer: StaticString
    public let information: KnownField

    /// Collects the values of the challenge fields in a response with that status. A proxy may refuse a login with a
    /// `401`, and then also challenges in the field of an origin.
    ///
    /// - Parameter values: returns the values of one field.
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

/// The decision about a response, by one server that may have asked for a credential.
public enum ChallengeVerdict {
    /// The client gets the response. The note for `Proxy-Status` says why the proxy did not answer the challenge, or
    /// that the origin's proof could not be checked.
    case pass(note: String?)
    /// The request is sent again, with the answer that `authorize` appends.
    case again
    /// Indirect, because verdicts are passed on several times for each request.
    indirect case cancel(ChallengeFailure)
}

/// The result of reading a body that a proof covers.
public enum BodyDigest {
    /// The whole body was read and waits to be passed on; the payload is the digest of its content.
    case whole([UInt8])
    /// The body is larger than may be kept. The part that was read waits to be passed on.
    case tooLarge
    case failed(ChallengeFailure)

    /// The text of `Proxy-Status` about a proof that was not checked.
    static let tooLargeNote =
        "the origin's proof that it knows the password (rspauth) was not checked: it covers a response larger than this "
        + "proxy keeps (limits replay-memory, replay-disk and replay-disk-total)"
}

/// The response for a client whose request ends with its challenge.
public struct ChallengeFailure: Sendable {
    public let status: Status
    public let error: ProxyError
    /// One sentence for the user, without internals and secrets.
    public let sentence: String
    /// Whether the same request may succeed later, though nothing is changed.
    public private(set) var isTransient = false

    public init(_ status: Status, _ error: ProxyError, _ sentence: String) {
        self.status = status
        self.error = error
        self.sentence = sentence
    }

    /// Creates the failure for a challenge that stays unanswered for this reason.
    public init(unanswered sentence: String, isTransient: Bool = false) {
        self.init(.badGateway, .httpRequestDenied, sentence)
        self.isTransient = isTransient
    }

    static let incompletePage = ChallengeFailure(
        .badGateway, .httpResponseIncomplete, "the origin's response ended before it could be told from a login page")

    /// The failure for a server whose response does not prove that it knows the credential.
    public static func unproven(_ answer: Answer, by title: String) -> ChallengeFailure {
        let proof =
            answer.space.authenticationMethod.traits.credential == .ticket
            ? "that it is the service of the ticket (its last token)" : "that it knows the password (rspauth)"
        return ChallengeFailure(
            .badGateway, .httpProtocolError,
            "\(title) could not prove \(proof): it is not the one that was asked")
    }
}
